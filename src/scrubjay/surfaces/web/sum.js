// To be made.

import { h } from "./dom.js";

/** Draw how the score of a hit came about. */
export function sum(hit, results) {
  return h("div", { class: "sum" });
}

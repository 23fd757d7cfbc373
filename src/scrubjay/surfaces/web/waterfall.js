// To be made.

import { h } from "./dom.js";

/** Draw the stages of a search, `results` as `search` with `explain` answers it. */
export function waterfall(results) {
  return h("div", { class: "waterfall" });
}

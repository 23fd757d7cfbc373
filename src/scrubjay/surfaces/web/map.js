// To be made.

import { h, put } from "./dom.js";

export function make(root) {
  return { show: () => put(root, h("h1", {}, "…")), hide: () => {}, keys: [] };
}

// A box that finds a memory while somebody types, and what it found, to choose from.

import { ask } from "./api.js";
import { debounced, h, put } from "./dom.js";
import { saying } from "./toast.js";

const TYPING_MS = 200;
const MOST = 8;

/** Make `{node, box, clear}`; `hrefOf(id)` is where a choice leads. */
export function finder(label, hrefOf) {
  let asking = null;
  const list = h("ul", { class: "choices", hidden: true, onkeydown: (event) => step(event) });
  const asks = { type: "search", placeholder: label, "aria-label": label, autocomplete: "off" };
  const box = h("input", { ...asks, onkeydown: (event) => step(event) });
  const said = h("p", { class: "hushed", role: "status" });

  const look = debounced(TYPING_MS, () => saying(find));
  box.addEventListener("input", look);
  box.addEventListener("focus", () => list.hidden && box.value.trim() && look()); // what Escape put away

  async function find() {
    asking?.abort();
    asking = new AbortController();
    const query = box.value.trim();
    if (!query) return show([]);
    const { hits } = await ask("search", { query, limit: MOST }, asking);
    return show(hits);
  }

  function show(hits, { asked = true } = {}) {
    const nothing = asked && box.value.trim() !== "" && !hits.length;
    const row = (hit) => h("li", {}, h("a", { href: hrefOf(hit.id), onclick: clear, dir: "auto" }, nameOf(hit)));
    put(list, hits.map(row), nothing && h("li", { class: "hint" }, "Nothing found."));
    list.hidden = !hits.length && !nothing;
    put(said, nothing ? "Nothing found" : hits.length ? `${hits.length} found, arrow down to choose` : "");
  }

  function step(event) {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (links[at - 1] ?? box).focus();
    else if (event.key === "Enter" && at < 0) links[0]?.click();
    else if (event.key === "Escape") leave();
    else return;
    if (event.key !== "Enter" || at < 0) event.preventDefault();
  }

  /** From what was found to the box, and from the box away; what was written stays. */
  function leave() {
    const inBox = document.activeElement === box;
    look.cancel();
    asking?.abort();
    show([], { asked: false });
    if (inBox) box.blur();
    else box.focus();
  }

  function clear() {
    look.cancel();
    asking?.abort();
    box.value = "";
    show([]);
  }

  return { node: h("div", { class: "finder" }, box, list, said), box, clear };
}

function nameOf(hit) {
  return (hit.title || hit.text).slice(0, 200).replace(/\s+/g, " ").trim();
}

// Search box that finds a memory while the user types, with a list to choose from.

import { call } from "../app/api.js";
import { debounce, h, put } from "../app/dom.js";
import { displayName } from "../app/stored_text.js";
import { attempt } from "../app/toast.js";

const TYPING_MS = 200;
const MOST = 8;
const LONGEST = 200; // characters of the name of a memory without a title

/** Make `{node, box, clear}`; a choice opens `hrefOf(id)`, or calls `chosen(hit)` if that is given. */
export function finder(label, hrefOf, chosen) {
  let controller = null;
  const list = h("ul", { class: "choices", hidden: true, onkeydown: (event) => step(event) });
  const asks = { type: "search", placeholder: label, "aria-label": label, autocomplete: "off" };
  const box = h("input", { ...asks, onkeydown: (event) => step(event) });
  const status = h("p", { class: "visually-hidden", role: "status" });

  const take = (hit) => (event) => {
    clear();
    if (!chosen) return;
    event.preventDefault();
    chosen(hit);
  };
  const look = debounce(TYPING_MS, () => attempt(find));
  box.addEventListener("input", look);
  box.addEventListener("focus", () => list.hidden && box.value.trim() && look()); // reopen the list that Escape closed

  async function find() {
    controller?.abort();
    controller = new AbortController();
    const query = box.value.trim();
    if (!query) return show([]);
    try {
      show((await call("search", { query, limit: MOST, history: true }, controller)).hits);
    } catch (error) {
      if (error.kind !== "invalid") throw error;
      refuse(error.detail); // in the list: a toast would appear at each key
    }
    return undefined;
  }

  function refuse(detail) {
    put(list, h("li", { class: "hint" }, detail));
    list.hidden = false;
    put(status, detail);
  }

  function show(hits, { searched = true } = {}) {
    const nothing = searched && box.value.trim() !== "" && !hits.length;
    const row = (hit) =>
      h("li", {}, h("a", { href: hrefOf(hit.id), onclick: take(hit), dir: "auto" }, displayName(hit, LONGEST)));
    put(list, hits.map(row), nothing && h("li", { class: "hint" }, "Nothing found."));
    list.hidden = !hits.length && !nothing;
    put(status, nothing ? "Nothing found" : hits.length ? `${hits.length} found, press arrow down to choose` : "");
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

  /** Go from the list to the box, or leave the box; the typed text stays. */
  function leave() {
    const inBox = document.activeElement === box;
    look.cancel();
    controller?.abort();
    show([], { searched: false });
    if (inBox) box.blur();
    else box.focus();
  }

  function clear() {
    look.cancel();
    controller?.abort();
    box.value = "";
    show([]);
  }

  return { node: h("div", { class: "finder" }, box, list, status), box, clear };
}

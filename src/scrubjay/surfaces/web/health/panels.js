// What the parts of Health are made of: panels that draw anew only what changed, states in words, small tables.

import { Problem } from "../app/api.js";
import { elements, focused, h, put, uniqueId } from "../app/dom.js";
import { count } from "../app/format.js";

const MOST = 10; // of a tally
const STATES = { ok: ["✓", "good"], missing: ["!", "warn"], degraded: ["!", "warn"], failed: ["✕", "bad"] };

/**
 * Return a panel, `{node, show(data)}`, whose `draw(data)` gives what is in it; a Problem is told in its words. It is
 * drawn again only where the data changed, and whatever had the focus has it still: there is a look every half minute.
 */
export function panel(title, draw, { wide = false } = {}) {
  const id = uniqueId("part");
  const body = h("div", { class: "part-body" }, h("p", { class: "hint" }, "Loading…"));
  const heading = h("h2", { id, tabindex: "-1" }, title);
  const node = h("section", { class: wide ? "panel wide-part" : "panel", "aria-labelledby": id }, heading, body);
  const show = redrawOnChange(body, (data) => (data instanceof Problem ? problemNote(data) : draw(data)));
  return { node, show };
}

/** Return a function that puts `draw(data)` into a node where the data is another than the last time. */
export function redrawOnChange(node, draw) {
  let before = null;
  return (data) => {
    const now = data instanceof Problem ? data.detail : JSON.stringify(data);
    if (now === before) return;
    before = now;
    keepFocus(node, () => put(node, draw(data)));
  };
}

function problemNote(problem) {
  return h("p", { class: problem.kind === "not-allowed" ? "hint" : "said bad" }, problem.detail);
}

/** Change what is in a node; the focus goes to the element that has the same `data-keep` as the one that had it. */
export function keepFocus(node, change) {
  const key = node.contains(document.activeElement) ? focused().dataset.keep : undefined;
  change();
  if (!key) return;
  elements(node, "[data-keep]")
    .find((element) => element.dataset.keep === key)
    ?.focus({ preventScroll: true });
}

/** A state as icon and word: colour is not the only thing that says it. */
export function state(name, word = name) {
  const [icon, tone] = STATES[name];
  return h("span", { class: `state ${tone}` }, h("span", { class: "icon", "aria-hidden": "true" }, icon), word);
}

/** Pairs as a list of names and values; a value that is null is left out with its name. */
export function facts(pairs) {
  const present = pairs.filter(([, value]) => value !== null && value !== undefined);
  return h(
    "dl",
    { class: "facts" },
    present.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** A sentence beside the thing itself. */
export const hint = (...said) => h("p", { class: "hint", dir: "auto" }, said);

/** A list without marks; each item is what stands in it. */
export const list = (items) =>
  h(
    "ul",
    { class: "plain-list" },
    items.map((item) => h("li", {}, item)),
  );

/** `{name: number}` as a list with bars, the most first; `to(name)` is where a click on one goes. */
export function countBars(counts, to) {
  const all = Object.entries(counts).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  if (!all.length) return hint("None yet.");
  const top = all[0][1] || 1;
  const rows = all.slice(0, MOST).map(([name, value]) => {
    const label = h("a", { class: "name", dir: "auto", href: to(name), data: { keep: name } }, name);
    const long = h("span", { style: { width: `${(100 * value) / top}%` } });
    return h("li", {}, label, h("span", { class: "bar", "aria-hidden": "true" }, long), h("b", {}, count(value)));
  });
  const left = all.length - rows.length;
  return [h("ul", { class: "tally" }, rows), left > 0 && hint(`and ${count(left)} more`)];
}

/** A table with a caption for those who do not see it; `columns` are `[title, isNumber]`. */
export function table(caption, columns, rows) {
  const kind = ([, number]) => (number ? "number" : null);
  const titles = columns.map((column) => h("th", { scope: "col", class: kind(column) }, column[0]));
  const cell = (value, index) => {
    const props = { class: kind(columns[index]), dir: "auto" };
    return index ? h("td", props, value) : h("th", { ...props, scope: "row" }, value);
  };
  const node = h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("caption", { class: "hushed" }, caption),
      h("thead", {}, h("tr", {}, titles)),
      h(
        "tbody",
        {},
        rows.map((row) => h("tr", {}, row.map(cell))),
      ),
    ),
  );
  new ResizeObserver(() => makeScrollable(node, caption)).observe(node);
  return node;
}

// What is wider than its room is scrolled by keys, and so must take the focus; what fits is no stop on the way.
function makeScrollable(node, caption) {
  const wide = node.scrollWidth > node.clientWidth;
  for (const [name, value] of [
    ["tabindex", "0"],
    ["role", "region"],
    ["aria-label", caption],
  ]) {
    if (wide) node.setAttribute(name, value);
    else node.removeAttribute(name);
  }
}

// Building blocks of the health view: panels that redraw only on changes, states, lists and tables.

import { Problem } from "../app/api.js";
import { elements, focused, h, put, uniqueId } from "../app/dom.js";
import { count } from "../app/format.js";

const MOST = 10; // rows of countBars
const STATES = { ok: ["✓", "good"], missing: ["!", "warn"], degraded: ["!", "warn"], failed: ["✕", "bad"] };

/**
 * Return a panel, `{node, show(data)}`, filled by `draw(data)`, or with the message of a Problem. It redraws only when the
 * data changes, and keeps the focus: the view refreshes every 30 seconds.
 */
export function panel(title, draw, { wide = false } = {}) {
  const id = uniqueId("part");
  const body = h("div", { class: "part-body" }, h("p", { class: "hint" }, "Loading…"));
  const heading = h("h2", { id, tabindex: "-1" }, title);
  const node = h("section", { class: wide ? "panel wide-part" : "panel", "aria-labelledby": id }, heading, body);
  const show = redrawOnChange(body, (data) => (data instanceof Problem ? problemNote(data) : draw(data)));
  return { node, show };
}

/** Return a function that fills a node with `draw(data)` if the data has changed. */
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
  return h("p", { class: problem.kind === "not-allowed" ? "hint" : "notice bad" }, problem.detail);
}

/** Change the children of a node; the focus moves to the new element with the same `data-keep`. */
export function keepFocus(node, change) {
  const key = node.contains(document.activeElement) ? focused().dataset.keep : undefined;
  change();
  if (!key) return;
  elements(node, "[data-keep]")
    .find((element) => element.dataset.keep === key)
    ?.focus({ preventScroll: true });
}

/** Draw a state as icon and word: colour alone is not accessible. */
export function state(name, word = name) {
  const [icon, tone] = STATES[name];
  return h("span", { class: `state ${tone}` }, h("span", { class: "icon", "aria-hidden": "true" }, icon), word);
}

/** Draw pairs as a list of names and values; pairs without a value are left out. */
export function facts(pairs) {
  const present = pairs.filter(([, value]) => value !== null && value !== undefined);
  return h(
    "dl",
    { class: "facts" },
    present.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** Draw an explanation. */
export const hint = (...content) => h("p", { class: "hint", dir: "auto" }, content);

/** Draw a list without bullets. */
export const list = (items) =>
  h(
    "ul",
    { class: "plain-list" },
    items.map((item) => h("li", {}, item)),
  );

/** Draw `{name: number}` as a list with bars, largest first; `to(name)` is the link of an entry. */
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

/** Draw a table with a caption for screen readers; `columns` are `[title, isNumber]`. */
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
      h("caption", { class: "visually-hidden" }, caption),
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

// A table that is wider than its panel must be focusable, to scroll it by keys; others are no tab stop.
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

// Table of sources (keyword, vector, graph …): the rank of a hit in each, and the sources that did not find it.

import { h, s } from "../app/dom.js";
import { count, figure } from "../app/format.js";
import { flatten } from "./trace.js";

const STRIP = { width: 120, height: 12, edge: 4 };

/** Return the sources of a result, in the order of the search: `[{name, length}]`. */
export function sourcesOf(results) {
  const request = flatten(results.trace ?? [])
    .filter(({ step }) => step.stage === "recall")
    .flatMap(({ step }) => step.branches.map((branch) => branch.stage));
  const held = results.hits.flatMap((hit) => Object.keys(hit.found));
  return [...new Set([...request, ...held])].map((name) => ({ name, length: results.counts[name] ?? 0 }));
}

/** Draw the rank and the raw score of a hit in every source. */
export function sourceTable(hit, results) {
  const rows = sourcesOf(results).map(({ name, length }) => row(name, hit.found[name], length));
  return h(
    "table",
    { class: "lists" },
    h("caption", { class: "visually-hidden" }, "Rank and raw score in every source"),
    h("thead", {}, h("tr", {}, head("Source"), head("Rank"), head("Raw score", "number"))),
    h("tbody", {}, rows),
  );
}

const head = (text, kind) => h("th", { scope: "col", class: kind }, text);

function row(name, found, length) {
  return h(
    "tr",
    { class: found ? "" : "absent", data: { list: name } },
    h("th", { scope: "row" }, name),
    h("td", {}, h("span", { class: "rank" }, placeText(name, found, length)), found?.rank && strip(found.rank, length)),
    h("td", { class: "number" }, found ? figure(found.score) : "–"),
  );
}

function placeText(name, found, length) {
  if (!found) return length ? `not among its ${count(length)}` : "found nothing";
  if (found.rank === null) return name === "vector" ? "looked up afterwards" : "compared, not ranked";
  return length ? `#${count(found.rank)} of ${count(length)}` : `#${count(found.rank)}`;
}

/** Draw the rank of the hit on a line from the first (left) to the last candidate of the source. */
function strip(rank, length) {
  const { width, height, edge } = STRIP;
  const along = length > 1 ? Math.min(1, (rank - 1) / (length - 1)) : 0;
  const middle = height / 2;
  return s(
    "svg",
    { class: "strip", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    s("line", { x1: edge, x2: width - edge, y1: middle, y2: middle }),
    s("circle", { cx: edge + along * (width - 2 * edge), cy: middle, r: edge }),
  );
}

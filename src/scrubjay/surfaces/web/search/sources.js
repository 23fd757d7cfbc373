// Where a hit stood in each list that was asked, and which lists did not have it.

import { h, s } from "../app/dom.js";
import { count, figure } from "../app/format.js";
import { flatten } from "./trace.js";

const STRIP = { width: 120, height: 12, edge: 4 };

/** Every list of an answer, in the order asked: `[{name, length}]`. */
export function sourcesOf(results) {
  const asked = flatten(results.trace ?? [])
    .filter(({ step }) => step.stage === "recall")
    .flatMap(({ step }) => step.branches.map((branch) => branch.stage));
  const held = results.hits.flatMap((hit) => Object.keys(hit.found));
  return [...new Set([...asked, ...held])].map((name) => ({ name, length: results.counts[name] ?? 0 }));
}

/** Draw the rank and the raw score of a hit in every list. */
export function sourceTable(hit, results) {
  const rows = sourcesOf(results).map(({ name, length }) => row(name, hit.found[name], length));
  return h(
    "table",
    { class: "lists" },
    h("caption", { class: "hushed" }, "Rank and raw score in every list"),
    h("thead", {}, h("tr", {}, head("List"), head("Rank"), head("Raw score", "number"))),
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
  if (!found) return length ? `not among its ${count(length)}` : "it found nothing";
  if (found.rank === null) return name === "vector" ? "looked up afterwards" : "compared, not ranked";
  return length ? `#${count(found.rank)} of ${count(length)}` : `#${count(found.rank)}`;
}

/** The list from its best at the left to its last at the right, with the place of the hit. */
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

// Beside a map: what is nearest to the query, what is in view, and how far to trust it, as text.

import { h, put } from "../app/dom.js";
import { count, plural } from "../app/format.js";
import { link } from "../app/route.js";
import { pointSummary } from "./canvas.js";

const MIN_JUDGED = 500; // points; of fewer, fifty are so many that nearly everything is near

/** The most points that are listed as text. */
export const MAX_LISTED = 50;

/** How one looks at a point. */
export const HINT = matchMedia("(pointer: coarse)").matches
  ? "Tap a dot to see which memory it is, and again to open it."
  : "Point at a dot to see which memory it is; a click opens it. With the keyboard: m, arrow keys, Enter.";

/** List memories as buttons that open them; pointing at one shows where it is. */
export function pointList(points, { open, hint, ordered = false }) {
  const row = (point) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: () => open(point),
          onpointerenter: () => hint(point.id),
          onpointerleave: () => hint(null),
          onfocus: () => hint(point.id),
          onblur: () => hint(null),
        },
        h("span", { dir: "auto" }, point.title),
        h("small", {}, pointSummary(point)),
      ),
    );
  return h(ordered ? "ol" : "ul", { class: "listed" }, points.map(row));
}

/** Say how much of the store is drawn, and how far to trust it. */
export function drawCoverage(node, answer, drawn) {
  const { memories, left_out: leftOut, kept } = answer;
  const all = `${plural(drawn, "memory", "memories")} drawn. `;
  const some = `${count(drawn)} of ${count(memories)} memories drawn, a fair sample. `;
  const near = `of each memory's ten nearest, ${Math.round(kept * 100)} % are among the fifty points nearest to it.`;
  put(
    node,
    drawn === memories ? all : some,
    leftOut > 0 && `${plural(leftOut, "has", "have")} no vector yet and ${leftOut === 1 ? "is" : "are"} left out. `,
    kept !== null && drawn >= MIN_JUDGED && `What lies together is alike, as far as a plane can show it: ${near}`,
  );
}

/** Say why there are no points, and what to do. */
export function emptyNote({ left_out: leftOut }, { q, collection, topics, types }) {
  if (leftOut) return h("p", { class: "said" }, `Nothing can be drawn yet: ${count(leftOut)} wait for a vector.`);
  const all = h("a", { href: link("map", { q }) }, "Show all");
  if (collection.length + topics.length + types.length)
    return h("p", { class: "said" }, "No memory is left by these filters. ", all);
  return h("p", { class: "said" }, "Nothing is stored yet. Add a memory, and it is the first point of the map.");
}

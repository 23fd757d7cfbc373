// Sidebar of the map as text: lists of points, coverage, and a note for an empty map.

import { h, put } from "../app/dom.js";
import { count, plural } from "../app/format.js";
import { link } from "../app/route.js";
import { pointSummary } from "./canvas.js";

const MIN_JUDGED = 500; // points; with fewer, the fifty nearest are nearly all of them

/** Maximum number of points in a list. */
export const MAX_LISTED = 50;

/** How to use the map with a mouse or a finger. */
export const HINT = matchMedia("(pointer: coarse)").matches
  ? "Tap a dot to see which memory it is, and again to open it."
  : "Point at a dot to see which memory it is; a click opens it. With the keyboard: m, arrow keys, Enter.";

/** List memories as buttons that open them; hovering one highlights its point. */
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

/** Draw how many memories the map shows, and how accurate it is. */
export function drawCoverage(node, answer, drawn) {
  const { memories, left_out: leftOut, kept } = answer;
  const all = `${plural(drawn, "memory", "memories")} drawn. `;
  const some = `${count(drawn)} of ${count(memories)} memories drawn (a sample). `;
  const near = `of each memory's ten nearest, ${Math.round(kept * 100)} % are among the fifty points nearest to it.`;
  put(
    node,
    drawn === memories ? all : some,
    leftOut > 0 && `${plural(leftOut, "is", "are")} not embedded yet and not drawn. `,
    kept !== null && drawn >= MIN_JUDGED && `Close points are similar memories. Accuracy: ${near}`,
  );
}

/** Return why there are no points, and what to do. */
export function emptyNote({ left_out: leftOut }, { q, collection, topics, types }) {
  if (leftOut)
    return h(
      "p",
      { class: "notice" },
      `Nothing to draw yet: ${plural(leftOut, "memory is", "memories are")} not embedded yet.`,
    );
  const all = h("a", { href: link("map", { q }) }, "Show all");
  if (collection.length + topics.length + types.length)
    return h("p", { class: "notice" }, "No memory matches these filters. ", all);
  return h("p", { class: "notice" }, "Nothing is stored yet. Add a memory: it becomes the first point of the map.");
}

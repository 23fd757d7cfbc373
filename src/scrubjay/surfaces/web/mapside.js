// Beside a map: what is nearest to the query, what is in view, and how far to trust it, as text.

import { about } from "./canvas.js";
import { h, put } from "./dom.js";
import { count, many } from "./words.js";

/** The most points that are listed as text. */
export const MOST_LISTED = 50;

/** List memories as buttons that open them; pointing at one shows where it is. */
export function listed(points, { open, hint, ordered = false }) {
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
        h("small", {}, about(point)),
      ),
    );
  return h(ordered ? "ol" : "ul", { class: "listed" }, points.map(row));
}

/** Say how much of the store is drawn, and how far to trust it. */
export function drawStanding(node, answer, drawn) {
  const { memories, left_out: leftOut, kept } = answer;
  const all = `${many(drawn, "memory", "memories")} drawn. `;
  const some = `${count(drawn)} of ${count(memories)} memories drawn, a fair sample. `;
  const near = `of each memory's ten nearest, ${Math.round(kept * 100)} % are near it here.`;
  put(
    node,
    drawn === memories ? all : some,
    leftOut > 0 && `${many(leftOut, "has", "have")} no vector yet and ${leftOut === 1 ? "is" : "are"} left out. `,
    kept !== null && `What lies together is alike, as far as a plane can show it: ${near}`,
  );
}

// Why a memory stands where it stands, on both sides at once.

import { openDialog } from "../app/dialog.js";
import { h, put } from "../app/dom.js";
import { scoreSum } from "../search/sum.js";

/** Open the sums behind a memory's scores; `sides` are `{name, rank, results}`, left and right. */
export function openWhy(title, id, sides) {
  return openDialog(
    `Why: ${title}`,
    (body) =>
      put(
        body,
        sides.map((side) => sideSum(id, side)),
      ),
    { wide: true },
  );
}

function sideSum(id, { name, rank, results }) {
  const hit = results?.hits.find((each) => each.id === id);
  const place = hit ? `rank ${rank} of ${results.hits.length}` : "not among its hits";
  return h("section", { class: "why-side" }, h("h3", {}, `${name}, ${place}`), hit && scoreSum(hit, results));
}

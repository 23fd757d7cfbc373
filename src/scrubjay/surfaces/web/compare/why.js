// Dialog that explains the rank of a memory on both sides.

import { openDialog } from "../app/dialog.js";
import { h, put } from "../app/dom.js";
import { scoreSum } from "../search/sum.js";

/** Open the explanation of a memory's scores; `sides` are `{name, rank, results}`, left and right. */
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
  const place = hit ? `rank ${rank} of ${results.hits.length}` : "not found";
  return h("section", { class: "why-side" }, h("h3", {}, `${name}, ${place}`), hit && scoreSum(hit, results));
}

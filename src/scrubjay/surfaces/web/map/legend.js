// Legend of the map: groups with their numbers of points; an entry hides its group, or all others.

import { elements, focused, h, put } from "../app/dom.js";
import { count } from "../app/format.js";
import { swatch } from "./colors.js";

/** Draw the legend into a node; calls `change(names)` with the groups to hide. */
export function drawLegend(node, groups, off, change) {
  const names = groups.map((group) => group.name);
  const action = node.contains(document.activeElement) ? focused().dataset.does : null;
  const flip = (name) => change(off.has(name) ? [...off].filter((other) => other !== name) : [...off, name]);
  const isAlone = (name) => names.every((other) => (other === name) !== off.has(other));
  const alone = (name) => change(isAlone(name) ? [] : names.filter((other) => other !== name));
  const row = (group) =>
    h(
      "li",
      { class: off.has(group.name) ? "off" : "" },
      h(
        "button",
        {
          type: "button",
          class: "quiet entry",
          role: "switch",
          "aria-checked": String(!off.has(group.name)),
          data: { does: `flip ${group.name}` },
          onclick: () => flip(group.name),
        },
        swatch(group),
        h("span", { class: "name" }, group.label),
        h("span", { class: "count" }, count(group.count)),
      ),
      h(
        "button",
        {
          type: "button",
          class: "quiet only",
          "aria-label": `Only ${group.label}`,
          "aria-pressed": String(isAlone(group.name)),
          data: { does: `only ${group.name}` },
          onclick: () => alone(group.name),
        },
        "only",
      ),
    );
  const all = h(
    "button",
    { type: "button", class: "quiet", data: { does: "all" }, onclick: () => change([]) },
    "Show all groups",
  );
  put(node, h("ul", { class: "legend" }, groups.filter((group) => group.count).map(row)), off.size > 0 && all);
  if (action)
    elements(node, "button")
      .find((button) => button.dataset.does === action)
      ?.focus();
}

// Topics and types to narrow a map to: chips to take away, and a list to add from.

import { h, put } from "./dom.js";

/** Fill a node with a choice of several: `names` are offered, `chosen` are in force. */
export function drawChoice(node, label, names, chosen, change) {
  const left = names.filter((name) => !chosen.includes(name));
  const select = h(
    "select",
    { onchange: () => change([...chosen, select.value]), disabled: !left.length },
    h("option", { value: "" }, chosen.length ? "Add another…" : "All"),
    left.map((name) => h("option", { value: name }, name)),
  );
  const chip = (name) =>
    h(
      "button",
      { type: "button", class: "chip", "aria-label": `No longer only ${name}`, onclick: () => change(chosen.filter((one) => one !== name)) },
      `${name} ✕`,
    );
  const focused = node.contains(document.activeElement);
  put(node, h("label", { class: "field" }, label, select), h("div", { class: "chips" }, chosen.map(chip)));
  if (focused) select.focus();
}

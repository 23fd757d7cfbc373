// Topics and types to narrow a map to: a fold-out with chips to take away, and lists to add from.

import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { saying } from "./toast.js";

/** The fold-out; `change({topics})` or `change({types})` is told what somebody chose. */
export class Narrowing {
  #now = { topics: [], types: [] };

  constructor(change) {
    this.change = change;
    this.topics = h("div", { class: "choice" });
    this.types = h("div", { class: "choice" });
    this.summary = h("summary", {}, "Filters");
    const panel = h("div", { class: "panel" }, this.topics, this.types);
    this.node = h("details", { class: "narrow", ontoggle: () => this.draw(this.#now) }, this.summary, panel);
  }

  /** Show what is in force; what else there is to choose is asked for only while it is folded out. */
  draw({ topics, types }) {
    this.#now = { topics, types };
    const number = topics.length + types.length;
    put(this.summary, number ? `Filters (${number})` : "Filters");
    if (this.node.open) saying(() => this.#offer());
  }

  async #offer() {
    const [listed, status] = await Promise.all([ask("topics", { limit: 200 }), ask("status")]);
    const known = listed.topics.map((one) => one.topic);
    const { topics, types } = this.#now;
    drawChoice(this.topics, "Only topics", known, topics, (chosen) => this.change({ topics: chosen }));
    drawChoice(this.types, "Only types", Object.keys(status.types), types, (chosen) => this.change({ types: chosen }));
  }
}

function drawChoice(node, label, names, chosen, change) {
  const left = names.filter((name) => !chosen.includes(name));
  const select = h(
    "select",
    { onchange: () => change([...chosen, select.value]), disabled: !left.length },
    h("option", { value: "" }, chosen.length ? "Add another…" : "All"),
    left.map((name) => h("option", { value: name }, name)),
  );
  const without = (name) => () => change(chosen.filter((one) => one !== name));
  const chip = (name) =>
    h("button", { type: "button", class: "chip", "aria-label": `No longer only ${name}`, onclick: without(name) }, `${name} ✕`);
  const focused = node.contains(document.activeElement);
  put(node, h("label", { class: "field" }, label, select), h("div", { class: "chips" }, chosen.map(chip)));
  if (focused) select.focus();
}

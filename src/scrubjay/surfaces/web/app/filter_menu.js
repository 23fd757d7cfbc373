// Menu of filters: collection, topics and types, with chips that remove a value and lists that add one.

import { call } from "./api.js";
import { h, put } from "./dom.js";
import { attempt } from "./toast.js";

const LABELS = { collection: "Collection", topics: "Topics", types: "Types" };

/** The menu; calls `change({topics})`, or the same with another filter, when the user changes one. */
export class FilterMenu {
  #now = { collection: [], topics: [], types: [] };

  constructor(change) {
    this.change = change;
    this.choices = Object.fromEntries(Object.keys(LABELS).map((name) => [name, h("div", { class: "choice" })]));
    this.summary = h("summary", {}, "Filters");
    const panel = h("div", { class: "panel" }, Object.values(this.choices));
    this.node = h("details", { class: "narrow", ontoggle: () => this.draw(this.#now) }, this.summary, panel);
  }

  /** Show the active filters; the values to choose from are loaded only while the menu is open. */
  draw({ collection = [], topics = [], types = [] }) {
    this.#now = { collection, topics, types };
    const number = collection.length + topics.length + types.length;
    put(this.summary, number ? `Filters (${number})` : "Filters");
    if (this.node.open) attempt(() => this.#offer());
  }

  async #offer() {
    const [listed, status, { collections }] = await Promise.all([
      call("topics", { limit: 200 }),
      call("status"),
      call("collections"),
    ]);
    const known = {
      collection: collections.map((collection) => collection.name),
      topics: listed.topics.map((entry) => entry.topic),
      types: Object.keys(status.types),
    };
    for (const [name, node] of Object.entries(this.choices)) {
      const only = name === "collection" ? 1 : Infinity; // a memory has one collection
      const choose = (chosen) => this.change({ [name]: chosen.slice(-only) });
      drawChoice(node, LABELS[name], known[name], this.#now[name], choose);
    }
  }
}

function drawChoice(node, label, names, chosen, change) {
  const left = names.filter((name) => !chosen.includes(name));
  const select = h(
    "select",
    { onchange: () => change([...chosen, select.value]), disabled: !left.length },
    h("option", { value: "" }, chosen.length ? "Another…" : "All"),
    left.map((name) => h("option", { value: name }, name)),
  );
  const without = (name) => () => change(chosen.filter((other) => other !== name));
  const chip = (name) =>
    h(
      "button",
      { type: "button", class: "chip", "aria-label": `Remove filter ${name}`, onclick: without(name) },
      `${name} ✕`,
    );
  const focused = node.contains(document.activeElement);
  put(node, h("label", { class: "field" }, label, select), h("div", { class: "chips" }, chosen.map(chip)));
  if (focused) select.focus();
}

// One memory, whole: its text, its fields, its history and its links, in a dialog that any view opens.

import { ask, server } from "./api.js";
import { opened } from "./dialog.js";
import { h, put } from "./dom.js";
import { edited } from "./edit.js";
import { forget } from "./forget.js";
import { nameOf, visible, whole } from "./marked.js";
import { link } from "./route.js";
import { who } from "./session.js";
import { saying } from "./toast.js";
import { feedback, given, VERDICTS } from "./verdicts.js";
import { age, figure, moment } from "./words.js";

const LABELS = {
  type: "Type", topics: "Topics", namespace: "Namespace", collection: "Collection", session: "Session", role: "Said by", owner: "Owner",
  agent: "Agent", severity: "Severity", domain: "Domain", context: "Context", source: "Source", created_at: "Stored", updated_at: "Changed",
  event_time: "Happened", event_until: "Over", valid_from: "Valid from", valid_until: "Valid until", language: "Language", id: "Id",
};
const TIMES = new Set(["created_at", "updated_at", "event_time", "event_until", "valid_from", "valid_until"]);

/**
 * Open one memory from any view. With a `query`, feedback is offered, and `forms` are words to mark. `changed({id, gone})`
 * is called when it was edited or forgotten, or turned out to be gone; `signal` closes it, and without one any change
 * of the address. Ends when it is closed.
 */
export function openMemory(id, { query = "", forms = [], changed = () => {}, signal = untilMoved() } = {}) {
  return opened("Memory", (body, close) => {
    signal.addEventListener("abort", () => close());
    body.addEventListener("click", (event) => event.target.closest("a[href]") && close()); // it leads elsewhere
    new Shown(body, { query, forms, changed, close }).load(id);
  }, { wide: true });
}

function untilMoved() {
  const moved = new AbortController();
  window.addEventListener("hashchange", () => moved.abort(), { once: true });
  return moved.signal;
}

/** The dialog while it is open: which memory it shows, and by which links it came there. */
class Shown {
  constructor(body, given) {
    Object.assign(this, { body, trail: [], ...given });
    this.heading = body.parentElement.querySelector("h2");
    this.heading.dir = "auto";
  }

  async load(id) {
    this.id = id;
    put(this.body, h("p", { class: "hint", role: "status" }, "Loading…"));
    try {
      const [got, { changes }, { neighbors }, { scopes }] = await Promise.all([
        ask("get", { id }), ask("history", { id }), ask("neighbors", { id }), who(),
      ]);
      const near = neighbors.length ? (await ask("get_many", { ids: neighbors.map((one) => one.id) })).memories : [];
      if (this.id === id) this.draw(got, changes, linksOf(neighbors, near), scopes.includes("write"));
    } catch (error) {
      if (!error.kind) throw error;
      if (this.id === id) this.fail(error);
    }
  }

  fail({ kind, detail }) {
    const gone = kind === "not-found";
    put(this.heading, gone ? "It is gone" : "Memory");
    put(this.body, h("p", { class: "said bad", role: "alert" }, gone ? "This memory is no longer stored: it was forgotten, or is not yours to see." : detail), this.back());
    if (gone) this.changed({ id: this.id, gone: true });
    if (kind === "away") server.addEventListener("back", () => this.body.isConnected && this.load(this.id), { once: true });
  }

  draw({ memories: [memory], tiers = {} }, changes, links, write) {
    put(this.heading, visible(memory.title) || "Memory"); // without a title the text says it
    put(
      this.body,
      this.back(),
      this.actions(memory, write), // above the text, which may be a megabyte
      whole(memory.text, this.trail.length ? [] : this.forms),
      fieldsOf(memory, tiers[memory.id]),
      links.length > 0 && this.links(links),
      changes.length > 0 && history(changes),
    );
  }

  back() {
    const from = this.trail.at(-1);
    return from !== undefined && h("p", {}, h("button", { type: "button", class: "quiet", onclick: () => this.load(this.trail.pop()) }, "← Back"));
  }

  follow(id) {
    this.trail.push(this.id);
    this.load(id);
  }

  actions(memory, write) {
    const { id } = memory;
    const button = (text, act, title) => h("button", { type: "button", onclick: act, title }, text);
    const isDone = memory.type.endsWith("_done");
    return h(
      "p",
      { class: "actions" },
      write && button("Edit", () => this.edit(memory)),
      write && button("Forget", () => this.forget(id)),
      write && (isDone || memory.type === "task") && button(isDone ? "Not done" : "Done", () => this.mark(id, isDone ? "undone" : "done")),
      h("a", { class: "button", href: link("graph", { id }) }, "Graph"),
      h("a", { class: "button", href: link("search", { id }) }, "Link"),
      write && this.query && !this.trail.length && this.verdicts(id),
    );
  }

  verdicts(id) {
    const group = h("span", { class: "feedback", role: "group", "aria-label": "Feedback" });
    const draw = () =>
      put(group, Object.entries(VERDICTS).map(([action, word]) =>
        h("button", { type: "button", "aria-pressed": String(given(this.query, id) === action), onclick: () => feedback(this.query, id, action, draw) }, word)));
    draw();
    return group;
  }

  async edit(memory) {
    if (!(await edited(memory))) return;
    this.changed({ id: memory.id, gone: false });
    this.load(memory.id);
  }

  async forget(id) {
    const gone = await forget(id, () => this.changed({ id, gone: true }));
    if (gone) this.close();
  }

  async mark(id, verb) {
    if (!(await saying(() => ask(verb, { id })))) return;
    this.changed({ id, gone: false });
    this.load(id);
  }

  links(links) {
    const rows = links.map(({ id, name, score, kinds }) =>
      h("li", {}, h("button", { type: "button", class: "linked", dir: "auto", onclick: () => this.follow(id) }, name), h("span", { class: "hint" }, ` ${[...kinds, figure(score, 2)].join(", ")}`)),
    );
    return [h("h3", {}, "Links"), h("ul", { class: "plain" }, rows)];
  }
}

function linksOf(neighbors, memories) {
  const names = new Map(memories.map((one) => [one.id, nameOf(one)]));
  return neighbors.map((one) => ({ ...one, name: names.get(one.id) ?? one.id }));
}

function fieldsOf(memory, tier) {
  const isUsual = (name) => name === "updated_at" && memory.updated_at === memory.created_at;
  const rows = Object.entries(LABELS).filter(([name]) => memory[name] !== null && memory[name].length !== 0 && !isUsual(name));
  const row = (label, value) => [h("dt", {}, label), h("dd", { dir: "auto" }, value)];
  return h(
    "dl",
    { class: "fields" },
    rows.map(([name, label]) => row(label, shown(name, memory[name]))),
    tier && row("Tier", tier),
    Object.entries(memory.metadata).map(([name, value]) => row(name, visible(typeof value === "string" ? value : JSON.stringify(value)))),
  );
}

function shown(name, value) {
  if (TIMES.has(name)) return h("time", { datetime: value, title: value }, `${moment(value)} (${age(value)})`);
  if (name === "topics") return value.map((topic) => [h("a", { class: "chip", href: link("search", { topics: topic }) }, h("bdi", {}, visible(topic))), " "]);
  return visible(value);
}

function history(changes) {
  const rows = changes.map(({ at, field, before, after }) =>
    h("tr", {}, h("td", {}, h("time", { datetime: at, title: at }, moment(at))), h("td", {}, field), h("td", { dir: "auto" }, visible(before)), h("td", { dir: "auto" }, visible(after))),
  );
  const head = h("tr", {}, ["When", "Field", "Before", "After"].map((one) => h("th", { scope: "col" }, one)));
  return [h("h3", {}, "History"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "History" }, h("table", {}, h("thead", {}, head), h("tbody", {}, rows)))];
}

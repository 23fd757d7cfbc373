// Fields of one memory.

import { h } from "../app/dom.js";
import { age, moment } from "../app/format.js";
import { link } from "../app/route.js";
import { visible } from "../app/stored_text.js";

const LABELS = {
  type: "Type",
  topics: "Topics",
  namespace: "Namespace",
  collection: "Collection",
  session: "Session",
  role: "Said by",
  owner: "Owner",
  agent: "Agent",
  severity: "Severity",
  domain: "Domain",
  context: "Context",
  source: "Source",
  created_at: "Stored",
  updated_at: "Changed",
  event_time: "Event time",
  valid_from: "Valid from",
  valid_until: "Valid until",
  language: "Language",
  id: "Id",
};
const TIMES = new Set(["created_at", "updated_at", "valid_from", "valid_until"]);

/** Return the list of fields that are set; `tier` is the name of its database, if there are several. */
export function fieldList(memory, tier) {
  const isUsual = (name) => name === "updated_at" && memory.updated_at === memory.created_at;
  const rows = Object.entries(LABELS).filter(
    ([name]) => memory[name] !== null && memory[name].length !== 0 && !isUsual(name),
  );
  const row = (label, value) => [h("dt", {}, label), h("dd", { dir: "auto" }, value)];
  return h(
    "dl",
    { class: "fields" },
    rows.map(([name, label]) => row(label, fieldValue(name, memory))),
    tier && row("Tier", tier),
    Object.entries(memory.metadata).map(([name, value]) =>
      row(name, visible(typeof value === "string" ? value : JSON.stringify(value))),
    ),
  );
}

function fieldValue(name, memory) {
  const value = memory[name];
  if (name === "event_time") return eventTime(memory);
  if (TIMES.has(name)) return [timeElement(value), ` (${age(value)})`];
  if (name === "topics")
    return value.map((topic) => [
      h("a", { class: "chip", href: link("search", { topics: topic }) }, h("bdi", {}, visible(topic))),
      " ",
    ]);
  if (name === "session") return h("a", { href: link("search", { session: value }) }, visible(value));
  return visible(value);
}

export const timeElement = (iso) => h("time", { datetime: iso, title: iso }, moment(iso));

/** Return the event time. Whether the user gave it or the text contains it is not stored. */
function eventTime({ type, event_time: from, event_until: until }) {
  const origin = type === "document" ? "" : ", given or found in the text";
  return [
    timeElement(from),
    until && [" to ", timeElement(until)],
    h("span", { class: "hint" }, ` (${age(from)}${origin})`),
  ];
}

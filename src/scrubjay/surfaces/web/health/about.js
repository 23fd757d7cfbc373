// What the store is about: types, namespaces, topics and collections, what expires, and what was learned.

import { h } from "../app/dom.js";
import { age, count, figure, many, moment } from "../app/format.js";
import { link } from "../app/route.js";
import { nameOf } from "../app/stored_text.js";
import { hint, list, table, tally } from "./panels.js";

const LONGEST = 120; // characters of a memory without a title

/** Counts of each type and each namespace; a click searches there. */
export function kinds(status) {
  return [
    h("h3", {}, "By type"),
    tally(status.types, (name) => link("search", { types: name })),
    h("h3", {}, "By namespace"),
    tally(status.namespaces, (name) => link("search", { namespace: name })),
  ];
}

/** The topics that most memories have, and the collections; a click searches there. */
export function grouped({ topics, collections }) {
  const tagged = Object.fromEntries(topics.map((one) => [one.topic, one.memories]));
  const named = Object.fromEntries(collections.map((one) => [one.name, one.memories]));
  return [
    h("h3", {}, "Topics"),
    tally(tagged, (name) => link("search", { topics: name })),
    h("h3", {}, "Collections"),
    tally(named, (name) => link("search", { collection: name })),
  ];
}

/** What is soon no longer valid, soonest first. */
export function expiring({ memories }) {
  if (!memories.length) return hint("Nothing expires soon.");
  return list(
    memories.map((one) => {
      const href = link("search", { id: one.id });
      const text = nameOf(one, LONGEST);
      const when = h("span", { class: "hint", title: moment(one.valid_until) }, age(one.valid_until));
      return [h("a", { href, dir: "auto", data: { keep: one.id } }, text), " ", when];
    }),
  );
}

/** True for weights that feedback moves, or has moved. */
export const learns = (one) => given(one) > 0 && (one.needed !== null || one.shift !== 0);

/** The weights in force of profiles that learn; what they were before stands beside them. */
export function learned(all) {
  const columns = [["Weight"], ["In force", true], ["Before", true]];
  return all.map((one) => {
    const rows = Object.entries(one.weights).map(([name, now]) => [name, figure(now), figure(one.base[name] ?? now)]);
    const title = h("h3", {}, one.profile, one.frozen && h("span", { class: "chip" }, "frozen"));
    return [title, hint(heard(one)), table(`Weights of ${one.profile}`, columns, rows)];
  });
}

const given = (one) => one.accepted + one.modified + one.dismissed;

function heard(one) {
  const said = `${count(one.accepted)} accepted, ${count(one.modified)} modified, ${count(one.dismissed)} dismissed`;
  const later = `weights move from ${count(one.needed)} on`;
  const moved = one.shift ? `the weight of the text moved by ${figure(one.shift)}` : later;
  return `${many(given(one), "feedback", "feedbacks")} (${said}); ${moved}.`;
}

// Health panels about the contents: types, namespaces, topics, collections, expiring memories, learned weights.

import { h } from "../app/dom.js";
import { age, count, figure, moment, plural } from "../app/format.js";
import { link } from "../app/route.js";
import { displayName } from "../app/stored_text.js";
import { countBars, hint, list, table } from "./panels.js";

const LONGEST = 120; // characters of the name of a memory without a title

/** Draw the counts of types and namespaces; a click searches in them. */
export function typeCounts(status) {
  return [
    h("h3", {}, "By type"),
    countBars(status.types, (name) => link("search", { types: name })),
    h("h3", {}, "By namespace"),
    countBars(status.namespaces, (name) => link("search", { namespace: name })),
  ];
}

/** Draw the counts of topics and collections; a click searches in them. */
export function topicCounts({ topics, collections }) {
  const tagged = Object.fromEntries(topics.map((entry) => [entry.topic, entry.memories]));
  const named = Object.fromEntries(collections.map((collection) => [collection.name, collection.memories]));
  return [
    h("h3", {}, "Topics"),
    countBars(tagged, (name) => link("search", { topics: name })),
    h("h3", {}, "Collections"),
    countBars(named, (name) => link("search", { collection: name })),
  ];
}

/** List the memories that expire soon, soonest first. */
export function expiring({ memories }) {
  if (!memories.length) return hint("Nothing expires soon.");
  return list(
    memories.map((memory) => {
      const href = link("search", { id: memory.id });
      const text = displayName(memory, LONGEST);
      const when = h("span", { class: "hint", title: moment(memory.valid_until) }, age(memory.valid_until));
      return [h("a", { href, dir: "auto", data: { keep: memory.id } }, text), " ", when];
    }),
  );
}

/** True for weights that feedback changes or has changed. */
export const learns = (entry) => feedbackCount(entry) > 0 && (entry.needed !== null || entry.shift !== 0);

/** Draw the current weights of learning profiles beside the original ones. */
export function learned(all) {
  const columns = [["Weight"], ["Current", true], ["Original", true]];
  return all.map((entry) => {
    const rows = Object.entries(entry.weights).map(([name, now]) => [
      name,
      figure(now),
      figure(entry.base[name] ?? now),
    ]);
    const title = h("h3", {}, entry.profile, entry.frozen && h("span", { class: "chip" }, "frozen"));
    return [title, hint(feedbackText(entry)), table(`Weights of ${entry.profile}`, columns, rows)];
  });
}

const feedbackCount = (entry) => entry.accepted + entry.modified + entry.dismissed;

function feedbackText(entry) {
  const counts = `${count(entry.accepted)} accepted, ${count(entry.modified)} modified, ${count(entry.dismissed)} dismissed`;
  const later = `weights change from ${count(entry.needed)} on`;
  const moved = entry.shift ? `the weight of the text changed by ${figure(entry.shift)}` : later;
  return `${plural(feedbackCount(entry), "feedback", "feedbacks")} (${counts}); ${moved}.`;
}

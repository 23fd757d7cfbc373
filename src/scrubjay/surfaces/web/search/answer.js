// Summary above the hits: their number, the confidence, what is degraded, and advice for an empty result.

import { h } from "../app/dom.js";
import { count, duration, plural } from "../app/format.js";
import { activeFilters } from "./query.js";

// As `verdict_words` of scrubjay.surfaces.render.facts.
const VERDICTS = {
  likely: "likely answered",
  unsure: "may be answered",
  "not stored": "probably not stored",
};
const MOST_TOPICS = 12;

/** Draw the summary above the hits. */
export function resultSummary(results, request, of) {
  const { verdict, confidence } = results;
  const cut = results.counts.limit_cut_from;
  return [
    h(
      "p",
      { class: "outcome" },
      h("strong", {}, plural(results.hits.length, "hit", "hits")),
      ` in ${duration(results.took_ms)}`,
      verdict && [
        " · ",
        h(
          "span",
          { class: "sure", title: "Probability that the first hit answers the query" },
          `${VERDICTS[verdict]} (confidence ${confidence.toFixed(2)})`,
        ),
      ],
      cut && ` · this profile returns at most ${count(results.hits.length)}`,
    ),
    degradedNote(results),
    topicChips(results.topics, request, of),
  ];
}

function degradedNote({ degraded, counts }) {
  const changed = counts.changed_files ?? 0;
  const files = changed
    ? [`${plural(changed, "file has", "files have")} changed since the last ingest: scrubjay ingest reads them again`]
    : [];
  const all = [...degraded, ...files];
  if (!all.length) return null;
  return h(
    "div",
    { class: "notice" },
    h("p", {}, "These results are incomplete:"),
    h(
      "ul",
      {},
      all.map((reason) => h("li", {}, reason)),
    ),
  );
}

function topicChips(topics, request, of) {
  const rest = Object.entries(topics)
    .filter(([topic]) => !request.topics.includes(topic))
    .slice(0, MOST_TOPICS);
  if (!rest.length) return null;
  return h(
    "p",
    { class: "topics" },
    h("span", { class: "hint" }, "Topics: "),
    rest.map(([topic, memories]) => topicChip(topic, memories, of)),
  );
}

/** Draw a topic; a click filters by it. */
export function topicChip(topic, memories, of) {
  return h(
    "button",
    { type: "button", class: "chip", onclick: () => of.filter("topics", topic) },
    h("bdi", {}, topic),
    h("span", { class: "hint" }, ` ${count(memories)}`),
  );
}

/** Draw what to try when nothing was found: fewer filters, another mode, similar topics. */
export function emptyResult(results, request, topics, modes, of) {
  const set = activeFilters(request);
  const others = [{ name: "", summary: "" }, ...modes].filter(({ name }) => name !== request.mode);
  const near = similarTopics(results.query, topics);
  return h(
    "div",
    { class: "panel nothing" },
    h("h2", {}, "Nothing found"),
    results.searched && h("p", {}, `Searched: ${results.searched}.`),
    set.length > 0 &&
      h(
        "p",
        {},
        "Without a filter: ",
        set.map((filter) => chipButton(`${filter.label}: ${filter.value}`, () => of.without(filter))),
      ),
    others.length > 0 &&
      h(
        "p",
        {},
        "In another mode: ",
        others.map(({ name, summary }) => chipButton(name || "default", () => of.mode(name), summary)),
      ),
    near.length > 0 &&
      h(
        "p",
        {},
        "By topic: ",
        near.map(({ topic, memories }) => topicChip(topic, memories, { filter: (_, value) => of.only(value) })),
      ),
    !set.length && h("p", {}, "Or try other words, or fewer of them."),
  );
}

const chipButton = (text, onclick, title) =>
  h("button", { type: "button", class: "chip", title, onclick }, h("bdi", {}, text));

/** Return topics that share a prefix with a word of the query, longest prefix first; otherwise the most used topics. */
function similarTopics(query, topics) {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2);
  const shared = (topic) =>
    Math.max(
      0,
      ...topic
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .flatMap((part) => words.map((word) => commonPrefix(part, word))),
    );
  const like = topics
    .map((entry) => ({ ...entry, shared: shared(entry.topic) }))
    .filter((entry) => entry.shared > 2)
    .sort((a, b) => b.shared - a.shared);
  return (like.length ? like : topics).slice(0, 8);
}

function commonPrefix(a, b) {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

// How it all is, in one sentence: what wants attention, from whatever the server said of itself.

import { clock } from "./buckets.js";
import { h } from "./dom.js";
import { perHour } from "./health_load.js";
import { state } from "./health_parts.js";
import { count, many } from "./words.js";

const LESS = {
  writes: "The store cannot be written.",
  store: "The store cannot be read.",
  embedder: "The embedder cannot be loaded: searches are by word.",
  reranker: "The reranker cannot be loaded: results are not ordered again.",
};
// What doctor calls a thing that is known without it. Said once, in the words of who said it first.
const SAME = { writing: "writes", vectors: "vectors", "vectors server": "vectors server", "graph server": "graph server" };

/**
 * Return what wants attention, `[{about, state, says, fix}]`, from the answers that are there; one that is missing
 * says nothing. `about` names the part of the page that tells more.
 */
export function attention({ ready, status, tiers, coverage, figures, findings }) {
  const known = new Map();
  const add = (key, one) => known.has(key) || known.set(key, one);
  if (status) ofStatus(status, add);
  for (const one of tiers?.tiers ?? []) {
    if (one.state === "lost") add(`tier ${one.name}`, { about: "store", state: "failed", says: `The tier ${one.name} is lost: ${one.reason}` });
  }
  if (coverage?.counts.failed) {
    add("files", { about: "files", state: "degraded", says: `${many(coverage.counts.failed, "file", "files")} could not be read.` });
  }
  if (figures) ofSearches(perHour(figures).slice(-2), add);
  for (const name of ready?.degraded ?? []) {
    const told = [...known.keys()].some((key) => key === name || key === `${name} server`);
    if (!told) add(name, { about: "doctor", state: name in LESS ? "failed" : "degraded", says: LESS[name] ?? `Less than whole: ${name}.` });
  }
  for (const one of findings ?? []) {
    if (one.state !== "ok") add(SAME[one.component] ?? one.component, { about: "doctor", state: one.state, says: `${one.component}: ${one.detail}` });
  }
  return [...known.values()];
}

function ofStatus(status, add) {
  const says = many(status.pending, "passage waits", "passages wait");
  if (status.pending && status.why_pending) {
    add("vectors", { about: "waiting", state: "degraded", says: `${says} for a vector: ${status.why_pending}` });
  }
  if (status.failed) {
    add("vectors", { about: "waiting", state: "failed", says: `${many(status.failed, "passage", "passages")} could not be embedded: ${status.failures[0] ?? "the log says why"}` });
  }
  for (const one of status.servers) {
    const lost = { about: "waiting", state: one.reason ? "failed" : "degraded" };
    const changes = many(one.behind, "change", "changes");
    if (one.reason) add(`${one.tier} server`, { ...lost, says: `The server of ${one.tier} is not told: ${one.reason}` });
    else if (one.behind) add(`${one.tier} server`, { ...lost, says: `The server of ${one.tier} is ${changes} behind.` });
  }
  const { failed, failures } = status.extraction;
  if (failed) add("extraction", { about: "waiting", state: "failed", says: `${many(failed, "message", "messages")} gave no facts: ${Object.keys(failures)[0]}` });
}

// This hour and the one before it: what is right again is soon no longer said.
function ofSearches(hours, add) {
  const degraded = hours.reduce((all, one) => all + one.degraded, 0);
  const searches = hours.reduce((all, one) => all + one.searches, 0);
  if (degraded) add("searches", { about: "queries", state: "degraded", says: `${count(degraded)} of ${many(searches, "search", "searches")} since ${clock(hours[0].from)} had to do without something.` });
}

/** Return the sentence at the top with what it is about; `to(about)` goes to the part that tells more. */
export function summary(items, status, to) {
  if (!items.length) {
    const busy = status?.pending ? ` ${many(status.pending, "passage is", "passages are")} being embedded now.` : "";
    const holds = status ? `${many(status.memories, "memory", "memories")}, ${many(status.searches, "search", "searches")} counted.` : "";
    return [h("p", { class: "verdict" }, state("ok", "All is well.")), h("p", { class: "hint" }, holds + busy)];
  }
  const worst = items.some((one) => one.state === "failed") ? "failed" : "degraded";
  const verdict = `${count(items.length)} ${items.length === 1 ? "thing wants" : "things want"} attention.`;
  return [
    h("p", { class: "verdict" }, state(worst, verdict)),
    h("ul", { class: "wanting" }, items.map((one) => h("li", {}, state(one.state), h("span", { dir: "auto" }, one.says), more(one, to)))),
  ];
}

function more(one, to) {
  return h("button", { type: "button", class: "quiet", "aria-label": `Show more: ${one.says}`, data: { keep: one.says }, onclick: () => to(one.about) }, "Show");
}

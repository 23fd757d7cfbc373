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
// What doctor says of these is said by answers that are newer: it may have been asked an hour ago.
const NEWER = { vectors: "status", "vectors server": "status", "graph server": "status", writing: "ready" };

/**
 * Return what wants attention, `[{about, state, says}]`, from the answers that are there; one that is missing says
 * nothing. `about` names the part of the page that tells more.
 */
export function attention(answers) {
  const { ready, status, tiers, coverage, figures, findings } = answers;
  const known = [
    ...(status ? ofStatus(status) : []),
    ...(tiers?.tiers ?? []).filter((one) => one.state === "lost").map((one) => wants("store", "failed", `The tier ${one.name} is lost: ${one.reason}`)),
    ...(coverage?.counts.failed ? [wants("files", "degraded", `${many(coverage.counts.failed, "file", "files")} could not be read.`)] : []),
    ...(figures ? ofSearches(perHour(figures).slice(-2)) : []),
  ];
  const told = new Set(known.map((one) => one.part));
  const less = (ready?.degraded ?? []).filter((name) => !told.has(name));
  const found = (findings ?? []).filter((one) => one.state !== "ok" && !answers[NEWER[one.component]]);
  return [
    ...known,
    ...less.map((name) => wants("doctor", name in LESS ? "failed" : "degraded", LESS[name] ?? `Less than whole: ${name}.`)),
    ...found.map((one) => wants("doctor", one.state, `${one.component}: ${one.detail}`)),
  ];
}

// `part` is what /readyz calls it, where it has a name for it.
const wants = (about, how, says, part = "") => ({ about, state: how, says, part });

function ofStatus(status) {
  const made = [];
  if (status.pending && status.why_pending) {
    made.push(wants("waiting", "degraded", `${many(status.pending, "passage waits", "passages wait")} for a vector: ${status.why_pending}`, "vectors"));
  }
  if (status.failed) {
    made.push(wants("waiting", "failed", `${many(status.failed, "passage", "passages")} could not be embedded: ${status.failures[0] ?? "the log says why"}`, "vectors"));
  }
  for (const one of status.servers) {
    if (one.reason) made.push(wants("waiting", "failed", `The server of ${one.tier} is not told: ${one.reason}`, one.tier));
    else if (one.behind) made.push(wants("waiting", "degraded", `The server of ${one.tier} is ${many(one.behind, "change", "changes")} behind.`, one.tier));
  }
  const { failed, failures } = status.extraction;
  if (failed) made.push(wants("waiting", "failed", `${many(failed, "message", "messages")} gave no facts: ${Object.keys(failures)[0]}`));
  return made;
}

// This hour and the one before it: what is right again is soon no longer said.
function ofSearches(hours) {
  const degraded = hours.reduce((all, one) => all + one.degraded, 0);
  const searches = hours.reduce((all, one) => all + one.searches, 0);
  if (!degraded) return [];
  return [wants("queries", "degraded", `${count(degraded)} of ${many(searches, "search", "searches")} since ${clock(hours[0].from)} had to do without something.`)];
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

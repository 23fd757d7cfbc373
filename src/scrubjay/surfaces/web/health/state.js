// How it all is, in one sentence: what wants attention, from whatever the server said of itself.

import { command, told } from "../app/command.js";
import { h } from "../app/dom.js";
import { count, many } from "../app/format.js";
import { clock } from "./buckets.js";
import { byFix, worst } from "./doctor.js";
import { lacked, perHour, summed } from "./load.js";
import { hint, state } from "./panels.js";

const LESS = {
  writes: "The store cannot be written.",
  store: "The store cannot be read.",
  embedder: "The embedder cannot be loaded: searches are by word.",
  reranker: "The reranker cannot be loaded: results are not ordered again.",
};
const BEHIND = {
  vectors: "The server of vectors was behind a moment ago, or some could not be made.",
  graph: "The server of graph was behind a moment ago.",
};
// What doctor says of these is said by answers that are newer: it may have been asked an hour ago.
const NEWER = { vectors: "status", "vectors server": "status", "graph server": "status", writing: "ready" };

const OF_A_MODEL = ["embedder", "reranker"]; // what is missing with it

/**
 * Return what wants attention, `[{about, state, says, fix}]`, from the answers that are there; one that is missing says
 * nothing. `about` names the part of the page that tells more, `fix` is the command that mends it.
 */
export function attention(answers) {
  const { ready, status, tiers, coverage, figures, findings } = answers;
  const known = [
    ...(status ? ofStatus(status) : []),
    ...(tiers?.tiers ?? []).filter((one) => one.state === "lost").map(ofTier),
    ...(coverage?.counts.failed ? [ofFiles(coverage.counts.failed)] : []),
    ...(figures ? ofSearches(perHour(figures).slice(-2)) : []),
  ];
  const less = (ready?.degraded ?? []).filter((name) => !known.some((one) => one.part === name)).map(ofPart);
  const found = byFix((findings ?? []).filter((one) => one.state !== "ok" && !answers[NEWER[one.component]]));
  const model = found.find((group) => group[0].fix && group.some((one) => one.component === "model"));
  const others = found.filter((group) => group !== model).map(ofFindings);
  if (!model) return [...known, ...less, ...others];
  const rest = [...known, ...less].filter((one) => !OF_A_MODEL.includes(one.part));
  return [ofModel(model, status), ...rest, ...others];
}

// `part` is what /readyz calls it, where it has a name for it.
const wants = (about, how, says, part = "", fix = "") => ({ about, state: how, says, part, fix });

const ofPart = (name) =>
  wants(
    "doctor",
    name in LESS ? "failed" : "degraded",
    LESS[name] ?? BEHIND[name] ?? `Less than whole: ${name}.`,
    name,
  );

function ofFindings(group) {
  const said = group.map((one) => `${one.component}: ${one.detail}`).join("; ");
  return wants("doctor", worst(group).state, said, "", group[0].fix);
}

// One cause, and all that follows from it.
function ofModel(group, status) {
  const so = ["searches are by word"];
  if (status?.pending) so.push(`${many(status.pending, "passage waits", "passages wait")} for a vector`);
  if (group.some((one) => one.component === "reranker")) so.push("results are not ordered again");
  const { detail, fix } = group.find((one) => one.component === "model");
  return wants("doctor", worst(group).state, `The model ${detail}: ${so.join(", ")}.`, "", fix);
}

function ofStatus({ pending, why_pending, failed, failures, servers, extraction }) {
  const made = [];
  const late = (how, says, part) => made.push(wants("waiting", how, says, part));
  if (pending && why_pending) {
    late("degraded", `${many(pending, "passage waits", "passages wait")} for a vector: ${why_pending}`, "embedder");
  }
  if (failed) {
    const why = failures[0] ?? "the log says why";
    late("failed", `${many(failed, "passage", "passages")} could not be embedded: ${why}`, "vectors");
  }
  for (const { tier, behind, reason } of servers) {
    if (reason) late("failed", `The server of ${tier} is not told: ${reason}`, tier);
    else if (behind) late("degraded", `The server of ${tier} is ${many(behind, "change", "changes")} behind.`, tier);
  }
  if (extraction.failed) {
    const why = Object.keys(extraction.failures)[0];
    late("failed", `${many(extraction.failed, "message", "messages")} gave no facts: ${why}`);
  }
  return made;
}

const ofTier = (one) => wants("store", "failed", `The file ${one.name} of the store is lost: ${one.reason}`);
const ofFiles = (failed) => wants("files", "degraded", `${many(failed, "file", "files")} could not be read.`);

// This hour and the one before it: what is right again is soon no longer said.
function ofSearches(hours) {
  const degraded = hours.reduce((all, one) => all + one.degraded, 0);
  const searches = hours.reduce((all, one) => all + one.searches, 0);
  if (!degraded) return [];
  const some = `${count(degraded)} of ${many(searches, "search", "searches")} since ${clock(hours[0].from)}`;
  return [wants("queries", "degraded", `${some} had to do without something: ${lacked(summed(hours))}.`)];
}

/** Return the sentence at the top with what it is about; `to(about)` goes to the part that tells more. */
export function summary(items, status, to) {
  if (!items.length) {
    return [h("p", { class: "verdict" }, state("ok", "All is well.")), status && hint(held(status))];
  }
  const worst = items.some((one) => one.state === "failed") ? "failed" : "degraded";
  const verdict = `${count(items.length)} ${items.length === 1 ? "thing wants" : "things want"} attention.`;
  return [
    h("p", { class: "verdict" }, state(worst, verdict)),
    h(
      "ul",
      { class: "wanting" },
      items.map((one) => item(one, () => to(one.about))),
    ),
  ];
}

function held({ memories, searches, pending }) {
  const holds = `${many(memories, "memory", "memories")}, ${many(searches, "search", "searches")} counted.`;
  return pending ? `${holds} ${many(pending, "passage is", "passages are")} being embedded now.` : holds;
}

function item({ state: how, says, fix }, onclick) {
  const more = { type: "button", class: "quiet", "aria-label": `Show more: ${says}`, data: { keep: says }, onclick };
  return h("li", {}, state(how), h("div", {}, told(says), fix && command(fix)), h("button", more, "Show"));
}

// Summary of the health view: the problems found in the server's answers.

import { commandBlock, message } from "../app/command.js";
import { h } from "../app/dom.js";
import { count, plural } from "../app/format.js";
import { clock } from "./buckets.js";
import { groupByFix, worst } from "./doctor.js";
import { missingText, perHour, sumMissing } from "./load.js";
import { hint, state } from "./panels.js";

const UNAVAILABLE = {
  writes: "The store cannot be written.",
  store: "The store cannot be read.",
  embedder: "The embedder cannot be loaded: searches use keywords only.",
  reranker: "The reranker cannot be loaded: results are not reranked.",
};
const BEHIND = {
  vectors: "The vectors replica was behind a moment ago, or some vectors could not be made.",
  graph: "The graph replica was behind a moment ago.",
};
// For these components another answer is newer than doctor's, which may be an hour old.
const NEWER_SOURCE = { vectors: "status", "vectors server": "status", "graph server": "status", writing: "ready" };

const MODEL_PARTS = ["embedder", "reranker"]; // parts that need a model

/**
 * Return the problems, `[{about, state, says, fix}]`, in the answers that are available. `about` names the panel with
 * details, `fix` is the command that fixes the problem.
 */
export function problemsOf(answers) {
  const { ready, status, tiers, coverage, figures, findings } = answers;
  const known = [
    ...(status ? statusProblems(status) : []),
    ...(tiers?.tiers ?? []).filter((tier) => tier.state === "lost").map(tierProblem),
    ...(coverage?.counts.failed ? [filesProblem(coverage.counts.failed)] : []),
    ...(figures ? searchProblems(perHour(figures).slice(-2)) : []),
  ];
  const less = (ready?.degraded ?? [])
    .filter((name) => !known.some((problem) => problem.part === name))
    .map(partProblem);
  const found = groupByFix(
    (findings ?? []).filter((finding) => finding.state !== "ok" && !answers[NEWER_SOURCE[finding.component]]),
  );
  const model = found.find((group) => group[0].fix && group.some((finding) => finding.component === "model"));
  const others = found.filter((group) => group !== model).map(findingsProblem);
  if (!model) return [...known, ...less, ...others];
  const rest = [...known, ...less].filter((problem) => !MODEL_PARTS.includes(problem.part));
  return [modelProblem(model, status), ...rest, ...others];
}

// `part` is the name in /readyz, if it has one.
const problemItem = (about, how, says, part = "", fix = "") => ({ about, state: how, says, part, fix });

const partProblem = (name) =>
  problemItem(
    "doctor",
    name in UNAVAILABLE ? "failed" : "degraded",
    UNAVAILABLE[name] ?? BEHIND[name] ?? `Degraded: ${name}.`,
    name,
  );

function findingsProblem(group) {
  const details = group.map((finding) => `${finding.component}: ${finding.detail}`).join("; ");
  return problemItem("doctor", worst(group).state, details, "", group[0].fix);
}

// A missing model, and everything that follows from it.
function modelProblem(group, status) {
  const so = ["searches use keywords only"];
  if (status?.pending) so.push(`${plural(status.pending, "passage is", "passages are")} not embedded yet`);
  if (group.some((finding) => finding.component === "reranker")) so.push("results are not reranked");
  const { detail, fix } = group.find((finding) => finding.component === "model");
  return problemItem("doctor", worst(group).state, `The model ${detail}: ${so.join(", ")}.`, "", fix);
}

function statusProblems({ pending, why_pending, failed, failures, servers, extraction }) {
  const made = [];
  const late = (how, says, part) => made.push(problemItem("waiting", how, says, part));
  if (pending && why_pending) {
    late("degraded", `${plural(pending, "passage is", "passages are")} not embedded yet: ${why_pending}`, "embedder");
  }
  if (failed) {
    const why = failures[0] ?? "see the log";
    late("failed", `${plural(failed, "passage", "passages")} could not be embedded: ${why}`, "vectors");
  }
  for (const { tier, behind, reason } of servers) {
    if (reason) late("failed", `The ${tier} replica cannot be updated: ${reason}`, tier);
    else if (behind) late("degraded", `The ${tier} replica is ${plural(behind, "change", "changes")} behind.`, tier);
  }
  if (extraction.failed) {
    const why = Object.keys(extraction.failures)[0];
    late("failed", `${plural(extraction.failed, "message", "messages")} failed in the extraction of facts: ${why}`);
  }
  return made;
}

const tierProblem = (tier) =>
  problemItem("store", "failed", `The database of tier ${tier.name} is unavailable: ${tier.reason}`);
const filesProblem = (failed) =>
  problemItem("files", "degraded", `${plural(failed, "file", "files")} could not be read.`);

// This hour and the one before: a problem that is fixed disappears soon.
function searchProblems(hours) {
  const degraded = hours.reduce((all, hour) => all + hour.degraded, 0);
  const searches = hours.reduce((all, hour) => all + hour.searches, 0);
  if (!degraded) return [];
  const part = `${count(degraded)} of ${plural(searches, "search", "searches")} since ${clock(hours[0].from)}`;
  return [problemItem("queries", "degraded", `${part} ran without: ${missingText(sumMissing(hours))}.`)];
}

/** Draw the summary with the list of problems; `to(about)` goes to the panel with details. */
export function summary(items, status, to) {
  if (!items.length) {
    return [h("p", { class: "verdict" }, state("ok", "No problems found.")), status && hint(contentsText(status))];
  }
  const worst = items.some((problem) => problem.state === "failed") ? "failed" : "degraded";
  const verdict = `${count(items.length)} ${items.length === 1 ? "problem" : "problems"} found.`;
  return [
    h("p", { class: "verdict" }, state(worst, verdict)),
    h(
      "ul",
      { class: "wanting" },
      items.map((problem) => problemEntry(problem, () => to(problem.about))),
    ),
  ];
}

function contentsText({ memories, searches, pending }) {
  const holds = `${plural(memories, "memory", "memories")}, ${plural(searches, "search", "searches")} counted.`;
  return pending ? `${holds} ${plural(pending, "passage is", "passages are")} being embedded now.` : holds;
}

function problemEntry({ state: how, says, fix }, onclick) {
  const more = { type: "button", class: "quiet", "aria-label": `Show more: ${says}`, data: { keep: says }, onclick };
  return h("li", {}, state(how), h("div", {}, message(says), fix && commandBlock(fix)), h("button", more, "Show"));
}

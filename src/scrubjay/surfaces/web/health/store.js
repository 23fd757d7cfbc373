// What is stored: how much of what, with which models, in which files, and what still waits.

import { message } from "../app/command.js";
import { h } from "../app/dom.js";
import { count, figure, plural, size } from "../app/format.js";
import { facts, hint, list, state } from "./panels.js";

const ROLES = ["reranker", "generator"];
const MODEL_LABELS = {
  late: "late interaction, by the embedder's token vectors",
  corpus: "words of the texts found first",
};

/** What waits for a vector, for its links, for a language model or for a server, and why. */
export function pendingWork({ status, findings }) {
  const { extraction, servers } = status;
  const fix = findings?.find((finding) => finding.component === "vectors")?.fix;
  const rows = [
    [
      status.pending,
      ["passage waits", "passages wait"],
      "for a vector",
      status.why_pending || "They are made now.",
      fix,
    ],
    [status.failed, ["passage", "passages"], "could not be embedded", status.failures.join(" ")],
    [status.unlinked, ["memory waits", "memories wait"], "for links", "They follow the vectors."],
    [extraction.waiting, ["message waits", "messages wait"], "for facts", extraction.model ?? "There is no generator."],
    [extraction.failed, ["message", "messages"], "gave no facts", Object.keys(extraction.failures).join(" ")],
    ...servers.map((replica) => [
      replica.behind,
      ["change waits", "changes wait"],
      `for the server of ${replica.tier}`,
      replica.reason,
    ]),
  ].filter(([some]) => some);
  if (rows.length) {
    const row = ([some, words, what, why, better]) => [
      h("b", {}, plural(some, ...words)),
      ` ${what}.`,
      h("div", { class: "hint" }, message(why, better)),
    ];
    return list(rows.map(row));
  }
  const whole = "Everything that is stored has its vectors and links.";
  return h(
    "p",
    {},
    state("ok", "Nothing waits."),
    " ",
    status.model ? whole : "Without an embedder nothing gets a vector.",
  );
}

/** How much there is, and how large it is. */
export function sizes(status) {
  const talk = `${count(status.messages)} in ${plural(status.sessions, "conversation", "conversations")}`;
  return facts([
    ["Memories", count(status.memories)],
    ["of them documents", status.documents ? count(status.documents) : null],
    ["of them messages", status.messages ? talk : null],
    ["Passages", count(status.chunks)],
    ["Links", count(status.links)],
    ["Feedback", count(status.feedback)],
    ["Size", size(status.size_bytes)],
    ["Schema", String(status.schema)],
    ["Store", h("code", {}, status.path)],
  ]);
}

/** The models, with the vectors of each, and how doctor finds those that make none. */
export function models({ status, findings }) {
  const own = status.model ? { [status.model]: 0 } : {}; // it is named before it has made a vector
  const rows = Object.entries({ ...own, ...status.models }).map(([name, vectors]) => {
    const role = name === status.model ? "embedder" : "earlier embedder";
    return [role, [h("b", {}, name), hint(embeddingText(vectors, status.short_vectors[name]))]];
  });
  for (const role of ROLES) {
    const finding = findings?.find((candidate) => candidate.component === role);
    const name = status[role];
    rows.push([
      role,
      [
        h("b", {}, MODEL_LABELS[name] ?? name ?? "none"),
        finding && h("div", { class: "hint" }, state(finding.state), " ", message(finding.detail)),
      ],
    ]);
  }
  return [!status.model && h("p", { class: "said" }, "No embedder: searches are by word."), facts(rows)];
}

function embeddingText(vectors, short) {
  const parts = [plural(vectors, "vector", "vectors")];
  if (short) parts.unshift(plural(short.dims, "dimension", "dimensions"));
  if (short)
    parts.push(short.short_dims === null ? `compared without a shortlist (${short.why_not})` : shortlistText(short));
  return parts.join(", ");
}

function shortlistText(short) {
  const recall =
    short.recall === null ? "" : `, recall ${figure(short.recall)} in ${plural(short.trials, "trial", "trials")}`;
  return `a shortlist of ${count(short.shortlist)} by ${count(short.short_dims)} dimensions${recall}`;
}

/** The files that are searched, which the shell calls tiers, too, and the servers that hold copies. */
export function tierList({ tiers, servers }) {
  return [
    h("h3", {}, "Files of the store (agent, project, team)"),
    list(tiers.map(tierEntry)),
    h("h3", {}, "Servers"),
    servers.length ? list(servers.map(replicaEntry)) : hint("None: vectors and links are in the store itself."),
  ];
}

function tierEntry(tier) {
  const how = tier.state === "open" ? state("ok", "open") : state("failed", "lost");
  const holds = tier.memories === null ? [] : [plural(tier.memories, "memory", "memories")];
  const says = [...holds, `weight ${figure(tier.weight)}`, ...(tier.own ? ["written to"] : [])].join(", ");
  return placeEntry(tier.name, how, says, tier.path, tier.reason);
}

function replicaEntry(replica) {
  const behind = replica.behind ? `${plural(replica.behind, "change", "changes")} behind` : "knows everything";
  const how = replica.behind ? state("degraded", "behind") : state("ok");
  return placeEntry(
    replica.tier,
    replica.reason ? state("failed", "not told") : how,
    behind,
    replica.place,
    replica.reason,
  );
}

function placeEntry(name, how, says, where, reason) {
  return [h("b", {}, name), " ", how, h("br"), says, h("br"), h("code", {}, where), reason && hint(reason)];
}

/** Files that were read, or were not, and why. */
export function fileCoverage({ counts, files }) {
  if (!counts.indexed && !counts.skipped && !counts.failed) return hint("No file was read into this store.");
  const wrong = files.filter((file) => file.state !== "indexed");
  const how = (file) => state(file.state === "failed" ? "failed" : "missing", file.state);
  return [
    facts([
      ["Read", count(counts.indexed)],
      ["Skipped", count(counts.skipped)],
      ["Failed", count(counts.failed)],
    ]),
    list(wrong.map((file) => [how(file), " ", h("code", {}, file.path), hint(file.reason)])),
  ];
}

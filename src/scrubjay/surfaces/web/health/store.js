// What is stored: how much of what, with which models, in which files, and what still waits.

import { told } from "../app/command.js";
import { h } from "../app/dom.js";
import { count, figure, many, size } from "../app/format.js";
import { facts, hint, list, state } from "./panels.js";

const ROLES = ["reranker", "generator"];
const KNOWN = { late: "late interaction, by the embedder's token vectors", corpus: "words of the texts found first" };

/** What waits for a vector, for its links, for a language model or for a server, and why. */
export function waiting({ status, findings }) {
  const { extraction, servers } = status;
  const fix = findings?.find((one) => one.component === "vectors")?.fix;
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
    ...servers.map((one) => [
      one.behind,
      ["change waits", "changes wait"],
      `for the server of ${one.tier}`,
      one.reason,
    ]),
  ].filter(([some]) => some);
  if (rows.length) {
    const row = ([some, words, what, why, better]) => [
      h("b", {}, many(some, ...words)),
      ` ${what}.`,
      h("div", { class: "hint" }, told(why, better)),
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
  const talk = `${count(status.messages)} in ${many(status.sessions, "conversation", "conversations")}`;
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
    return [role, [h("b", {}, name), hint(embedding(vectors, status.short_vectors[name]))]];
  });
  for (const role of ROLES) {
    const said = findings?.find((one) => one.component === role);
    const name = status[role];
    rows.push([
      role,
      [
        h("b", {}, KNOWN[name] ?? name ?? "none"),
        said && h("div", { class: "hint" }, state(said.state), " ", told(said.detail)),
      ],
    ]);
  }
  return [!status.model && h("p", { class: "said" }, "No embedder: searches are by word."), facts(rows)];
}

function embedding(vectors, short) {
  const said = [many(vectors, "vector", "vectors")];
  if (short) said.unshift(many(short.dims, "dimension", "dimensions"));
  if (short)
    said.push(short.short_dims === null ? `compared without a shortlist (${short.why_not})` : shortlist(short));
  return said.join(", ");
}

function shortlist(short) {
  const recall =
    short.recall === null ? "" : `, recall ${figure(short.recall)} in ${many(short.trials, "trial", "trials")}`;
  return `a shortlist of ${count(short.shortlist)} by ${count(short.short_dims)} dimensions${recall}`;
}

/** The files that are searched, which the shell calls tiers, too, and the servers that hold copies. */
export function places({ tiers, servers }) {
  return [
    h("h3", {}, "Files of the store (agent, project, team)"),
    list(tiers.map(tier)),
    h("h3", {}, "Servers"),
    servers.length ? list(servers.map(copy)) : hint("None: vectors and links are in the store itself."),
  ];
}

function tier(one) {
  const how = one.state === "open" ? state("ok", "open") : state("failed", "lost");
  const holds = one.memories === null ? [] : [many(one.memories, "memory", "memories")];
  const says = [...holds, `weight ${figure(one.weight)}`, ...(one.own ? ["written to"] : [])].join(", ");
  return place(one.name, how, says, one.path, one.reason);
}

function copy(one) {
  const behind = one.behind ? `${many(one.behind, "change", "changes")} behind` : "knows everything";
  const how = one.behind ? state("degraded", "behind") : state("ok");
  return place(one.tier, one.reason ? state("failed", "not told") : how, behind, one.place, one.reason);
}

function place(name, how, says, where, reason) {
  return [h("b", {}, name), " ", how, h("br"), says, h("br"), h("code", {}, where), reason && hint(reason)];
}

/** Files that were read, or were not, and why. */
export function covered({ counts, files }) {
  if (!counts.indexed && !counts.skipped && !counts.failed) return hint("No file was read into this store.");
  const wrong = files.filter((one) => one.state !== "indexed");
  const how = (one) => state(one.state === "failed" ? "failed" : "missing", one.state);
  return [
    facts([
      ["Read", count(counts.indexed)],
      ["Skipped", count(counts.skipped)],
      ["Failed", count(counts.failed)],
    ]),
    list(wrong.map((one) => [how(one), " ", h("code", {}, one.path), hint(one.reason)])),
  ];
}

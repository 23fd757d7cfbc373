// Health panels about storage: pending work, sizes, models, databases, replicas and ingested files.

import { message } from "../app/command.js";
import { h } from "../app/dom.js";
import { count, figure, plural, size } from "../app/format.js";
import { facts, hint, list, state } from "./panels.js";

const ROLES = ["reranker", "generator"];
const MODEL_LABELS = {
  late: "late interaction, with the embedder's token vectors",
  corpus: "words of the first texts found",
};

/** Draw the pending work: vectors, links, extraction of facts and updates of replicas, with reasons. */
export function pendingWork({ status, findings }) {
  const { extraction, servers } = status;
  const fix = findings?.find((finding) => finding.component === "vectors")?.fix;
  const rows = [
    [
      status.pending,
      ["passage is", "passages are"],
      "not embedded yet",
      status.why_pending || "Embedding is in progress.",
      fix,
    ],
    [status.failed, ["passage", "passages"], "could not be embedded", status.failures.join(" ")],
    [status.unlinked, ["memory is", "memories are"], "not linked yet", "Links are added after the vectors."],
    [
      status.uncompared,
      ["memory is", "memories are"],
      "not compared with earlier ones yet",
      status.why_uncompared || "Changes are detected after the vectors.",
    ],
    [
      extraction.waiting,
      ["message waits", "messages wait"],
      "for the extraction of facts",
      extraction.model ?? "No generator is configured.",
    ],
    [
      extraction.failed,
      ["message", "messages"],
      "failed in the extraction of facts",
      Object.keys(extraction.failures).join(" "),
    ],
    ...servers.map((replica) => [
      replica.behind,
      ["change waits", "changes wait"],
      `for the ${replica.tier} replica`,
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
  const whole = "All memories have vectors and links.";
  return h(
    "p",
    {},
    state("ok", "No pending work."),
    " ",
    status.model ? whole : "Without an embedder, memories get no vectors.",
  );
}

/** Draw the counts and the size of the store. */
export function sizes(status) {
  const talk = `${count(status.messages)} in ${plural(status.sessions, "conversation", "conversations")}`;
  return facts([
    ["Memories", count(status.memories)],
    ["Documents among them", status.documents ? count(status.documents) : null],
    ["Messages among them", status.messages ? talk : null],
    ["Passages", count(status.chunks)],
    ["Links", count(status.links)],
    ["Feedback", count(status.feedback)],
    ["Size", size(status.size_bytes)],
    ["Schema", String(status.schema)],
    ["Store", h("code", {}, status.path)],
  ]);
}

/** Draw the models: embedders with their vectors, and the others with doctor's findings. */
export function models({ status, findings }) {
  const own = status.model ? { [status.model]: 0 } : {}; // listed even before its first vector
  const rows = Object.entries({ ...own, ...status.models }).map(([name, vectors]) => {
    const role = name === status.model ? "embedder" : "earlier embedder";
    return [
      role,
      [h("b", {}, name), hint(embeddingText(vectors, status.short_vectors[name], status.vector_cells?.[name]))],
    ];
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
  return [!status.model && h("p", { class: "notice" }, "No embedder: searches use keywords only."), facts(rows)];
}

function embeddingText(vectors, short, cells) {
  const parts = [plural(vectors, "vector", "vectors")];
  if (short) parts.unshift(plural(short.dims, "dimension", "dimensions"));
  if (cells?.probed)
    parts.push(`the nearest ${count(cells.probed)} of ${count(cells.cells)} cells, recall ${figure(cells.recall)}`);
  else if (short)
    parts.push(short.short_dims === null ? `compared without a shortlist (${short.why_not})` : shortlistText(short));
  return parts.join(", ");
}

function shortlistText(short) {
  const recall =
    short.recall === null ? "" : `, recall ${figure(short.recall)} in ${plural(short.trials, "trial", "trials")}`;
  return `a shortlist of ${count(short.shortlist)} by ${count(short.short_dims)} dimensions${recall}`;
}

/** Draw the tiers (databases that are searched together) and the replicas. */
export function tierList({ tiers, servers }) {
  return [
    h("h3", {}, "Tiers (agent, project, team)"),
    list(tiers.map(tierEntry)),
    h("h3", {}, "Replicas"),
    servers.length ? list(servers.map(replicaEntry)) : hint("None: vectors and links are in the database."),
  ];
}

function tierEntry(tier) {
  const how = tier.state === "open" ? state("ok", "open") : state("failed", "unavailable");
  const holds = tier.memories === null ? [] : [plural(tier.memories, "memory", "memories")];
  const says = [...holds, `weight ${figure(tier.weight)}`, ...(tier.own ? ["written to"] : [])].join(", ");
  return placeEntry(tier.name, how, says, tier.path, tier.reason);
}

function replicaEntry(replica) {
  if (replica.dropped) {
    const refill = `To fill it again, run: scrubjay reindex ${replica.tier}`;
    return placeEntry(replica.tier, state("degraded", "dropped"), "not in use", replica.place, refill);
  }
  const behind = replica.behind ? `${plural(replica.behind, "change", "changes")} behind` : "up to date";
  const how = replica.behind ? state("degraded", "behind") : state("ok");
  return placeEntry(
    replica.tier,
    replica.reason ? state("failed", "not updated") : how,
    behind,
    replica.place,
    replica.reason,
  );
}

function placeEntry(name, how, says, where, reason) {
  return [h("b", {}, name), " ", how, h("br"), says, h("br"), h("code", {}, where), reason && hint(reason)];
}

/** Draw the counts of ingested files, and the files that failed or were skipped. */
export function fileCoverage({ counts, files }) {
  if (!counts.indexed && !counts.skipped && !counts.failed) return hint("No files were ingested.");
  const wrong = files.filter((file) => file.state !== "indexed");
  const how = (file) => state(file.state === "failed" ? "failed" : "missing", file.state);
  return [
    facts([
      ["Ingested", count(counts.indexed)],
      ["Skipped", count(counts.skipped)],
      ["Failed", count(counts.failed)],
    ]),
    list(wrong.map((file) => [how(file), " ", h("code", {}, file.path), hint(file.reason)])),
  ];
}

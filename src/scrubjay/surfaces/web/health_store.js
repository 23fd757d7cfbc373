// What is stored: how much of what, with which models, in which files, and what still waits.

import { h } from "./dom.js";
import { facts, state, table, tally } from "./health_parts.js";
import { link } from "./route.js";
import { age, count, figure, many, moment, size } from "./words.js";

const ROLES = ["reranker", "generator"];

/** What waits for a vector, for its links, for a language model or for a server, and why. */
export function waiting(status) {
  const rows = [
    [status.pending, many(status.pending, "passage waits", "passages wait"), "for a vector", status.why_pending || "They are made now."],
    [status.failed, many(status.failed, "passage", "passages"), "could not be embedded", status.failures.join(" ")],
    [status.unlinked, many(status.unlinked, "memory waits", "memories wait"), "for its links", "They follow the vectors."],
    [status.extraction.waiting, many(status.extraction.waiting, "message waits", "messages wait"), "for facts to be drawn", status.extraction.model ?? "No generator is configured."],
    [status.extraction.failed, many(status.extraction.failed, "message", "messages"), "gave no facts", Object.keys(status.extraction.failures).join(" ")],
    ...status.servers.map((one) => [one.behind || one.reason, many(one.behind, "change waits", "changes wait"), `for the server of ${one.tier}`, one.reason]),
  ].filter(([some]) => some);
  const whole = status.model ? "Everything that is stored has its vectors and links." : "Without an embedder nothing gets a vector.";
  if (!rows.length) return h("p", {}, state("ok", "Nothing waits."), " ", whole);
  return h("ul", { class: "waiting" }, rows.map(([, many_, what, why]) => h("li", {}, h("b", {}, many_), ` ${what}. `, h("span", { class: "hint", dir: "auto" }, why))));
}

/** How much there is, and how large it is. */
export function sizes(status) {
  return facts([
    ["Memories", count(status.memories)],
    ["of them documents", status.documents ? count(status.documents) : null],
    ["of them messages", status.messages ? `${count(status.messages)} in ${many(status.sessions, "conversation", "conversations")}` : null],
    ["Passages", count(status.chunks)],
    ["Links", count(status.links)],
    ["Feedback", count(status.feedback)],
    ["Size", size(status.size_bytes)],
    ["Schema", String(status.schema)],
    ["Store", h("code", {}, status.path)],
  ]);
}

/** The models, with the vectors of each, and what doctor says of those that it alone knows. */
export function models({ status, findings }) {
  const rows = Object.entries({ ...(status.model ? { [status.model]: 0 } : {}), ...status.models }).map(([name, vectors]) => {
    const short = status.short_vectors[name];
    const dims = short && many(short.dims, "dimension", "dimensions");
    const said = [dims, many(vectors, "vector", "vectors"), short && shortened(short)].filter(Boolean);
    return [name === status.model ? "embedder" : "earlier embedder", name, said.join(", ")];
  });
  for (const role of ROLES) {
    const said = findings?.find((one) => one.component === role);
    if (said) rows.push([role, state(said.state), said.detail]);
  }
  const drawing = status.extraction.model;
  if (drawing && !findings) rows.push(["generator", drawing, ""]);
  return [
    status.model ? null : h("p", { class: "said" }, "No embedder: searches are by word."),
    h("dl", { class: "facts models" }, rows.map(([role, name, says]) => h("div", {}, h("dt", {}, role), h("dd", {}, h("b", {}, name), h("p", { class: "hint", dir: "auto" }, says))))),
    findings ? null : h("p", { class: "hint" }, "Doctor tells of the reranker and the generator."),
  ];
}

function shortened(short) {
  if (short.short_dims === null) return `compared whole: ${short.why_not}`;
  const recall = short.recall === null ? "" : `, recall ${figure(short.recall)} in ${many(short.trials, "trial", "trials")}`;
  return `a shortlist of ${count(short.shortlist)} by ${count(short.short_dims)} dimensions${recall}`;
}

/** The files that are searched, and the servers that hold copies. */
export function places({ tiers, servers }) {
  const files = tiers.map((one) => {
    const holds = one.memories === null ? "" : `${many(one.memories, "memory", "memories")}, `;
    return place(one.name, one.state === "open" ? state("ok", "open") : state("failed", "lost"), `${holds}weight ${figure(one.weight)}${one.own ? ", written to" : ""}`, one.path, one.reason);
  });
  const copies = servers.map((one) => place(one.tier, told(one), one.behind ? `${many(one.behind, "change", "changes")} behind` : "knows everything", one.place, one.reason));
  return [
    h("h3", {}, "Tiers"),
    h("ul", { class: "waiting" }, files),
    h("h3", {}, "Servers"),
    copies.length ? h("ul", { class: "waiting" }, copies) : h("p", { class: "hint" }, "None: vectors and links are in the store itself."),
  ];
}

function told(server) {
  if (server.reason) return state("failed", "not told");
  return server.behind ? state("degraded", "behind") : state("ok");
}

function place(name, how, says, where, reason) {
  return h("li", {}, h("b", {}, name), " ", how, h("br"), says, h("br"), h("code", {}, where), reason && h("p", { class: "hint", dir: "auto" }, reason));
}

/** Files that were read, or were not, and why. */
export function covered({ counts, files }) {
  if (!counts.indexed && !counts.skipped && !counts.failed) return h("p", { class: "hint" }, "No file was read into this store.");
  const wrong = files.filter((one) => one.state !== "indexed");
  return [
    facts([["Read", count(counts.indexed)], ["Skipped", count(counts.skipped)], ["Failed", count(counts.failed)]]),
    wrong.length > 0 && h("ul", { class: "waiting" }, wrong.map((one) => h("li", {}, state(one.state === "failed" ? "failed" : "missing", one.state), " ", h("code", {}, one.path), " ", h("span", { class: "hint" }, one.reason)))),
  ];
}

/** Counts of each type and each namespace; a click searches there. */
export function kinds(status) {
  return [
    h("h3", {}, "By type"),
    tally(status.types, { to: (name) => link("search", { types: name }) }),
    h("h3", {}, "By namespace"),
    tally(status.namespaces, { to: (name) => link("search", { namespace: name }) }),
  ];
}

/** The topics that most memories have, and the collections; a click searches there. */
export function grouped({ topics, collections }) {
  const named = Object.fromEntries(collections.map((one) => [one.name, one.memories]));
  return [
    h("h3", {}, "Topics"),
    tally(Object.fromEntries(topics.map((one) => [one.topic, one.memories])), { to: (name) => link("search", { topics: name }) }),
    h("h3", {}, "Collections"),
    tally(named, { to: (name) => link("search", { collection: name }) }),
  ];
}

/** What is soon no longer valid, soonest first. */
export function expiring({ memories }) {
  if (!memories.length) return h("p", { class: "hint" }, "Nothing expires soon.");
  return h("ul", { class: "waiting" }, memories.map((one) =>
    h("li", {}, h("a", { href: link("search", { id: one.id }), dir: "auto", data: { keep: one.id } }, one.title || one.text.slice(0, 120)), " ", h("span", { class: "hint", title: moment(one.valid_until) }, age(one.valid_until))),
  ));
}

/** True for weights that feedback moves, or has moved. */
export const learns = (one) => one.accepted + one.modified + one.dismissed > 0 && (one.needed !== null || one.shift !== 0);

/** The weights in force of profiles that learn; what they were before stands beside them. */
export function learned(all) {
  return all.map((one) => [
    h("h3", {}, one.profile, one.frozen && h("span", { class: "chip" }, "frozen")),
    h("p", { class: "hint" }, heard(one)),
    table(`Weights of ${one.profile}`, [["Weight"], ["In force", true], ["Before", true]], Object.entries(one.weights).map(([name, value]) => [name, figure(value), figure(one.base[name] ?? value)])),
  ]);
}

function heard(one) {
  const given = one.accepted + one.modified + one.dismissed;
  const moved = one.shift ? `the weight of the text moved by ${figure(one.shift)}` : `weights move from ${count(one.needed)} on`;
  return `${many(given, "feedback", "feedbacks")} (${count(one.accepted)} accepted, ${count(one.modified)} modified, ${count(one.dismissed)} dismissed); ${moved}.`;
}

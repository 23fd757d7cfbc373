// Without a query: what is stored, newest first, or one conversation as it was said, and ways into it.

import { ask } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { age, count, many, moment } from "../app/format.js";
import { topicChip } from "./answer.js";
import { conversation } from "./hit.js";
import { stored } from "./list.js";
import { active, onlySearched } from "./query.js";

const MOST_TOPICS = 30;
const MOST_SESSIONS = 100;
const FIRST_SESSIONS = 6;

/** Draw the overview into a node: the list, and beside it conversations, topics, collections, types, what waits. */
export async function overview(node, asked, of, signal) {
  const [list, status, { topics }, { collections }, { sessions }] = await Promise.all([
    stored(asked, of, signal),
    ask("status", {}, { signal }),
    ask("topics", { limit: MOST_TOPICS }, { signal }),
    ask("collections", {}, { signal }),
    ask("sessions", { limit: MOST_SESSIONS }, { signal }),
  ]);
  const left = onlySearched(asked);
  put(
    node,
    h(
      "div",
      { class: "overview" },
      h(
        "div",
        {},
        h("h2", {}, headingOf(asked)),
        left.length > 0 && h("p", { class: "said" }, `${left.join(", ")}: counted only where there is a query.`),
        list.isEmpty ? nothing(asked, of) : list.nodes,
      ),
      h("aside", { "aria-label": "What is stored" }, aside({ status, topics, collections, sessions }, of)),
    ),
  );
}

function headingOf(asked) {
  if (asked.session) return ["The conversation ", h("bdi", {}, asked.session)];
  return active(asked).length ? "Newest that fit the filters" : "Newest";
}

function nothing(asked, of) {
  if (active(asked).length) return h("p", { class: "hint" }, "Nothing stored fits the filters.");
  if (!of.may.write) return h("p", { class: "hint" }, "Nothing is stored yet.");
  const add = h("button", { type: "button", class: "main", onclick: of.add }, "Add a memory");
  return [
    h("p", {}, "Nothing is stored yet."),
    h(
      "p",
      { class: "actions" },
      add,
      h("span", { class: "hint" }, "or have a folder read: ", h("code", {}, "scrubjay ingest FOLDER")),
    ),
  ];
}

function aside({ status, topics, collections, sessions }, of) {
  const types = Object.entries(status.types).sort((a, b) => b[1] - a[1]);
  const waits = [
    status.pending > 0 &&
      `${many(status.pending, "text waits", "texts wait")} for a vector${status.why_pending ? `: ${status.why_pending}` : ""}`,
    status.failed > 0 && `${many(status.failed, "text", "texts")} could not be embedded`,
    status.unlinked > 0 && `${many(status.unlinked, "memory waits", "memories wait")} for links`,
    status.extraction.waiting > 0 &&
      `${many(status.extraction.waiting, "message waits", "messages wait")} to be read for facts`,
  ].filter(Boolean);
  return [
    h("h2", {}, "Stored"),
    h("p", {}, inAll(status)),
    waits.map((one) => h("p", { class: "said" }, one, ". ", h("a", { href: "#/health" }, "Health"))),
    sessions.length > 0 && [h("h3", {}, "Conversations"), conversations(sessions, status.sessions)],
    types.length > 0 &&
      block(
        "Types",
        types.map(([type, memories]) => chip("types", type, memories, of)),
      ),
    topics.length > 0 &&
      block(
        "Topics",
        topics.map(({ topic, memories }) => topicChip(topic, memories, of)),
      ),
    collections.length > 0 &&
      block(
        "Collections",
        collections.map(({ name, memories }) => chip("collection", name, memories, of)),
      ),
  ];
}

/** Say how much is stored: documents and messages are memories, too. */
function inAll({ memories, documents, messages }) {
  const parts = [
    documents > 0 && many(documents, "document", "documents"),
    messages > 0 && many(messages, "message", "messages"),
  ].filter(Boolean);
  return [many(memories, "memory", "memories"), parts.length && `of them ${parts.join(" and ")}`]
    .filter(Boolean)
    .join(", ");
}

function conversations(sessions, all) {
  const row = (one) =>
    h(
      "li",
      {},
      h("a", { href: conversation(one) }, h("bdi", {}, one.session)),
      h(
        "span",
        { class: "hint", title: moment(one.last_at) },
        ` ${many(one.messages, "message", "messages")}, ${age(one.last_at)}`,
      ),
    );
  const rest = sessions.slice(FIRST_SESSIONS);
  return [
    h("ul", { class: "plain" }, sessions.slice(0, FIRST_SESSIONS).map(row)),
    rest.length > 0 &&
      h(
        "details",
        {},
        h(
          "summary",
          { class: "hint" },
          all > sessions.length ? `the next ${count(rest.length)} of ${count(all)}` : `${count(rest.length)} more`,
        ),
        h("ul", { class: "plain" }, rest.map(row)),
      ),
  ];
}

const block = (title, chips) => [h("h3", {}, title), h("p", { class: "topics" }, chips)];

function chip(name, value, memories, of) {
  return h(
    "button",
    { type: "button", class: "chip", onclick: () => of.filter(name, value) },
    h("bdi", {}, value),
    h("span", { class: "hint" }, ` ${count(memories)}`),
  );
}

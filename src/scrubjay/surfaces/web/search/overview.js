// Overview without a query: newest memories or one conversation, and a sidebar of topics, types and conversations.

import { call } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { age, count, moment, plural } from "../app/format.js";
import { topicChip } from "./answer.js";
import { conversationLink } from "./hit.js";
import { storedList } from "./list.js";
import { activeFilters, searchOnlyFilters } from "./query.js";

const MOST_TOPICS = 30;
const MOST_SESSIONS = 100;
const FIRST_SESSIONS = 6;

/** Draw the overview into a node: the list, and a sidebar of conversations, topics, collections, types and pending work. */
export async function overview(node, request, of, signal) {
  const [list, status, { topics }, { collections }, { sessions }] = await Promise.all([
    storedList(request, of, signal),
    call("status", {}, { signal }),
    call("topics", { limit: MOST_TOPICS }, { signal }),
    call("collections", {}, { signal }),
    call("sessions", { limit: MOST_SESSIONS }, { signal }),
  ]);
  const left = searchOnlyFilters(request);
  put(
    node,
    h(
      "div",
      { class: "overview" },
      h(
        "div",
        {},
        h("h2", {}, listHeading(request)),
        left.length > 0 && h("p", { class: "notice" }, `${left.join(", ")}: applies only to a search with a query.`),
        list.isEmpty ? emptyList(request, of) : list.nodes,
      ),
      h("aside", { "aria-label": "What is stored" }, sidebar({ status, topics, collections, sessions }, of)),
    ),
  );
}

function listHeading(request) {
  if (request.session) return ["The conversation ", h("bdi", {}, request.session)];
  return activeFilters(request).length ? "Newest that match the filters" : "Newest";
}

function emptyList(request, of) {
  if (activeFilters(request).length) return h("p", { class: "hint" }, "No stored memory matches the filters.");
  if (!of.may.write) return h("p", { class: "hint" }, "Nothing is stored yet.");
  const add = h("button", { type: "button", class: "main", onclick: of.add }, "Add a memory");
  return [
    h("p", {}, "Nothing is stored yet."),
    h(
      "p",
      { class: "actions" },
      add,
      h("span", { class: "hint" }, "or ingest a folder: ", h("code", {}, "scrubjay ingest FOLDER")),
    ),
  ];
}

function sidebar({ status, topics, collections, sessions }, of) {
  const types = Object.entries(status.types).sort((a, b) => b[1] - a[1]);
  const waits = [
    status.pending > 0 &&
      `${plural(status.pending, "passage is", "passages are")} not embedded yet${status.why_pending ? `: ${status.why_pending}` : ""}`,
    status.failed > 0 && `${plural(status.failed, "passage", "passages")} could not be embedded`,
    status.unlinked > 0 && `${plural(status.unlinked, "memory is", "memories are")} not linked yet`,
    status.extraction.waiting > 0 &&
      `${plural(status.extraction.waiting, "message waits", "messages wait")} for the extraction of facts`,
  ].filter(Boolean);
  return [
    h("h2", {}, "Stored"),
    h("p", {}, totals(status)),
    waits.map((text) => h("p", { class: "notice" }, text, ". ", h("a", { href: "#/health" }, "Health"))),
    sessions.length > 0 && [h("h3", {}, "Conversations"), conversations(sessions, status.sessions)],
    types.length > 0 &&
      chipBlock(
        "Types",
        types.map(([type, memories]) => chip("types", type, memories, of)),
      ),
    topics.length > 0 &&
      chipBlock(
        "Topics",
        topics.map(({ topic, memories }) => topicChip(topic, memories, of)),
      ),
    collections.length > 0 &&
      chipBlock(
        "Collections",
        collections.map(({ name, memories }) => chip("collection", name, memories, of)),
      ),
  ];
}

/** Return the number of memories, and how many of them are documents and messages. */
function totals({ memories, documents, messages }) {
  const parts = [
    documents > 0 && plural(documents, "document", "documents"),
    messages > 0 && plural(messages, "message", "messages"),
  ].filter(Boolean);
  return [plural(memories, "memory", "memories"), parts.length && `of them ${parts.join(" and ")}`]
    .filter(Boolean)
    .join(", ");
}

function conversations(sessions, all) {
  const row = (session) =>
    h(
      "li",
      {},
      h("a", { href: conversationLink(session) }, h("bdi", {}, session.session)),
      h(
        "span",
        { class: "hint", title: moment(session.last_at) },
        ` ${plural(session.messages, "message", "messages")}, ${age(session.last_at)}`,
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

const chipBlock = (title, chips) => [h("h3", {}, title), h("p", { class: "topics" }, chips)];

function chip(name, value, memories, of) {
  return h(
    "button",
    { type: "button", class: "chip", onclick: () => of.filter(name, value) },
    h("bdi", {}, value),
    h("span", { class: "hint" }, ` ${count(memories)}`),
  );
}

// Without a query: what is stored, newest first, and ways into it.

import { alone } from "./alone.js";
import { ask } from "./api.js";
import { active, listBody, onlySearched } from "./asked.js";
import { topicChip } from "./answer.js";
import { h, put } from "./dom.js";
import { card } from "./hit.js";
import { saying } from "./toast.js";
import { many } from "./words.js";

const PAGE = 20;
const MOST_TOPICS = 30;

/** Draw the overview into a node: the list with a button for more, and beside it topics, collections, types, what waits. */
export async function overview(node, asked, of, signal) {
  const filtered = active(asked).length > 0;
  const body = listBody(asked);
  const [first, status, topics, collections] = await Promise.all([
    ask("ls", { ...body, limit: PAGE + 1 }, { signal }),
    ask("status", {}, { signal }),
    ask("topics", { limit: MOST_TOPICS }, { signal }),
    ask("collections", {}, { signal }),
  ]);
  const list = h("ol", { class: "cards" });
  const more = h("p", { class: "actions" });
  let shown = 0;
  const append = (memories) => {
    list.append(...memories.slice(0, PAGE).map((one) => h("li", {}, card(one, 0, of))));
    shown += Math.min(memories.length, PAGE);
    put(more, memories.length > PAGE && h("button", { type: "button", onclick: next }, "More"));
  };
  const next = alone(async () => {
    const answer = await saying(() => ask("ls", { ...body, limit: PAGE + 1, offset: shown }, { signal }));
    if (!answer) return;
    const from = list.children.length;
    append(answer.memories);
    list.children[from]?.firstElementChild.focus(); // the button may be gone
  });
  append(first.memories);
  const left = onlySearched(asked);
  put(
    node,
    h(
      "div",
      { class: "overview" },
      h(
        "div",
        {},
        h("h2", {}, filtered ? "Newest that fit the filters" : "Newest"),
        left.length > 0 && h("p", { class: "said" }, `${left.join(", ")}: counted only where there is a query.`),
        first.memories.length ? list : h("p", { class: "hint" }, filtered ? "Nothing stored fits the filters." : empty(of)),
        more,
      ),
      h("aside", { "aria-label": "What is stored" }, aside(status, topics.topics, collections.collections, of)),
    ),
  );
}

const empty = (of) => (of.may.write ? "Nothing is stored yet. Press n to add a memory, or run scrubjay ingest on a folder." : "Nothing is stored yet.");

function aside(status, topics, collections, of) {
  const types = Object.entries(status.types).sort((a, b) => b[1] - a[1]);
  const waits = [
    status.pending > 0 && `${many(status.pending, "text waits", "texts wait")} for a vector${status.why_pending ? `: ${status.why_pending}` : ""}`,
    status.failed > 0 && `${many(status.failed, "text", "texts")} could not be embedded`,
    status.unlinked > 0 && `${many(status.unlinked, "memory waits", "memories wait")} for links`,
    status.extraction.waiting > 0 && `${many(status.extraction.waiting, "message waits", "messages wait")} to be read for facts`,
  ].filter(Boolean);
  return [
    h("h2", {}, "Stored"),
    h("p", {}, [many(status.memories, "memory", "memories"), many(status.documents, "document", "documents"), many(status.messages, "message", "messages")].join(", ")),
    waits.map((one) => h("p", { class: "said" }, one, ". ", h("a", { href: "#/health" }, "Health"))),
    types.length > 0 && block("Types", types.map(([type, count]) => chip("types", type, count, of))),
    topics.length > 0 && block("Topics", topics.map(({ topic, memories }) => topicChip(topic, memories, of))),
    collections.length > 0 && block("Collections", collections.map(({ name, memories }) => chip("collection", name, memories, of))),
  ];
}

const block = (title, chips) => [h("h3", {}, title), h("p", { class: "topics" }, chips)];

function chip(name, value, count, of) {
  return h("button", { type: "button", class: "chip", onclick: () => of.filter(name, value) }, h("bdi", {}, value), h("span", { class: "hint" }, ` ${count}`));
}

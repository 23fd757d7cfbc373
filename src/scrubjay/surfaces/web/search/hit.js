// Card of one hit, or of one memory in a list.

import { call } from "../app/api.js";
import { h, put, uniqueId } from "../app/dom.js";
import { age, figure, moment, points } from "../app/format.js";
import { link } from "../app/route.js";
import { excerpt, highlight, longText, markedWords, visible } from "../app/stored_text.js";
import { attempt } from "../app/toast.js";
import { VERDICTS } from "./feedback.js";
import { scoreSum } from "./sum.js";

const BEGINS_CHARS = 400;
const KEYS = { accepted: "a", modified: "m", dismissed: "d" };
const FULL = 1; // the score at which a bar is full, unless a hit has a higher one; as in the CLI

/**
 * Draw a hit. `of` is the view: `{results, best, session, href(id), filter(name, value), open(id), edit(id),
 * forget(id), feedback(id, action), given(id), may}`; for a memory in a list, `results` is null.
 */
export function card(hit, rank, of) {
  const title = uniqueId("hit");
  const name = h("a", { href: of.href(hit.id), dir: "auto" });
  const rest = h("div", { class: "rest" });
  const why = of.results && explanation(hit, of.results);
  const node = h(
    "article",
    { class: "card", tabindex: "-1", "aria-labelledby": title, data: { id: hit.id } },
    h(
      "header",
      {},
      h("h3", { id: title }, rank > 0 && h("span", { class: "place" }, `${rank}`), name),
      of.results && scoreOf(hit, of),
    ),
    rest,
    h("div", { class: "foot" }, h("p", { class: "about" }, factLine(hit, of)), actions(hit, of, why?.button)),
    why?.panel,
  );
  fillText(hit, name, rest, of);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target !== node) return;
    event.preventDefault();
    of.open(hit.id);
  });
  return node;
}

/** Fill the heading and the text; a memory without a title has its text as heading. */
function fillText(hit, name, rest, of) {
  const text = of.results ? { text: hit.snippet, all: hit.complete } : excerpt(hit.text, BEGINS_CHARS);
  const nodes = highlight(text.text, of.results ? hit.marks?.snippet : []);
  const title = hit.title ? highlight(hit.title, hit.marks?.title) : visible(hit.heading ?? "");
  put(name, title.length ? title : nodes);
  name.classList.toggle("stored", !title.length);
  put(rest, title.length > 0 && h("div", { class: "stored", dir: "auto" }, nodes));
  if (text.all) return;
  const all = h("button", { type: "button", class: "quiet small", onclick: show }, "Show all");
  async function show() {
    all.disabled = true;
    const got = await attempt(() => call("get", { id: hit.id }));
    all.disabled = false;
    if (!got) return;
    if (!title.length) put(name, visible(excerpt(text.text, 80).text));
    put(rest, longText(got.memories[0].text, of.results ? markedWords(hit) : []));
  }
  rest.append(all);
}

function scoreOf(hit, { best }) {
  const full = Math.max(best, FULL);
  const share = Math.max(0, hit.score / full);
  const label = hit.band ? `${points(hit.score)} ${hit.band}` : figure(hit.score);
  return h(
    "span",
    { class: "weight", title: `Score ${hit.score}; the bar is full at ${figure(full)}` },
    h("span", { class: "share", "aria-hidden": "true" }, h("span", { style: { width: `${100 * share}%` } })),
    h("span", { class: "visually-hidden" }, "score "),
    h("span", { class: "figure" }, label),
  );
}

function factLine(hit, of) {
  const chip = (name, value) =>
    h(
      "button",
      {
        type: "button",
        class: name === "types" ? "chip sort" : "chip",
        title: `Only ${name} “${value}”`,
        onclick: () => of.filter(name, value),
      },
      h("bdi", {}, value),
    );
  return [
    chip("types", hit.type),
    hit.topics.map((topic) => chip("topics", topic)),
    hit.collection && h("span", {}, "in ", chip("collection", hit.collection)),
    hit.namespace !== "default" && h("span", {}, "under ", chip("namespace", hit.namespace)),
    hit.created_at && h("time", { datetime: hit.created_at, title: moment(hit.created_at) }, age(hit.created_at)),
    hit.source && h("span", { class: "path" }, h("bdi", {}, visible(sourceLabel(hit)))),
    hit.tier && h("span", {}, `tier ${hit.tier}`),
    hit.severity && h("span", {}, `severity ${hit.severity}`),
    hit.role && h("span", {}, `said by ${hit.role}`),
    hit.session &&
      hit.session !== of.session &&
      h(
        "span",
        {},
        "in the conversation ",
        h("a", { href: conversationLink(hit) }, h("bdi", {}, visible(hit.session))),
      ),
    hit.valid_until && h("span", { title: moment(hit.valid_until) }, `valid until ${moment(hit.valid_until)}`),
    hit.stale &&
      h(
        "span",
        { class: "warned" },
        hit.stale === "missing" ? "the file was deleted" : "the file has changed since the ingest",
      ),
    hit.supersedes?.length > 0 &&
      h(
        "span",
        {},
        "replaces ",
        hit.supersedes.map((id, at) => replacedLink(hit, id, at, of)),
      ),
    hit.superseded_by &&
      h("span", { class: "warned" }, "may be outdated, see ", replacedLink(hit, hit.superseded_by, 0, of)),
    hit.near_duplicates?.length > 0 &&
      h(
        "span",
        {},
        "near duplicates: ",
        hit.near_duplicates.map((id, at) => [at > 0 && ", ", h("a", { href: of.href(id) }, excerpt(id, 12).text)]),
      ),
  ];
}

/** Return a link to a memory that a hit replaced, or that may have replaced it, with its day. */
function replacedLink(hit, id, at, of) {
  const stored = hit.change_dates?.[id];
  const day = stored && h("time", { datetime: stored, title: moment(stored) }, ` (${stored.slice(0, 10)})`);
  return [at > 0 && ", ", h("a", { href: of.href(id) }, excerpt(id, 12).text), day];
}

/** Return the address that lists a conversation from beginning to end. */
export const conversationLink = ({ session, namespace }) =>
  link("search", { session, namespace: namespace === "default" ? "" : namespace });

function sourceLabel({ source, lines, page }) {
  if (page) return `${source}, page ${page}`;
  if (!lines) return source;
  return lines[0] === lines[1] ? `${source}:${lines[0]}` : `${source}:${lines[0]}–${lines[1]}`;
}

function actions(hit, of, why) {
  const { results, may } = of;
  return h(
    "div",
    { class: "actions" },
    results &&
      may.write &&
      h(
        "span",
        { class: "feedback", role: "group", "aria-label": "Feedback" },
        Object.keys(VERDICTS).map((action) => feedbackButton(hit, action, of)),
      ),
    may.write &&
      h("button", { type: "button", class: "quiet small", title: "Edit (e)", onclick: () => of.edit(hit.id) }, "Edit"),
    may.write &&
      h(
        "button",
        { type: "button", class: "quiet small", title: "Forget (x)", onclick: () => of.forget(hit.id) },
        "Forget",
      ),
    why,
  );
}

function feedbackButton(hit, action, of) {
  return h(
    "button",
    {
      type: "button",
      class: "quiet small",
      title: `Record that this hit was ${action} for this query (${KEYS[action]})`,
      data: { action },
      "aria-pressed": String(of.given(hit.id) === action),
      onclick: () => of.feedback(hit.id, action),
    },
    VERDICTS[action],
  );
}

/** Make the button “Why” and the panel below the card that it opens. */
function explanation(hit, results) {
  const panel = h("div", { class: "reasons", id: uniqueId("why"), hidden: true });
  const button = h(
    "button",
    {
      type: "button",
      class: "quiet small why",
      title: "Why this hit was found (y)",
      "aria-expanded": "false",
      "aria-controls": panel.id,
      onclick: turn,
    },
    "Why",
  );
  function turn() {
    if (!panel.childElementCount) put(panel, scoreSum(hit, results));
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
  }
  return { button, panel };
}

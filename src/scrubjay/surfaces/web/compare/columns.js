// Two columns of hits with lines between them; on a phone one list with both ranks.

import { h, s } from "../app/dom.js";
import { duration, plural } from "../app/format.js";
import { link } from "../app/route.js";
import { displayName } from "../app/stored_text.js";
import { warning, waterfall } from "../search/waterfall.js";
import { movement } from "./ranks.js";
import { SYNTAX_HINT } from "./settings.js";
import { searchParams } from "./sides.js";

const NAMES = { a: "Left", b: "Right" };
const SHORT = 40; // characters of the name of a hit without a title

/** Draw the results: `answers` has `{results}` or `{problem}` for each side that has answered. */
export function columns({ state, answers, rows, both, open, why }) {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const place = { both, open, why, byId };
  const root = h(
    "div",
    { class: both ? "sides both" : "sides" },
    column("a", state, answers.a, place),
    h("div", { class: "between", "aria-hidden": "true" }, s("svg", {})),
    column("b", state, answers.b, place),
    both && mergedList(rows, place),
  );
  highlightTwins(root);
  return root;
}

function column(side, state, answer, place) {
  const name = `${NAMES[side]}: ${state[side].way}`;
  return h(
    "section",
    { class: "side", data: { side }, "aria-label": name },
    h(
      "h2",
      {},
      h("span", {}, name),
      state[side].sets.map((setting) => h("span", { class: "chip" }, setting)),
      columnStats(answer),
      searchLink(state, side),
    ),
    answer ? columnBody(side, state[side], answer, place) : h("p", { class: "hint" }, "Searching…"),
  );
}

function columnStats(answer) {
  if (!answer?.results) return null;
  const { hits, took_ms } = answer.results;
  return h("span", { class: "hint" }, `${plural(hits.length, "hit", "hits")}, ${duration(took_ms)}`);
}

/** Return the link to the search view with the profile and settings of this side. */
function searchLink(state, side) {
  return h("a", { class: "onward", href: link("search", searchParams(state, state[side])) }, "Search with this");
}

function failed({ detail }, sets) {
  const hint = sets.length > 0 && h("p", { class: "hint" }, SYNTAX_HINT);
  return h("div", { class: "notice bad", role: "alert" }, h("p", {}, h("b", {}, "This search failed: "), detail), hint);
}

function columnBody(side, { way, sets }, { problem, results }, place) {
  if (problem) return failed(problem, sets);
  const stages = waterfall({ ...results, degraded: [] });
  return [
    results.degraded.map((why) => h("p", { class: "notice" }, warning(), why)),
    results.hits.length
      ? h(
          "ol",
          { class: "hits" },
          results.hits.map((hit, index) => h("li", {}, card(hit, index + 1, side, place), whyButton(hit, place))),
        )
      : h("p", { class: "hint" }, "Nothing found."),
    h("details", { class: "panel stages-of" }, h("summary", {}, `Stages of ${way}`), stages),
  ];
}

function card(hit, rank, side, { both, open, byId }) {
  const row = byId.get(hit.id);
  const { kind } = movement(row);
  const data = { id: hit.id, side, rank };
  return h(
    "button",
    { type: "button", class: both ? `hit ${kind}` : "hit", data, onclick: () => open(hit.id) },
    h("span", { class: "rank" }, hiddenText("Rank "), rank),
    text(hit),
    h("span", { class: "figures" }, both && badge(row, side), score(hit)),
  );
}

function whyButton(hit, { why }) {
  const named = { "aria-label": `Why ${displayName(hit, SHORT)} has this rank`, title: "Why it has this rank (y)" };
  return h("button", { type: "button", class: "quiet whyof", ...named, onclick: () => why(hit.id) }, "Why");
}

const hiddenText = (words) => h("span", { class: "visually-hidden" }, words);
const score = (hit) => h("span", { class: "score" }, hiddenText(", score "), hit.score.toFixed(3));

function text(hit) {
  const plain = hit.snippet.replace(/\s+/g, " ");
  const title = hit.title && h("b", { dir: "auto" }, hit.title);
  return h(
    "span",
    { class: "text" },
    title,
    h("span", { class: title ? "snippet" : "snippet alone", dir: "auto" }, plain),
  );
}

/** Return the badge of a hit: how it moved (right side), or its rank on the other side (left side). */
function badge(row, side) {
  const { sign, words, kind } = movement(row);
  const shown = kind === "only" ? "only here" : side === "b" || kind === "same" ? sign : `→ ${row.b}`;
  return badgeOf(kind, shown, words);
}

function badgeOf(kind, sign, words) {
  return h("span", { class: `badge ${kind}` }, h("span", { "aria-hidden": "true" }, sign), hiddenText(`, ${words}`));
}

function mergedList(rows, place) {
  const each = (row) => h("li", {}, mergedHit(row, place.open), whyButton(row.hit, place));
  return h("ol", { class: "merged", "aria-label": "Both sides" }, rows.map(each));
}

function mergedHit(row, open) {
  const { sign, words, kind } = movement(row);
  const rank = (side) => h("span", { class: "rank" }, hiddenText(`${NAMES[side]} `), row[side] ?? "–");
  const data = { id: row.id, side: "merged", rank: row.b ?? row.a };
  return h(
    "button",
    { type: "button", class: `hit ${kind}`, data, onclick: () => open(row.id) },
    h("span", { class: "ranks" }, rank("a"), h("span", { "aria-hidden": "true" }, "→"), rank("b")),
    text(row.hit),
    badgeOf(kind, kind === "only" ? `only ${row.a ? "left" : "right"}` : sign, words),
  );
}

/** Highlight both hits of a memory while one of them is hovered or focused. */
function highlightTwins(root) {
  const lit = (event) => {
    const id = event.target.closest(".hit")?.dataset.id;
    root.classList.toggle("lighting", Boolean(id));
    for (const element of root.querySelectorAll("[data-id]"))
      element.classList.toggle("lit", element.dataset.id === id);
  };
  const unlit = () => lit({ target: document.activeElement ?? root });
  root.addEventListener("pointerover", lit);
  root.addEventListener("focusin", lit);
  root.addEventListener("pointerleave", unlit);
  root.addEventListener("focusout", unlit);
}

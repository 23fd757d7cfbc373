// How the score of a hit came about, as steps that add up to it.

import { h } from "../app/dom.js";
import { sentence } from "./sentence.js";
import { sourceTable } from "./sources.js";

const DIGITS = 3; // as a card shows a score
const EXACT_DIGITS = 6; // as scores are compared, and as the shell shows them
const MEANINGS = {
  keyword: "its words",
  vector: "its meaning",
  late: "word by word, by meaning",
  cross_encoder: "read by the reranker",
  moment: "the time asked for",
  graph: "its links",
  topics: "its topics",
  rrf_keyword: "its rank by words",
  rrf_vector: "its rank by meaning",
  rrf_topics: "its rank by topics",
  bonus: "first or near the first of a list",
  rerank: "the second look",
  synthetic: "a guess, as no reranker read it",
  keyword_floor: "raised, for the words it holds",
  preference: "for being a preference",
  summary: "for being a summary",
  result: "for being a result",
  _done: "for being done",
  time: "taken off, outside the time asked for",
  temporal: "how well it fits the time asked for",
  recency: "said lately",
  semantic: "its words",
  severity: "its severity",
  temporal_decay: "its freshness",
  tag_overlap: "tags in common",
  domain_match: "the same domain",
  memory: "a fixed score",
  other: "from stages that give no part",
};

/** Draw how the score of a hit came about: in a sentence, its place in every list, and the sum of the parts. */
export function scoreSum(hit, results) {
  return h(
    "div",
    { class: "sum" },
    h("p", { class: "told" }, sentence(hit, results)),
    h(
      "section",
      {},
      h("h3", {}, "How the score came about"),
      hit.sum ? [partBars(hit, highestScore(results)), calculation(hit)] : noSum(),
    ),
    h("section", {}, h("h3", {}, "Where it was found"), sourceTable(hit, results)),
  );
}

const noSum = () => h("p", { class: "hint" }, "This answer came without its sums.");

/**
 * Round amounts so that, as they are shown, they add up to the total as it is shown: those that lost most
 * by rounding down get the units that are left. Gives whole numbers of the last place.
 */
function rounded(amounts, total, places = DIGITS) {
  const unit = 10 ** places;
  const units = amounts.map((amount) => Math.floor(amount * unit));
  let left = Math.round(total.toFixed(places) * unit) - units.reduce((all, unit) => all + unit, 0);
  const byLoss = amounts.map((amount, index) => [amount * unit - units[index], index]).sort((a, b) => b[0] - a[0]);
  for (let turn = 0; left > 0; turn += 1, left -= 1) units[byLoss[turn % byLoss.length][1]] += 1;
  for (let turn = byLoss.length - 1; left < 0; turn -= 1, left += 1) units[byLoss.at(turn % byLoss.length)[1]] -= 1;
  return units;
}

const formatUnits = (units, places) => (Math.abs(units) / 10 ** places).toFixed(places);
const formatSigned = (units, first) => `${units < 0 ? "−" : first ? "" : "+"}${formatUnits(units, DIGITS)}`;
const minusSign = (units) => (units < 0 ? "−" : "");

/** The highest score of an answer: its hits are drawn on one scale, so that they can be compared. */
const highestScore = (results) => Math.max(...results.hits.map((hit) => hit.score));

function partBars({ score, sum: { parts } }, highest) {
  const units = rounded(
    parts.map((part) => part.amount),
    score,
  );
  let at = 0;
  /** @type {[number, number][]} */
  const spans = units.map((unit) => {
    const from = at;
    at += unit;
    return [from, at];
  });
  /** @type {[number, number]} */
  const span = [Math.min(0, ...spans.flat()), Math.max(1, highest * 10 ** DIGITS, ...spans.flat())];
  return h(
    "ol",
    { class: "parts" },
    parts.map((part, index) => partBar(part, units[index], spans[index], span, index === 0)),
    h(
      "li",
      { class: "part final" },
      h("span", { class: "name" }, h("b", {}, "Score")),
      barTrack([0, at], span, "bar final"),
      h("span", { class: "amount" }, `${minusSign(at)}${formatUnits(at, DIGITS)}`),
    ),
  );
}

function partBar(part, units, [from, to], span, first) {
  const kind = units < 0 ? "bar down" : "bar";
  return h(
    "li",
    { class: units ? "part" : "part zero", data: { part: part.name } },
    h(
      "span",
      { class: "name" },
      h("b", {}, part.name),
      MEANINGS[part.name] && h("span", { class: "means" }, ` ${MEANINGS[part.name]}`),
    ),
    barTrack([from, to], span, kind),
    h("span", { class: "amount" }, formatSigned(units, first)),
  );
}

/** The same with all figures that count, how each came about, and what each stands for. */
function calculation({ score, sum: { parts, where } }) {
  const units = rounded(
    parts.map((part) => part.amount),
    score,
    EXACT_DIGITS,
  );
  const total = units.reduce((all, unit) => all + unit, 0);
  const term = (part, index) => [
    index || units[index] < 0 ? (units[index] < 0 ? " − " : " + ") : "",
    formatUnits(units[index], EXACT_DIGITS),
    ` ${part.name}`,
  ];
  return h(
    "details",
    { class: "workings" },
    h("summary", {}, "Working"),
    h("p", { class: "whole" }, `${minusSign(total)}${formatUnits(total, EXACT_DIGITS)} = `, parts.map(term)),
    h(
      "ul",
      {},
      parts.map((part, index) => calculationOf(part, units[index])),
      where.map((line) => h("li", { class: "where" }, splitLine(line))),
    ),
  );
}

function calculationOf(part, units) {
  const [working, ...below] = part.working;
  if (!working) return null;
  return h(
    "li",
    { data: { worked: part.name } },
    h(
      "span",
      { class: "working" },
      h("b", {}, part.name),
      ` ${minusSign(units)}${formatUnits(units, EXACT_DIGITS)} = ${working}`,
    ),
    below.map((line) => h("span", { class: "working" }, splitLine(line))),
  );
}

/** A line `figure = working: words`, with the words set apart. */
function splitLine(line) {
  const at = line.indexOf(": ");
  return at < 0 ? line : [line.slice(0, at), h("span", { class: "means" }, line.slice(at))];
}

function barTrack([from, to], [low, high], kind) {
  const percent = (value) => (100 * (value - low)) / (high - low || 1);
  const [left, right] = [percent(Math.min(from, to)), percent(Math.max(from, to))];
  return h(
    "span",
    { class: "track", "aria-hidden": "true" },
    h("span", { class: kind, style: { left: `min(${left}%, 100% - 2px)`, width: `max(${right - left}%, 2px)` } }),
    !kind.includes("final") && h("span", { class: "carry", style: { left: `min(${percent(to)}%, 100% - 1px)` } }),
  );
}

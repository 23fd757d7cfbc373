// Explanation of a score: parts that add up to it.

import { h } from "../app/dom.js";
import { sentence } from "./sentence.js";
import { sourceTable } from "./sources.js";

const DIGITS = 3; // of a score on a card
const EXACT_DIGITS = 6; // of scores when they are compared, and in the CLI
const MEANINGS = {
  keyword: "its words",
  vector: "its meaning",
  languages: "its meaning in any language",
  across: "its meaning across languages",
  late: "word by word, by meaning",
  cross_encoder: "read by the reranker",
  moment: "the time in the query",
  graph: "its links",
  topics: "its topics",
  rrf_keyword: "its rank by words",
  rrf_vector: "its rank by meaning",
  rrf_topics: "its rank by topics",
  bonus: "first or near the first of a source",
  rerank: "the reranker",
  synthetic: "an estimate, as no reranker read it",
  keyword_floor: "raised for the words it contains",
  preference: "for being a preference",
  summary: "for being a summary",
  result: "for being a result",
  _done: "for being done",
  time: "lowered: outside the time in the query",
  temporal: "how well it fits the time in the query",
  recency: "how recent it is",
  semantic: "its words",
  severity: "its severity",
  temporal_decay: "its freshness",
  tag_overlap: "tags in common",
  domain_match: "the same domain",
  memory: "a fixed score",
  other: "from stages that report no part",
};

/** Draw the explanation of a hit's score: a sentence, the sum of its parts, and its rank in every source. */
export function scoreSum(hit, results) {
  return h(
    "div",
    { class: "sum" },
    h("p", { class: "found-by" }, sentence(hit, results)),
    h(
      "section",
      {},
      h("h3", {}, "How the score is calculated"),
      hit.sum ? [partBars(hit, highestScore(results)), calculation(hit)] : noSum(),
    ),
    h("section", {}, h("h3", {}, "Where it was found"), sourceTable(hit, results)),
  );
}

const noSum = () => h("p", { class: "hint" }, "These results contain no explanation of the score.");

/**
 * Round amounts so that the rounded amounts add up to the rounded total (largest remainder method).
 * Returns whole numbers of the last decimal place.
 */
export function rounded(amounts, total, places = DIGITS) {
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

/** Return the highest score of the results: all hits are drawn on one scale. */
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

/** Draw the exact calculation: every part with six decimals, its formula, and the meaning of its terms. */
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
    h("summary", {}, "Calculation"),
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

/** Split a line `value = formula: words` and mark the words. */
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

// One sentence on how a hit was found: "Found by its words (first of 3) and its meaning (2nd of 64)."

import { count } from "../app/format.js";
import { sourcesOf } from "./sources.js";

const BY = {
  keyword: "its words",
  vector: "its meaning",
  languages: "its meaning in any language",
  across: "its meaning across languages",
  topics: "its topics",
  graph: "its links",
  moment: "the time in the query",
  late: "compared word by word",
  cross_encoder: "read by the reranker",
  lexical: "a variant of the query in other words",
  semantic: "a rephrased query",
  hyde: "a generated answer",
};
const FROM = {
  ...BY,
  late: "comparing word by word",
  cross_encoder: "the reranker",
  rerank: "the reranker",
  recency: "being recent",
};
const MOST = 0.5; // share of the score from which a part is named

/** Return which sources found a hit, at which rank, which did not, and what contributes most to its score. */
export function sentence(hit, results) {
  const request = sourcesOf(results);
  const ranked = request.filter(({ name }) => hit.found[name]?.rank);
  const missed = request.filter(({ name, length }) => length && !hit.found[name]);
  const found = ranked.map(({ name, length }) => `${sourceText(name)} (${rankText(hit.found[name].rank, length)})`);
  const first = found.length ? `Found by ${joinWords(found)}` : "Found without a rank in any source";
  const not = missed.length
    ? `, not by ${joinWords(
        missed.map(({ name }) => sourceText(name)),
        "or",
      )}`
    : "";
  return `${first}${not}.${rescored(hit)}${mainPart(hit)}`;
}

/** Return the stages that scored the hit without a list of candidates. */
function rescored(hit) {
  const looked = Object.keys(hit.found).filter((name) => hit.found[name].rank === null && name !== "vector");
  return looked.length ? ` Then ${joinWords(looked.map(sourceText))}.` : "";
}

function mainPart({ score, sum }) {
  const main = sum?.parts.length > 1 && sum.parts.find((part) => part.amount > MOST * score);
  const from = main && FROM[main.name.replace("rrf_", "")];
  return from ? ` Most of its score comes from ${from}.` : "";
}

const sourceText = (name) => BY[name.split(":")[0]] ?? `the source “${name}”`;
const rankText = (rank, length) => (length ? `${ordinal(rank)} of ${count(length)}` : ordinal(rank));

/** 1 → "first", 2 → "2nd", 13 → "13th" */
function ordinal(rank) {
  if (rank === 1) return "first";
  const ending = rank % 100 > 10 && rank % 100 < 14 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[rank % 10] ?? "th");
  return `${count(rank)}${ending}`;
}

function joinWords(words, last = "and") {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

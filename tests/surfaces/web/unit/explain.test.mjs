// Explanation of a search: rounded sums, the sentence on a hit, and the timeline of stages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sentence } from "../../../../src/scrubjay/surfaces/web/search/sentence.js";
import { sourcesOf } from "../../../../src/scrubjay/surfaces/web/search/sources.js";
import { rounded } from "../../../../src/scrubjay/surfaces/web/search/sum.js";
import {
  axisMarks,
  flatten,
  formatNumbers,
  formatValue,
  preciseDuration,
  timeline,
} from "../../../../src/scrubjay/surfaces/web/search/trace.js";

const sum = (values) => values.reduce((all, value) => all + value, 0);

test("rounded amounts add up to the rounded total", () => {
  assert.deepEqual(rounded([1 / 3, 1 / 3, 1 / 3], 1), [334, 333, 333]);
  assert.deepEqual(rounded([0.0004, 0.0004, 0.0004], 0.0012), [1, 0, 0]);
  assert.deepEqual(rounded([0.5, -0.2], 0.3), [500, -200]);
  assert.deepEqual(rounded([0.1002, 0.2009, 0.3005], 0.6016), [100, 201, 301]); // to the largest remainders
  for (const amounts of [
    [0.1234, 0.4567, 0.0004],
    [0.9999, -0.3333, 0.1111],
    [1e-7, 2e-7],
  ]) {
    const total = sum(amounts);
    assert.equal(sum(rounded(amounts, total)), Math.round(total.toFixed(3) * 1000));
    assert.equal(sum(rounded(amounts, total, 6)), Math.round(total.toFixed(6) * 1e6));
  }
});

test("the rounded amounts stay within one unit of the exact ones", () => {
  const amounts = Array.from({ length: 30 }, (_, index) => Math.sin(index) / 7);
  const units = rounded(amounts, sum(amounts));
  for (const [index, amount] of amounts.entries()) assert.ok(Math.abs(units[index] - amount * 1000) <= 1);
});

const step = (stage, at_us, took_ms, branches = []) => ({ stage, at_us, took_ms, branches });
const RESULTS = {
  took_ms: 10,
  counts: { keyword: 3, vector: 64 },
  trace: [
    step("recall", 1000, 4, [step("keyword", 1000, 1), step("vector", 2000, 3), step("graph", 2000, 1)]),
    step("rrf", 6000, 2),
  ],
  hits: [{ found: { keyword: { rank: 1, score: 2 }, cross_encoder: { rank: null, score: 1 } } }],
};

test("sources are those of the trace and of the hits, in order", () => {
  assert.deepEqual(
    sourcesOf(RESULTS).map(({ name, length }) => [name, length]),
    [
      ["keyword", 3],
      ["vector", 64],
      ["graph", 0],
      ["cross_encoder", 0],
    ],
  );
});

test("a sentence names the sources that found a hit, the others, and its main part", () => {
  const found = { keyword: { rank: 1, score: 2 }, vector: { rank: 22, score: 1 } };
  const parts = [
    { name: "rrf_keyword", amount: 0.8 },
    { name: "rrf_vector", amount: 0.2 },
  ];
  assert.equal(
    sentence({ found, score: 1, sum: { parts } }, RESULTS),
    "Found by its words (first of 3) and its meaning (22nd of 64). Most of its score comes from its words.",
  );
  assert.equal(
    sentence({ found: { vector: { rank: 13, score: 1 }, cross_encoder: { rank: null } }, score: 1 }, RESULTS),
    "Found by its meaning (13th of 64), not by its words. Then read by the reranker.",
  );
});

test("the timeline starts at the first stage and keeps nested stages", () => {
  const { lengthMs, stages, betweenMs } = timeline(RESULTS);
  assert.deepEqual([lengthMs, betweenMs], [10, 4]);
  assert.deepEqual(
    stages.map((stage) => stage.beganMs),
    [0, 5],
  );
  assert.deepEqual(
    stages[0].inner.map((stage) => stage.beganMs),
    [0, 1, 1],
  );
  assert.deepEqual(
    flatten(RESULTS.trace).map(({ depth }) => depth),
    [0, 1, 1, 1, 0],
  );
});

test("axis marks are round and few", () => {
  assert.deepEqual(axisMarks(311), [0, 100, 200, 300]);
  assert.deepEqual(axisMarks(0.9), [0, 0.2, 0.4, 0.6000000000000001, 0.8]);
  for (const length of [1, 7, 42, 999, 123456]) assert.ok(axisMarks(length).length <= 6);
});

test("values of stages are short", () => {
  assert.equal(preciseDuration(0.0033), "3 µs");
  assert.equal(formatValue(1 / 3), "0.333333");
  assert.equal(formatValue({ title: 1, list: ["a", null] }), "{title: 1, list: [a, none]}");
  assert.equal(formatNumbers({ k: 60, weights: { a: 1 }, none: null, name: "x" }), "k 60, name x");
});

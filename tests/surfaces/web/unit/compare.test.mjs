// Comparison of two result lists: ranks, similarity, settings and parameters.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRanks, movement, similarity } from "../../../../src/scrubjay/surfaces/web/compare/ranks.js";
import {
  expandWeight,
  offeredSettings,
  refusedSettings,
  sameSetting,
} from "../../../../src/scrubjay/surfaces/web/compare/settings.js";
import {
  readParams,
  searchParams,
  searchRequest,
  writeParams,
} from "../../../../src/scrubjay/surfaces/web/compare/sides.js";

const hits = (ids) => [...ids].map((id) => ({ id }));

test("each memory has a row with both ranks, sorted by its best rank", () => {
  const rows = compareRanks(hits("abc"), hits("cad"));
  assert.deepEqual(
    rows.map(({ id, a, b, moved }) => [id, a, b, moved]),
    [
      ["c", 3, 1, 2],
      ["a", 1, 2, -1],
      ["b", 2, null, null],
      ["d", null, 3, null],
    ],
  );
  assert.deepEqual(
    rows.map((row) => movement(row).kind),
    ["up", "down", "only", "only"],
  );
  assert.equal(movement(rows[0]).sign, "▲ 2");
  assert.equal(movement(rows[1]).words, "down 1, from rank 1 to 2");
});

test("similarity is 1 for the same order and 0 for nothing in common", () => {
  const same = similarity(compareRanks(hits("abc"), hits("abc")));
  assert.deepEqual([same.common, same.depth, same.overlap, same.mover], [3, 3, 1, null]);
  assert.ok(Math.abs(same.weighted - 1) < 1e-9);
  const none = similarity(compareRanks(hits("abc"), hits("xyz")));
  assert.deepEqual([none.common, none.overlap, none.weighted], [0, 0, 0]);
  assert.deepEqual(similarity([]), { common: 0, depth: 0, overlap: 0, weighted: 0, mover: null });
});

test("a change at the top lowers the weighted overlap more than one at the end", () => {
  const top = similarity(compareRanks(hits("abcdef"), hits("bacdef"))).weighted;
  const end = similarity(compareRanks(hits("abcdef"), hits("abcdfe"))).weighted;
  assert.ok(top < end && end < 1);
  assert.equal(similarity(compareRanks(hits("abcd"), hits("dabc"))).mover.id, "d");
});

const PROFILE = {
  stages: [
    { name: "rrf", numbers: { k: 60 }, text: "rrf(k=60)" },
    {
      name: "weigh",
      numbers: { weights: { keyword: 1, vector: 0.5 } },
      text: "weigh(weights={keyword=1, vector=0.5})",
    },
    { name: "rerank", numbers: {}, text: "rerank(depth=20)" },
  ],
};

test("a profile offers its weights first, then its numbers", () => {
  const expected = ["weigh.weights={keyword=1, vector=0.5}", "rerank=false", "rrf.k=60", "rerank.depth=20"];
  assert.deepEqual(offeredSettings(PROFILE), expected);
  assert.deepEqual(offeredSettings(undefined), []);
});

test("one weight is expanded to all of its stage", () => {
  assert.equal(expandWeight("weigh.weights.keyword=0.9", PROFILE), "weigh.weights={keyword=0.9, vector=0.5}");
  assert.equal(expandWeight("rrf.k=30", PROFILE), "rrf.k=30");
  assert.ok(sameSetting("rrf.k=30", "rrf.k = 60"));
});

test("a refused setting is found by the names in the error", () => {
  const sets = ["rrf.kk=3", "rerank=false"];
  assert.deepEqual(refusedSettings(sets, "stage rrf has no number 'kk'"), ["rrf.kk=3"]);
  assert.deepEqual(refusedSettings(sets, "something else"), []);
  assert.deepEqual(refusedSettings(["x=1"], "something else"), ["x=1"]);
});

test("parameters of the address are read and written unchanged", () => {
  const state = readParams(new URLSearchParams("q=tea&a=gno:fast&aset=rrf.k%3D30&topics=x&topics=y&collection=home"));
  assert.deepEqual(state.a, { way: "gno:fast", sets: ["rrf.k=30"] });
  assert.deepEqual(state.b, { way: "gno", sets: [] });
  assert.equal(writeParams(state).limit, "");
  assert.deepEqual(searchRequest(state, state.a), {
    query: "tea",
    limit: 10,
    profile: "gno",
    overrides: { "rrf.k": 30 },
    topics: ["x", "y"],
    collection: "home",
    mode: "fast",
  });
  assert.deepEqual(searchParams(state, state.a).overrides, ["rrf.k=30"]);
});

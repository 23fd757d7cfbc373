// Routes, settings and queries: the address and the request body say the same.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { debounce, exclusive } from "../../../../src/scrubjay/surfaces/web/app/dom.js";
import { currentRoute, link } from "../../../../src/scrubjay/surfaces/web/app/route.js";
import { parseSettings, splitSettings } from "../../../../src/scrubjay/surfaces/web/app/settings.js";
import * as query from "../../../../src/scrubjay/surfaces/web/search/query.js";

afterEach(() => {
  delete globalThis.location;
});

test("a link leaves out empty parameters and repeats lists", () => {
  assert.equal(link("map"), "#/map");
  assert.equal(
    link("search", { q: "a&b", topics: ["x", "", "y"], mode: null, id: undefined, on: false }),
    "#/search?q=a%26b&topics=x&topics=y",
  );
  assert.equal(link("search", { limit: 0 }), "#/search?limit=0");
});

test("the current route is read from the hash", () => {
  const routeOf = (hash) => {
    globalThis.location = { hash };
    const { view, params } = currentRoute();
    return [view, Object.fromEntries(params)];
  };
  assert.deepEqual(routeOf(""), ["search", {}]);
  assert.deepEqual(routeOf("#/map"), ["map", {}]);
  assert.deepEqual(routeOf("#/search?q=a%3Fb?c"), ["search", { q: "a?b?c" }]);
  assert.deepEqual(routeOf(link("compare", { q: "tea", aset: ["rrf.k=30"] })), [
    "compare",
    { q: "tea", aset: "rrf.k=30" },
  ]);
});

test("settings are split at commas and spaces, but not inside braces", () => {
  assert.deepEqual(splitSettings("rrf.k=30, rerank=false"), ["rrf.k=30", "rerank=false"]);
  assert.deepEqual(splitSettings("weights={title=2, text=1} rrf.k=30"), ["weights={title=2, text=1}", "rrf.k=30"]);
  assert.deepEqual(splitSettings("  "), []);
});

test("settings become overrides and weights; anything else is a Problem", () => {
  assert.deepEqual(
    parseSettings(["rrf.k=30", "weights.keyword=1", "weights.title=2", "boost={title=2, text=1}", "x=word"]),
    {
      overrides: { "rrf.k": 30, boost: { title: 2, text: 1 }, x: "word" },
      weights: { keyword: 1, title: 2 },
    },
  );
  assert.throws(() => parseSettings(["rrf.k"]), { kind: "invalid" });
});

const PARAMS = new URLSearchParams(
  "q=tea&types=fact&types=task&since=2026-01-01&min_score=0.5&overrides=rrf.k%3D30&limit=5",
);

test("the address gives the body of the search and of the list", () => {
  const asked = query.parseParams(PARAMS);
  assert.deepEqual(query.searchBody(asked), {
    query: "tea",
    explain: true,
    since: "2026-01-01",
    types: ["fact", "task"],
    limit: 5,
    min_score: 0.5,
    overrides: { "rrf.k": 30 },
  });
  assert.deepEqual(query.listBody(asked), { types: ["fact", "task"] });
  assert.deepEqual(query.searchOnlyFilters(asked), ["Since", "Minimum score", "Settings"]);
  assert.throws(() => query.searchBody({ ...asked, limit: "many" }), { kind: "invalid" });
});

test("filters are removed value by value and set by a click", () => {
  const asked = query.parseParams(PARAMS);
  assert.equal(query.activeFilters(asked).length, 5);
  assert.deepEqual(query.without(asked, { name: "types", value: "fact" }).types, ["task"]);
  assert.equal(query.without(asked, { name: "since", value: "2026-01-01" }).since, "");
  assert.deepEqual(query.withOnly(asked, "types", "event").types, ["event"]);
  assert.equal(query.withOnly(asked, "collection", "garden").collection, "garden");
});

test("a comparison sets the profile beside gno, and gno beside the default", () => {
  const asked = query.parseParams(PARAMS);
  const { a, b, aset } = query.compareParams(asked, "novamem");
  assert.deepEqual([a, b, aset], ["novamem", "gno", ["rrf.k=30"]]);
  assert.equal(query.compareParams({ ...asked, profile: "gno", mode: "fast" }, "default").b, "default");
});

test("an exclusive action ignores calls while it runs, also after a failure", async () => {
  let calls = 0;
  const run = exclusive(async (fails) => {
    calls += 1;
    await null;
    if (fails) throw new Error("failed");
    return calls;
  });
  const [first, second] = await Promise.all([run(), run()]);
  assert.deepEqual([first, second, calls], [1, undefined, 1]);
  await assert.rejects(run(true));
  assert.equal(await run(), 3);
});

test("a debounced action runs once, with the last arguments; cancel drops it", async () => {
  const seen = [];
  const later = debounce(5, (value) => seen.push(value));
  later(1);
  later(2);
  await new Promise((resolve) => setTimeout(resolve, 30));
  later(3);
  later.cancel();
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.deepEqual(seen, [2]);
});

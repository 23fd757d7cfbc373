// Health view: bars of a time span, counts per hour, problems, and values of the form of a memory.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axisLabel, barLabel, bars, groupByBar, since } from "../../../../src/scrubjay/surfaces/web/health/buckets.js";
import { groupByFix, worst } from "../../../../src/scrubjay/surfaces/web/health/doctor.js";
import { hoursOf } from "../../../../src/scrubjay/surfaces/web/health/hits.js";
import { missingText, perHour, sumMissing } from "../../../../src/scrubjay/surfaces/web/health/load.js";
import { problemsOf } from "../../../../src/scrubjay/surfaces/web/health/state.js";
import { changedValues, formValues } from "../../../../src/scrubjay/surfaces/web/memory/fields.js";

// The zone is Europe/Berlin, which the caller sets in TZ.
const NOW = Date.parse("2026-11-16T09:30:00Z");
const STATUS = {
  pending: 0,
  why_pending: "",
  failed: 0,
  failures: [],
  servers: [],
  extraction: { failed: 0, failures: {} },
};

test("a span has its number of bars without gaps, and the last one is the current", () => {
  for (const [span, number] of [
    ["24h", 24],
    ["7d", 28],
    ["30d", 30],
  ]) {
    const made = bars(span, NOW);
    assert.equal(made.length, number);
    for (let index = 1; index < number; index += 1) assert.equal(made[index].from, made[index - 1].until);
    assert.ok(made.at(-1).from <= NOW && NOW < made.at(-1).until);
    assert.deepEqual(
      made.filter((bar) => bar.now),
      [made.at(-1)],
    );
    assert.equal(since(span, NOW), new Date(made[0].from).toISOString());
  }
});

test("the hour that occurs twice has two bars, and a day of 25 hours is one bar", () => {
  const starts = (span, now) => bars(span, Date.parse(now)).map((bar) => new Date(bar.from).toISOString().slice(5, 16));
  assert.deepEqual(starts("24h", "2026-10-25T01:30:00Z").slice(-3), ["10-24T23:00", "10-25T00:00", "10-25T01:00"]);
  assert.deepEqual(starts("7d", "2026-10-25T12:00:00Z").slice(-3), ["10-24T22:00", "10-25T05:00", "10-25T11:00"]);
  const day = bars("30d", Date.parse("2026-10-25T12:00:00Z")).at(-1);
  assert.equal(day.until - day.from, 25 * 3_600_000);
});

test("labels use the local time", () => {
  const made = bars("24h", NOW);
  assert.equal(barLabel(made.at(-1)), "Mon 16 Nov, 10:00–11:00 so far");
  assert.equal(barLabel(bars("30d", NOW)[28]), "Sun 15 Nov");
  assert.equal(axisLabel(made.at(-2), "24h"), "09:00");
  assert.equal(axisLabel(made.at(-1), "24h"), "");
});

test("entries are grouped by bar; entries outside are left out", () => {
  const made = bars("24h", NOW);
  const rows = groupByBar(made, [
    { at: "2026-11-16T09:00:00Z" },
    { at: "2026-11-16T08:59:59Z" },
    { at: "2026-11-10T09:00:00Z" },
  ]);
  assert.deepEqual(
    rows.slice(-2).map((row) => row.length),
    [1, 1],
  );
  assert.equal(rows.flat().length, 2);
});

test("searches per hour know what was missing, and nothing before the server started", () => {
  const hours = [{ at: "2026-11-16T09:00:00Z", searches: 4, degraded: 3, without: { vector: 2, graph: 1 } }];
  const made = perHour({ since: "2026-11-16T08:10:00Z", hours }, NOW);
  assert.deepEqual([made.at(-1).searches, made.at(-1).degraded], [4, 3]);
  assert.deepEqual(
    made.slice(-3).map((bar) => bar.unknown),
    [true, false, false],
  );
  assert.equal(missingText(sumMissing([...hours, ...hours])), "vectors (4), links (2)");
});

test("rows of a tenant are gathered by hour", () => {
  const rows = [
    { hour: "h1", tier: "keyword", count: 2 },
    { hour: "h1", tier: "vector", count: 1 },
    { hour: "h2", tier: "keyword", count: 5 },
  ];
  assert.deepEqual(hoursOf(rows), [
    { at: "h1", tiers: { keyword: 2, vector: 1 } },
    { at: "h2", tiers: { keyword: 5 } },
  ]);
});

test("findings with one fix are one group, which is as bad as its worst", () => {
  const finding = (component, state, fix = "") => ({ component, state, fix });
  const groups = groupByFix([
    finding("a", "degraded", "x"),
    finding("b", "failed"),
    finding("c", "failed", "x"),
    finding("d", "ok"),
  ]);
  assert.deepEqual(
    groups.map((group) => group.map((one) => one.component)),
    [["a", "c"], ["b"], ["d"]],
  );
  assert.equal(worst(groups[0]).component, "c");
});

test("a replica that lags or fails is a problem, reported once", () => {
  const servers = [
    { tier: "vectors", behind: 2, reason: "" },
    { tier: "graph", behind: 1, reason: "no answer" },
  ];
  const found = problemsOf({ status: { ...STATUS, servers }, ready: { degraded: ["graph", "vectors", "writes"] } });
  assert.deepEqual(
    found.map((problem) => [problem.state, problem.part]),
    [
      ["degraded", "vectors"],
      ["failed", "graph"],
      ["failed", "writes"],
    ],
  );
  assert.deepEqual(problemsOf({ status: STATUS }), []);
});

test("a missing model is one problem with everything that follows from it", () => {
  const missing = { state: "missing", fix: "scrubjay models pull" };
  const findings = [
    { component: "model", detail: "MiniLM is missing", ...missing },
    { component: "reranker", detail: "on MiniLM", ...missing },
  ];
  const found = problemsOf({
    status: { ...STATUS, pending: 3, why_pending: "x" },
    ready: { degraded: ["embedder"] },
    findings,
  });
  assert.equal(found.length, 1);
  assert.equal(found[0].fix, "scrubjay models pull");
  assert.match(found[0].says, /keywords only, 3 passages are not embedded yet, results are not reranked/);
});

test("a form sends only changed fields, in the types of the API", () => {
  const memory = {
    ...Object.fromEntries(Object.keys(formValues(null)).map((name) => [name, null])),
    text: "a",
    topics: ["x", "y"],
    event_time: "2026-11-16T09:30:00+00:00",
  };
  const before = formValues(memory);
  assert.equal(before.topics, "x\ny");
  assert.equal(before.event_time, "2026-11-16T10:30");
  assert.deepEqual(changedValues(before, before), {});
  const after = { ...before, topics: " x \n\nz", event_time: "2026-11-16T11:30", title: "" };
  assert.deepEqual(changedValues(after, before), { topics: ["x", "z"], event_time: "2026-11-16T10:30:00.000Z" });
  assert.equal(formValues(null).type, "fact");
});

// Numbers, times and sizes as the web UI prints them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { age, count, duration, figure, size } from "../../../../src/scrubjay/surfaces/web/app/format.js";

const NOW = Date.parse("2026-11-16T12:00:00Z");

test("numbers have separators", () => {
  assert.equal(count(1234567), "1,234,567");
});

test("an age is given in the largest whole unit that has passed", () => {
  assert.equal(age("2026-11-16T11:59:40Z", NOW), "just now");
  assert.equal(age("2026-11-16T11:00:30Z", NOW), "59 minutes ago");
  assert.equal(age("2026-11-13T11:00:00Z", NOW), "3 days ago");
  assert.equal(age("2026-11-01T12:00:00Z", NOW), "2 weeks ago");
  assert.equal(age("2024-11-01T12:00:00Z", NOW), "2 years ago");
  assert.equal(age("2026-11-18T13:00:00Z", NOW), "in 2 days");
});

test("a score keeps enough digits to differ from 0", () => {
  assert.equal(figure(0), "0");
  assert.equal(figure(3), "3");
  assert.equal(figure(0.0421), "0.042");
  assert.equal(figure(0.5, 2), "0.50");
  assert.equal(figure(1e-9), "1e-9");
});

test("durations and sizes choose their unit", () => {
  assert.equal(duration(1.234), "1.23 ms");
  assert.equal(duration(12.3456), "12.3 ms");
  assert.equal(duration(1234), "1.23 s");
  assert.equal(size(999), "999 bytes");
  assert.equal(size(1536), "1.5 kB");
  assert.equal(size(2_500_000_000), "2.5 GB");
});

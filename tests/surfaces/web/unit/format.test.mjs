// Formatting of numbers, times and sizes; stored text with control characters and marks.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  age,
  count,
  duration,
  figure,
  plural,
  points,
  size,
} from "../../../../src/scrubjay/surfaces/web/app/format.js";
import { displayName, excerpt, markedWords, visible } from "../../../../src/scrubjay/surfaces/web/app/stored_text.js";

const NOW = Date.parse("2026-11-16T12:00:00Z");

test("numbers have separators and the right plural", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(plural(1, "memory", "memories"), "1 memory");
  assert.equal(plural(0, "memory", "memories"), "0 memories");
  assert.equal(plural(1200, "memory", "memories"), "1,200 memories");
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

test("points of 100 are cut, and not one too low", () => {
  assert.deepEqual([1, 0.3, 0.29, 0.57, 0.299999, 0].map(points), [100, 30, 29, 57, 29, 0]);
});

test("durations and sizes choose their unit", () => {
  assert.equal(duration(1.234), "1.23 ms");
  assert.equal(duration(12.3456), "12.3 ms");
  assert.equal(duration(1234), "1.23 s");
  assert.equal(size(999), "999 bytes");
  assert.equal(size(1536), "1.5 kB");
  assert.equal(size(2_500_000_000), "2.5 GB");
});

test("control characters become visible, one for one; tabs and line ends stay", () => {
  const text = "a\0b\u0007\tc\n\r\u007f\u0085\u00a0😀";
  assert.equal(visible(text), "a␀b␇\tc\n\r␡�\u00a0😀");
  assert.equal(visible(text).length, text.length);
});

test("an excerpt does not cut a surrogate pair", () => {
  assert.deepEqual(excerpt("short", 10), { text: "short", all: true });
  assert.deepEqual(excerpt("a long text", 6), { text: "a long…", all: false });
  assert.deepEqual(excerpt("ab😀cd", 3), { text: "ab😀…", all: false });
});

test("a memory is named by its title, or by the beginning of its text", () => {
  assert.equal(displayName({ title: "Tea", text: "x" }), "Tea");
  assert.equal(displayName({ title: "", text: "  green\n tea  leaves " }, 9), "green tea…");
});

test("marked words are read from title and snippet, once each", () => {
  const hit = {
    title: "Green tea",
    snippet: "TEA and green",
    marks: {
      title: [[6, 9]],
      snippet: [
        [0, 3],
        [8, 13],
      ],
    },
  };
  assert.deepEqual(markedWords(hit), ["tea", "green"]);
  assert.deepEqual(markedWords({ title: "", snippet: "x" }), []);
});

// Versions of a memory: what each row of the table shows, and whether there is something to undo.

import assert from "node:assert/strict";
import { test } from "node:test";
import { canUndo, versionRows } from "../../../../src/scrubjay/surfaces/web/memory/versions.js";

const version = (what, text, changed = {}, by = "") => ({
  text,
  changed_at: "2026-05-04T10:00:00+00:00",
  by,
  what,
  changed,
});

test("an earlier text is shown once, at the last version that had it", () => {
  const rows = versionRows([
    version("done", "two", { type: "task_done" }, "ann"),
    version("edited", "two", { title: "", topics: ["a", "b"] }),
    version("created", "one"),
  ]);
  assert.deepEqual(
    rows.map(({ text }) => text),
    ["", "", "one"],
  );
  assert.deepEqual(
    rows.map(({ hasNewText }) => hasNewText),
    [false, true, false],
  );
  assert.deepEqual(
    rows.map(({ what }) => what),
    ["done by ann", "edited", "created"],
  );
  assert.deepEqual(rows[0].fields, ["type: task_done"]);
  assert.deepEqual(rows[1].fields, ["title: none", "topics: a, b"]);
});

test("values of every kind are one line, and a long text is cut", () => {
  const [now, before] = versionRows([
    version("edited", "short", { valid_until: null, metadata: { ticket: 7 } }),
    version("created", "x".repeat(5000)),
  ]);
  assert.deepEqual(now.fields, ["valid until: none", 'metadata: {"ticket":7}']);
  assert.equal(before.text.length, 2001);
});

test("there is something to undo until every change was undone", () => {
  const created = version("created", "one");
  const edited = version("edited", "two");
  const undo = version("undo", "one");
  assert.equal(canUndo([created]), false);
  assert.equal(canUndo([edited, created]), true);
  assert.equal(canUndo([undo, edited, created]), false);
  assert.equal(canUndo([edited, undo, edited, created]), true);
});

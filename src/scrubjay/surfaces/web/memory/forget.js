// Forgetting a memory: with a confirmation, and an Undo as far as possible.

import { call } from "../app/api.js";
import { confirm } from "../app/dialog.js";
import { exclusive } from "../app/dom.js";
import { plural } from "../app/format.js";
import { displayName } from "../app/stored_text.js";
import { attempt, toast } from "../app/toast.js";

// Parameters of `add`; the other fields are derived from these.
const FIELDS = [
  "text",
  "id",
  "title",
  "type",
  "topics",
  "namespace",
  "collection",
  "session",
  "role",
  "owner",
  "agent",
  "severity",
  "domain",
  "context",
  "created_at",
  "updated_at",
  "event_time",
  "event_until",
  "valid_from",
  "valid_until",
  "source",
  "metadata",
];

/** Forget a memory after a confirmation; calls `after` when it is deleted and when it is restored. True if deleted. */
export const forget = exclusive(async (id, after) => {
  const got = await attempt(() => call("get", { id }));
  if (!got) {
    after(); // already deleted; the toast says so
    return false;
  }
  const [memory] = got.memories;
  if (!(await confirm(`Forget “${displayName(memory)}”?`, "Forget", warningText(memory)))) return false;
  const answer = await attempt(() => call("forget", { id }));
  if (!answer) return false;
  notify(memory, answer.facts.length, after);
  after();
  return true;
});

/** Return what an Undo cannot restore. */
function warningText({ type }) {
  if (type === "document")
    return "The file is not changed; it is stored again when the file changes or is ingested again. There is no Undo.";
  const drawn = type === "message" ? " Facts extracted only from it are deleted, too, and cannot be restored." : "";
  return `You can undo this for some seconds, but its history is lost.${drawn}`;
}

function notify(memory, facts, after) {
  // A document that is added again would not belong to its file: the next ingest would store another.
  if (memory.type === "document") return toast("Forgotten. The file is not changed; scrubjay ingest reads it again.");
  const drawn = facts ? ` ${plural(facts, "fact", "facts")} extracted only from it deleted, too.` : "";
  toast(`Forgotten.${drawn}`, { action: "Undo", act: () => restore(memory, facts, after), about: memory.id });
}

async function restore(memory, facts, after) {
  const answer = await attempt(() => call("add", addBody(memory)));
  if (!answer) return;
  toast(`Restored with its fields and links, without its history${facts ? " and the facts extracted from it" : ""}.`);
  after();
}

/** Return the body of `add` that restores a memory; fields that are not set are left out. */
function addBody(memory) {
  const set = FIELDS.filter((name) => memory[name] !== null && memory[name] !== "");
  const links = memory.links.map(({ to, strength, kind }) => ({ to, strength, kind }));
  return { ...Object.fromEntries(set.map((name) => [name, memory[name]])), links };
}

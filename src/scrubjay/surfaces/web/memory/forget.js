// Forgetting: asked before, and brought back as far as that goes.

import { call } from "../app/api.js";
import { confirm } from "../app/dialog.js";
import { exclusive } from "../app/dom.js";
import { plural } from "../app/format.js";
import { displayName } from "../app/stored_text.js";
import { attempt, toast } from "../app/toast.js";

// What `add` takes; the rest of a memory follows from these.
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

/** Forget a memory if they mean it; calls `after` when it is gone, and again when it is back. Gives whether it is gone. */
export const forget = exclusive(async (id, after) => {
  const got = await attempt(() => call("get", { id }));
  if (!got) {
    after(); // gone already, and the toast says so
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

/** Say before what cannot be had back after. */
function warningText({ type }) {
  if (type === "document")
    return "Its file stays as it is, and brings it back when it changes or is ingested again. There is no Undo.";
  const drawn = type === "message" ? " Facts drawn from it alone go with it, and do not come back." : "";
  return `For some seconds you can undo this; its history is lost all the same.${drawn}`;
}

function notify(memory, facts, after) {
  // Stored again by hand, a document would not be that of its file: the next ingest would store another.
  if (memory.type === "document") return toast("Forgotten. Its file stays as it is; scrubjay ingest reads it again.");
  const drawn = facts ? ` ${plural(facts, "fact", "facts")} that nothing else said went with it.` : "";
  toast(`Forgotten.${drawn}`, { action: "Undo", act: () => restore(memory, facts, after), about: memory.id });
}

async function restore(memory, facts, after) {
  const answer = await attempt(() => call("add", addBody(memory)));
  if (!answer) return;
  toast(
    `Stored again with its fields and links. Its history${facts ? ", and the facts drawn from it," : ""} cannot come back.`,
  );
  after();
}

/** Return what `add` needs to store a memory as it was: fields that are not set are left out. */
function addBody(memory) {
  const set = FIELDS.filter((name) => memory[name] !== null && memory[name] !== "");
  const links = memory.links.map(({ to, strength, kind }) => ({ to, strength, kind }));
  return { ...Object.fromEntries(set.map((name) => [name, memory[name]])), links };
}

// Toasts after a memory was added or edited, with Undo for an edit.

import { call } from "../app/api.js";
import { displayName } from "../app/stored_text.js";
import { attempt, toast } from "../app/toast.js";

/** Report a new memory, and whether it is found by meaning already. */
export function notifyAdded(result) {
  const { memory, known } = result;
  if (known.length) return toast("Already stored: a memory with the same text and type.");
  return toast(`Stored “${displayName(memory, 40)}” as ${memory.type}. ${searchability(result)}`, { about: memory.id });
}

/** Report which fields an edit changed, with Undo; calls `again` after an Undo. */
export function notifyEdited(former, changes, result, again) {
  const names = Object.keys(changes);
  if (!names.length) return toast("Nothing was changed.");
  const changedNames = names.map((name) => name.replaceAll("_", " ")).join(", ");
  const act = () => restore(former, names, result.memory, again);
  return toast(`Changed: ${changedNames}.${"text" in changes ? ` ${searchability(result)}` : ""}`, {
    action: "Undo",
    act,
    about: former.id,
  });
}

function searchability({ embedded, why_pending: why }) {
  if (embedded) return "It is found by words and by meaning.";
  return why
    ? `It is found by words, but not by meaning yet: ${why}.`
    : "It is found by words now and by meaning soon.";
}

async function restore(former, names, stored, again) {
  const { id } = former;
  const now = await attempt(() => call("get", { id }));
  if (!now) return;
  if (now.memories[0].updated_at !== stored.updated_at) {
    toast("It was changed again since then, so nothing was undone.", { bad: true });
    return;
  }
  const values = Object.fromEntries(names.map((name) => [name, former[name] ?? ""])); // an empty value deletes the field
  if (!(await attempt(() => call("update", { id, ...values })))) return;
  toast("Change undone.", { about: id });
  again();
}

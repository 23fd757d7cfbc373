// What is said when a memory was stored, and the way back from an edit.

import { call } from "../app/api.js";
import { displayName } from "../app/stored_text.js";
import { attempt, toast } from "../app/toast.js";

/** Say that a new memory is there, and by which ways it is found already. */
export function notifyAdded(result) {
  const { memory, known } = result;
  if (known.length) return toast("It was stored before already: the same text and type.");
  return toast(`Stored “${displayName(memory, 40)}” as ${memory.type}. ${searchability(result)}`, { about: memory.id });
}

/** Say what an edit changed of a memory, and offer to put that back; `again` is called when it is. */
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
  if (embedded) return "It is found by word and by meaning.";
  return why ? `It is found by word; by meaning not yet: ${why}.` : "It is found by word, and in a moment by meaning.";
}

async function restore(former, names, stored, again) {
  const { id } = former;
  const now = await attempt(() => call("get", { id }));
  if (!now) return;
  if (now.memories[0].updated_at !== stored.updated_at) {
    toast("It was changed once more since then, so nothing was put back.", { bad: true });
    return;
  }
  const values = Object.fromEntries(names.map((name) => [name, former[name] ?? ""])); // an empty one takes it away
  if (!(await attempt(() => call("update", { id, ...values })))) return;
  toast("The former values are back.", { about: id });
  again();
}

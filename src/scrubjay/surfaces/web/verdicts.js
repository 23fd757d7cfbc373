// What became of results: feedback by one click, taken back by another.

import { ask } from "./api.js";
import { saying, toast } from "./toast.js";

const DONE = { accepted: "Noted: it answered.", modified: "Noted: it helped, changed.", dismissed: "Noted: it did not help." };
const known = new Map(); // what this page has given, by query and id
const underWay = new Set(); // the second of two clicks would give it twice

const keyOf = (query, id) => JSON.stringify([query, id]);

/** Return what was said of a result here, or an empty text. */
export const given = (query, id) => known.get(keyOf(query, id))?.action ?? "";

/** Say what became of a result; the same again takes it back. Calls `after` when that changed. */
export async function feedback(query, id, action, after) {
  const key = keyOf(query, id);
  if (underWay.has(key)) return;
  underWay.add(key);
  try {
    await turn(key, { query, id, action }, after);
  } finally {
    underWay.delete(key);
  }
}

async function turn(key, said, after) {
  const before = known.get(key)?.action;
  if (before && !(await takenBack(key))) return;
  if (before === said.action) saidBack(said.id);
  else await give(key, said, after);
  after();
}

async function give(key, said, after) {
  const answer = await saying(() => ask("feedback", said));
  if (!answer) return;
  known.set(key, answer.feedback[0]);
  const act = () => takenBack(key).then((done) => done && saidBack(said.id)).then(after);
  toast(DONE[said.action], { about: `feedback ${said.id}`, action: "Undo", act });
}

const saidBack = (id) => toast("The feedback is taken back.", { about: `feedback ${id}` });

async function takenBack(key) {
  const { number, tier } = known.get(key) ?? {};
  if (!number) return false; // by the button, before the toast was gone
  const answer = await saying(() => ask("undo_feedback", tier ? { number, tier } : { number }));
  if (answer) known.delete(key);
  return Boolean(answer);
}

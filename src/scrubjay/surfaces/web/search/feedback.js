// What became of results: feedback by one click, taken back by another.

import { ask } from "../app/api.js";
import { saying, toast } from "../app/toast.js";

/** What a button says, by what it gives: the words of the shell and of the log are in its title. */
export const VERDICTS = { accepted: "Helped", modified: "Helped, changed", dismissed: "Did not help" };

const LEARNS = "vault"; // the one profile of ours whose weights follow feedback
const MOST = 200; // of what was given before
const known = new Map(); // the latest that was said, by query and id
const underWay = new Set(); // the second of two clicks would give it twice
let before = null;

const keyOf = (query, id) => JSON.stringify([query, id]);

/** Return what was said of a result, here or before, or an empty text. */
export const given = (query, id) => known.get(keyOf(query, id))?.action ?? "";

/** Read what was given before this page was opened, once. */
export function givenBefore() {
  before ??= ask("feedbacks", { limit: MOST }).then(
    ({ feedback: all }) => {
      for (const one of all) if (!known.has(keyOf(one.query, one.id))) known.set(keyOf(one.query, one.id), one); // newest first
    },
    (error) => {
      before = null;
      if (!error.kind) throw error; // else no button is pressed, and the search says what is wrong
    },
  );
  return before;
}

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
  const former = known.get(key)?.action;
  if (former && !(await takenBack(key))) return;
  if (former === said.action) saidBack(key);
  else await give(key, said, after);
  after();
}

async function give(key, said, after) {
  const answer = await saying(() => ask("feedback", said));
  if (!answer) return;
  known.set(key, answer.feedback[0]);
  tell(key, said.action, after); // on its own: the buttons need not wait for it
}

async function tell(key, action, after) {
  const said = known.get(key);
  const counts = await saying(() => ask("weights", { profile: LEARNS }));
  if (known.get(key) !== said) return; // it is something else by now
  const undo = () =>
    takenBack(key)
      .then((done) => done && saidBack(key))
      .then(after);
  toast(`Noted as ${action}. ${counts ? whatFollows(counts) : ""}`, { about: key, action: "Undo", act: undo });
}

/** Say what feedback changes: in one profile the weights, and there not before there is enough of it. */
function whatFollows({ needed, frozen, accepted, modified, dismissed }) {
  if (frozen) return "It changes nothing for now: the weights are frozen.";
  if (needed === null) return "It is kept, and no profile learns from it.";
  const sum = accepted + modified + dismissed;
  return `It counts in the profile ${LEARNS} alone, ${sum < needed ? `from ${needed} on (${sum} so far)` : `whose weights follow all ${sum}`}.`;
}

const saidBack = (key) => toast("The feedback is taken back.", { about: key });

async function takenBack(key) {
  const { number, tier } = known.get(key) ?? {};
  if (!number) return false; // by the button, before the toast was gone
  const done = await saying(() => ask("undo_feedback", tier ? { number, tier } : { number }).catch(goneAlready));
  if (done) known.delete(key);
  return Boolean(done);
}

function goneAlready(error) {
  if (error.kind !== "not-found") throw error;
  return {}; // somebody took it back elsewhere
}

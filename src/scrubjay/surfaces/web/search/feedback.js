// What became of results: feedback by one click, taken back by another.

import { call } from "../app/api.js";
import { attempt, toast } from "../app/toast.js";

/** What a button says, by what it gives: the words of the shell and of the log are in its title. */
export const VERDICTS = { accepted: "Helped", modified: "Helped, changed", dismissed: "Did not help" };

const LEARNS = "vault"; // the one profile of ours whose weights follow feedback
const MOST = 200; // of what was given before
const feedbackByKey = new Map(); // the latest that was said, by query and id
const underWay = new Set(); // the second of two clicks would give it twice
let loading = null;

const keyOf = (query, id) => JSON.stringify([query, id]);

/** Return what was said of a result, here or before, or an empty text. */
export const feedbackOf = (query, id) => feedbackByKey.get(keyOf(query, id))?.action ?? "";

/** Read what was given before this page was opened, once. */
export function loadFeedback() {
  loading ??= call("feedbacks", { limit: MOST }).then(
    ({ feedback: all }) => {
      for (const entry of all)
        if (!feedbackByKey.has(keyOf(entry.query, entry.id))) feedbackByKey.set(keyOf(entry.query, entry.id), entry); // newest first
    },
    (error) => {
      loading = null;
      if (!error.kind) throw error; // else no button is pressed, and the search says what is wrong
    },
  );
  return loading;
}

/** Say what became of a result; the same again takes it back. Calls `after` when that changed. */
export async function toggleFeedback(query, id, action, after) {
  const key = keyOf(query, id);
  if (underWay.has(key)) return;
  underWay.add(key);
  try {
    await change(key, { query, id, action }, after);
  } finally {
    underWay.delete(key);
  }
}

async function change(key, entry, after) {
  const former = feedbackByKey.get(key)?.action;
  if (former && !(await undoFeedback(key))) return;
  if (former === entry.action) notifyUndone(key);
  else await send(key, entry, after);
  after();
}

async function send(key, entry, after) {
  const answer = await attempt(() => call("feedback", entry));
  if (!answer) return;
  feedbackByKey.set(key, answer.feedback[0]);
  notify(key, entry.action, after); // on its own: the buttons need not wait for it
}

async function notify(key, action, after) {
  const stored = feedbackByKey.get(key);
  const counts = await attempt(() => call("weights", { profile: LEARNS }));
  if (feedbackByKey.get(key) !== stored) return; // it is something else by now
  const undo = () =>
    undoFeedback(key)
      .then((done) => done && notifyUndone(key))
      .then(after);
  toast(`Noted as ${action}. ${counts ? effectOf(counts) : ""}`, { about: key, action: "Undo", act: undo });
}

/** Say what feedback changes: in one profile the weights, and there not before there is enough of it. */
function effectOf({ needed, frozen, accepted, modified, dismissed }) {
  if (frozen) return "It changes nothing for now: the weights are frozen.";
  if (needed === null) return "It is kept, and no profile learns from it.";
  const sum = accepted + modified + dismissed;
  return `It counts in the profile ${LEARNS} alone, ${sum < needed ? `from ${needed} on (${sum} so far)` : `whose weights follow all ${sum}`}.`;
}

const notifyUndone = (key) => toast("The feedback is taken back.", { about: key });

async function undoFeedback(key) {
  const { number, tier } = feedbackByKey.get(key) ?? {};
  if (!number) return false; // by the button, before the toast was gone
  const done = await attempt(() => call("undo_feedback", tier ? { number, tier } : { number }).catch(ignoreMissing));
  if (done) feedbackByKey.delete(key);
  return Boolean(done);
}

function ignoreMissing(error) {
  if (error.kind !== "not-found") throw error;
  return {}; // somebody took it back elsewhere
}

// Feedback on hits: given by one click, undone by another.

import { call } from "../app/api.js";
import { attempt, toast } from "../app/toast.js";

/** Label of the button for each action; its title has the action's name in the CLI and the log. */
export const VERDICTS = { accepted: "Helped", modified: "Helped, changed", dismissed: "Did not help" };

const LEARNS = "vault"; // the only built-in profile whose weights change with feedback
const MOST = 200; // of earlier feedback
const feedbackByKey = new Map(); // the latest feedback, by query and id
const underWay = new Set(); // a double click would send it twice
let loading = null;

const keyOf = (query, id) => JSON.stringify([query, id]);

/** Return the action given for a hit, now or earlier, or an empty text. */
export const feedbackOf = (query, id) => feedbackByKey.get(keyOf(query, id))?.action ?? "";

/** Load earlier feedback, once. */
export function loadFeedback() {
  loading ??= call("feedbacks", { limit: MOST }).then(
    ({ feedback: all }) => {
      for (const entry of all)
        if (!feedbackByKey.has(keyOf(entry.query, entry.id))) feedbackByKey.set(keyOf(entry.query, entry.id), entry); // newest first
    },
    (error) => {
      loading = null;
      if (!error.kind) throw error; // otherwise no button is pressed, and the search shows the error
    },
  );
  return loading;
}

/** Record whether a hit helped; the same action again undoes it. Calls `after` when that changed. */
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
  notify(key, entry.action, after); // not awaited: the buttons need not wait for it
}

async function notify(key, action, after) {
  const stored = feedbackByKey.get(key);
  const counts = await attempt(() => call("weights", { profile: LEARNS }));
  if (feedbackByKey.get(key) !== stored) return; // it has changed since
  const undo = () =>
    undoFeedback(key)
      .then((done) => done && notifyUndone(key))
      .then(after);
  toast(`Recorded as ${action}. ${counts ? effectOf(counts) : ""}`, { about: key, action: "Undo", act: undo });
}

/** Explain the effect of feedback: it changes the weights of one profile, once there is enough of it. */
function effectOf({ needed, frozen, accepted, modified, dismissed }) {
  if (frozen) return "It has no effect now: the weights are frozen.";
  if (needed === null) return "It is stored; no profile learns from it.";
  const sum = accepted + modified + dismissed;
  return `It affects only the profile ${LEARNS}, ${sum < needed ? `from ${needed} feedbacks on (${sum} so far)` : `whose weights follow all ${sum}`}.`;
}

const notifyUndone = (key) => toast("Feedback undone.", { about: key });

async function undoFeedback(key) {
  const { number, tier } = feedbackByKey.get(key) ?? {};
  if (!number) return false; // already undone by the button, while the toast was still there
  const done = await attempt(() => call("undo_feedback", tier ? { number, tier } : { number }).catch(ignoreMissing));
  if (done) feedbackByKey.delete(key);
  return Boolean(done);
}

function ignoreMissing(error) {
  if (error.kind !== "not-found") throw error;
  return {}; // it was undone elsewhere
}

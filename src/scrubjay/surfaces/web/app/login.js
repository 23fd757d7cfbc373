// Who is signed in, asked once: what they may do decides what the page offers.

import { keep, send, server } from "./api.js";
import { note } from "./route.js";

const THEN = "scrubjay.then"; // where to go on after signing in, of this tab alone
const WHY = "scrubjay.why"; // not in the address: whoever makes a link would say what the page says
let asked = null;
server.addEventListener("signed-out", changed);
server.addEventListener("back", changed); // another server may have come back

/**
 * Return `{signed_in, why, name, scopes, tenant, user, store, version, asks_for_token}`. `scopes` is empty where nobody
 * is signed in, and `why` says what ended a session.
 */
export function who() {
  asked ??= send("GET", "/session").catch((error) => {
    asked = null;
    throw error;
  });
  return asked;
}

/** Ask anew the next time: somebody signed in or out. */
function changed() {
  asked = null;
}

/** Sign in with `{code}` of a link or with `{token}`; throws a Problem that says what is wrong. */
export async function signIn(how) {
  const { key } = await send("POST", "/session", how);
  keep(key);
  changed();
}

/** Sign out, here and in every other tab; this one is made anew, so that nothing is left in it. */
export async function signOut() {
  const ended = send("DELETE", "/session").catch(() => null); // without the key it is of no use to anybody
  // Before the answer is there: what else was asked may be refused first, which must not lead back here.
  keep(null);
  sessionStorage.clear(); // drafts, too
  note("signin");
  await ended;
  location.reload();
}

/** Make a link that signs another browser in, once. */
export async function otherLink() {
  return (await send("POST", "/session/link")).page;
}

/** Keep where somebody wanted to go, for when they are signed in, and why they have to sign in. */
export function comeBackTo(hash, why) {
  sessionStorage.setItem(THEN, hash);
  sessionStorage.setItem(WHY, why);
}

/** Return why somebody has to sign in, in the server's words; empty where that goes without saying. */
export function whyNot() {
  return sessionStorage.getItem(WHY) ?? "";
}

/** Go on to where somebody wanted to go before they had to sign in. */
export function goOn() {
  const then = sessionStorage.getItem(THEN) ?? "";
  sessionStorage.removeItem(THEN);
  sessionStorage.removeItem(WHY);
  location.replace(then.startsWith("#/") && !then.startsWith("#/signin") ? then : "#/search");
}

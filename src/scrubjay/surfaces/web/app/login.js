// Who is signed in, asked once: what they may do decides what the page offers.

import { send, server, storeKey } from "./api.js";
import { replaceRoute } from "./route.js";

const TARGET = "scrubjay.then"; // where to go on after signing in, of this tab alone
const REASON = "scrubjay.why"; // not in the address: whoever makes a link would say what the page says
let pending = null;
server.addEventListener("signed-out", forgetLogin);
server.addEventListener("back", forgetLogin); // another server may have come back

/**
 * Return `{signed_in, why, name, scopes, tenant, user, store, version, asks_for_token}`. `scopes` is empty where nobody
 * is signed in, and `why` says what ended a session.
 */
export function currentLogin() {
  pending ??= send("GET", "/session").catch((error) => {
    pending = null;
    throw error;
  });
  return pending;
}

/** Ask anew the next time: somebody signed in or out. */
function forgetLogin() {
  pending = null;
}

/** Sign in with `{code}` of a link or with `{token}`; throws a Problem that says what is wrong. */
export async function signIn(how) {
  const { key } = await send("POST", "/session", how);
  storeKey(key);
  forgetLogin();
}

/** Sign out, here and in every other tab; this one is made anew, so that nothing is left in it. */
export async function signOut() {
  const ended = send("DELETE", "/session").catch(() => null); // without the key it is of no use to anybody
  // Before the answer is there: what else was asked may be refused first, which must not lead back here.
  storeKey(null);
  sessionStorage.clear(); // drafts, too
  replaceRoute("signin");
  await ended;
  location.reload();
}

/** Make a link that signs another browser in, once. */
export async function createLoginLink() {
  return (await send("POST", "/session/link")).page;
}

/** Keep where somebody wanted to go, for when they are signed in, and why they have to sign in. */
export function rememberTarget(hash, why) {
  sessionStorage.setItem(TARGET, hash);
  sessionStorage.setItem(REASON, why);
}

/** Return why somebody has to sign in, in the server's words; empty where that goes without saying. */
export function signInReason() {
  return sessionStorage.getItem(REASON) ?? "";
}

/** Go on to where somebody wanted to go before they had to sign in. */
export function resume() {
  const then = sessionStorage.getItem(TARGET) ?? "";
  sessionStorage.removeItem(TARGET);
  sessionStorage.removeItem(REASON);
  location.replace(then.startsWith("#/") && !then.startsWith("#/signin") ? then : "#/search");
}

// The login: loaded once, since its permissions decide what the web UI offers.

import { send, server, storeKey } from "./api.js";
import { replaceRoute } from "./route.js";

const TARGET = "scrubjay.then"; // route to open after signing in, for this tab only
const REASON = "scrubjay.why"; // not in the address: the author of a link could then choose the text that is shown
let pending = null;
server.addEventListener("signed-out", forgetLogin);
server.addEventListener("back", forgetLogin); // it may be another server now

/**
 * Return `{signed_in, why, name, scopes, tenant, user, store, version, asks_for_token}`. Without a login
 * `scopes` is empty and `why` is the reason why the last one ended.
 */
export function currentLogin() {
  pending ??= send("GET", "/session").catch((error) => {
    pending = null;
    throw error;
  });
  return pending;
}

/** Load the login again at the next call: the user signed in or out. */
function forgetLogin() {
  pending = null;
}

/** Sign in with the `{code}` of a link or with an API key, `{token}`; throws a Problem if the server refuses. */
export async function signIn(how) {
  const { key } = await send("POST", "/session", how);
  storeKey(key);
  forgetLogin();
}

/** Sign out in every tab; reload this one, so that nothing stays on the screen. */
export async function signOut() {
  const ended = send("DELETE", "/session").catch(() => null); // the cookie is useless without the key
  // Before the answer arrives: another request may be refused first and must not redirect back to this view.
  storeKey(null);
  sessionStorage.clear(); // including drafts
  replaceRoute("signin");
  await ended;
  location.reload();
}

/** Create a link that signs in another browser, once. */
export async function createLoginLink() {
  return (await send("POST", "/session/link")).page;
}

/** Store the route to open after signing in, and the reason why signing in is needed. */
export function rememberTarget(hash, why) {
  sessionStorage.setItem(TARGET, hash);
  sessionStorage.setItem(REASON, why);
}

/** Return the server's reason why signing in is needed, or an empty text. */
export function signInReason() {
  return sessionStorage.getItem(REASON) ?? "";
}

/** Open the route that the user wanted before signing in. */
export function resume() {
  const then = sessionStorage.getItem(TARGET) ?? "";
  sessionStorage.removeItem(TARGET);
  sessionStorage.removeItem(REASON);
  location.replace(then.startsWith("#/") && !then.startsWith("#/signin") ? then : "#/search");
}

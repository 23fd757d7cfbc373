// Who is signed in, asked once: what they may do decides what the page offers.

import { send, server } from "./api.js";

let asked = null;
server.addEventListener("signed-out", () => (asked = null));
server.addEventListener("back", () => (asked = null)); // another server may have come back

/** Return `{signed_in, name, scopes, tenant, user, store, version}`; `scopes` is empty where nobody is signed in. */
export function who() {
  asked ??= send("GET", "/session").catch((error) => {
    asked = null;
    throw error;
  });
  return asked;
}

/** Ask anew the next time: somebody signed in or out. */
export function changed() {
  asked = null;
}

/** Whether such a person may write; who may administer may. */
export const mayWrite = ({ scopes }) => scopes.includes("write") || scopes.includes("admin");

// Who is signed in, where, and what they may do there; with a way into another browser, and out.

import { facts } from "../health/panels.js";
import { commandBlock } from "./command.js";
import { openDialog } from "./dialog.js";
import { h, put } from "./dom.js";
import * as keys from "./keys.js";
import { createLoginLink, currentLogin, signOut } from "./login.js";
import * as theme from "./theme.js";
import { attempt } from "./toast.js";

const PERMISSIONS = {
  admin: "everything, also what is for whoever runs the server",
  write: "read and write",
  read: "read only",
};

/** Say who somebody is, `[[name, value]]`, from what the server told of the session. */
function accountFacts({ name, scopes, tenant, user, store, version }) {
  return [
    ["Store", store],
    ["Tenant", tenant],
    ["Signed in", name ? `with the token ${name}` : "by a link, without a token"],
    ["Person", user ?? "none: you see what everybody stored"],
    ["You may", PERMISSIONS[["admin", "write", "read"].find((scope) => scopes.includes(scope))] ?? "nothing here"],
    ["Server", `scrubjay ${version}`],
  ];
}

/** Show who is signed in, and what one does about that. */
export async function openAccount() {
  const person = await attempt(currentLogin);
  if (!person) return;
  openDialog("You and this store", (body, close) => {
    const then = (act) => () => {
      close();
      act();
    };
    const actions = h(
      "p",
      { class: "actions" },
      h("button", { type: "button", class: "on-phone", onclick: theme.toggle }, "Theme"),
      h("button", { type: "button", class: "on-phone typed", onclick: then(keys.openHelp) }, "Keys"),
      h("button", { type: "button", onclick: then(signOut) }, "Sign out"),
    );
    const admits = person.scopes.includes("admin") && !person.asks_for_token; // a link is for an open server
    put(body, h("div", {}, facts(accountFacts(person)), admits && loginLinkPart(), actions));
  });
}

/** A link that signs in whoever opens it: made when it is asked for, since it does not last. */
function loginLinkPart() {
  const place = h("div", { role: "status" });
  const make = async () => {
    const page = await attempt(createLoginLink);
    if (page)
      put(
        place,
        commandBlock(page),
        h("p", { class: "hint" }, "It works once, for ten minutes, and may do everything."),
      );
  };
  return h(
    "div",
    {},
    h("p", { class: "actions" }, h("button", { type: "button", onclick: make }, "Open in another browser")),
    place,
  );
}

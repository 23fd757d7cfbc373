// Account dialog: the login and its permissions, a link for another browser, and Sign out.

import { facts } from "../health/panels.js";
import { commandBlock } from "./command.js";
import { openDialog } from "./dialog.js";
import { h, put } from "./dom.js";
import * as keys from "./keys.js";
import { createLoginLink, currentLogin, signOut } from "./login.js";
import * as theme from "./theme.js";
import { attempt } from "./toast.js";

const PERMISSIONS = {
  admin: "everything, including administration of the server",
  write: "read and write",
  read: "read only",
};

/** Return the facts of a login, `[[name, value]]`, from the server's answer to GET /session. */
function accountFacts({ name, scopes, tenant, user, store, version }) {
  return [
    ["Store", store],
    ["Tenant", tenant],
    ["Signed in", name ? `with the API key ${name}` : "by a link, without an API key"],
    ["User", user ?? "none: you see the memories of all users"],
    ["You may", PERMISSIONS[["admin", "write", "read"].find((scope) => scopes.includes(scope))] ?? "nothing here"],
    ["Server", `scrubjay ${version}`],
  ];
}

/** Open the account dialog. */
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
    const admits = person.scopes.includes("admin") && !person.asks_for_token; // links are only for a server without API keys
    put(body, h("div", {}, facts(accountFacts(person)), admits && loginLinkPart(), actions));
  });
}

/** Button that creates a link which signs in another browser; created on click because it expires soon. */
function loginLinkPart() {
  const place = h("div", { role: "status" });
  const make = async () => {
    const page = await attempt(createLoginLink);
    if (page)
      put(
        place,
        commandBlock(page),
        h("p", { class: "hint" }, "It works once, within ten minutes, and gives full access."),
      );
  };
  return h(
    "div",
    {},
    h("p", { class: "actions" }, h("button", { type: "button", onclick: make }, "Open in another browser")),
    place,
  );
}

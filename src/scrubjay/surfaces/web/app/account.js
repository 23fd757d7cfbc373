// Who is signed in, where, and what they may do there; with a way into another browser, and out.

import { facts } from "../health/panels.js";
import { command } from "./command.js";
import { opened } from "./dialog.js";
import { h, put } from "./dom.js";
import * as keys from "./keys.js";
import { otherLink, signOut, who } from "./login.js";
import * as theme from "./theme.js";
import { saying } from "./toast.js";

const MAY = {
  admin: "everything, also what is for whoever runs the server",
  write: "read and write",
  read: "read only",
};

/** Say who somebody is, `[[name, value]]`, from what the server told of the session. */
function told({ name, scopes, tenant, user, store, version }) {
  return [
    ["Store", store],
    ["Tenant", tenant],
    ["Signed in", name ? `with the token ${name}` : "by a link, without a token"],
    ["Person", user ?? "none: you see what everybody stored"],
    ["You may", MAY[["admin", "write", "read"].find((one) => scopes.includes(one))] ?? "nothing here"],
    ["Server", `scrubjay ${version}`],
  ];
}

/** Show who is signed in, and what one does about that. */
export async function account() {
  const person = await saying(who);
  if (!person) return;
  opened("You and this store", (body, close) => {
    const then = (act) => () => {
      close();
      act();
    };
    const actions = h(
      "p",
      { class: "actions" },
      h("button", { type: "button", class: "on-phone", onclick: theme.turn }, "Theme"),
      h("button", { type: "button", class: "on-phone typed", onclick: then(keys.help) }, "Keys"),
      h("button", { type: "button", onclick: then(signOut) }, "Sign out"),
    );
    const admits = person.scopes.includes("admin") && !person.asks_for_token; // a link is for an open server
    put(body, h("div", {}, facts(told(person)), admits && elsewhere(), actions));
  });
}

/** A link that signs in whoever opens it: made when it is asked for, since it does not last. */
function elsewhere() {
  const place = h("div", { role: "status" });
  const make = async () => {
    const page = await saying(otherLink);
    if (page)
      put(place, command(page), h("p", { class: "hint" }, "It works once, for ten minutes, and may do everything."));
  };
  return h(
    "div",
    {},
    h("p", { class: "actions" }, h("button", { type: "button", onclick: make }, "Open in another browser")),
    place,
  );
}

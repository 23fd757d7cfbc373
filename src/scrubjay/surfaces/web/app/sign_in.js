// Sign-in view: with the link that the server printed, or with an API key.

import { commandBlock } from "./command.js";
import { h, put } from "./dom.js";
import { currentLogin, resume, signIn, signInReason } from "./login.js";
import { replaceRoute } from "./route.js";

/** Make the view. */
export function make(root) {
  let trying = false;

  async function show(params) {
    const code = params.get("code");
    if (code) return withCode(code);
    if (!trying) draw(root, await currentLogin(), signInReason());
  }

  async function withCode(code) {
    replaceRoute("signin"); // the code works once; remove it from the address
    trying = true;
    put(root, h("h1", {}, "Sign in"), h("p", { role: "status" }, "Signing in …"));
    try {
      await signIn({ code });
      resume();
    } catch (error) {
      await failed(error, code);
    } finally {
      trying = false;
    }
  }

  async function failed(error, code) {
    if (!error.kind) throw error;
    if (error.kind !== "no-token") return later(error, code);
    const person = await currentLogin();
    if (person.signed_in)
      resume(); // with this link, earlier
    else draw(root, person, error.detail);
  }

  /** Keep the code, which is still valid: it is tried again when the server is back or at the user's request. */
  function later(error, code) {
    replaceRoute("signin", { code });
    if (error.kind === "away") return;
    const again = h("button", { type: "button", onclick: () => withCode(code) }, "Try again");
    put(root, h("h1", {}, "Sign in"), h("p", { class: "notice bad", role: "alert" }, sentence(error.detail)), again);
  }

  return { show, hide: () => put(root), keys: [] };
}

function draw(root, person, why) {
  const reason = h("p", { class: "notice bad", role: "alert" }, sentence(withoutAdvice(why)));
  put(
    root,
    h("h1", {}, "Sign in"),
    why && reason,
    h("div", { class: "panel" }, person.asks_for_token ? keyForm() : linkForm()),
  );
  root.querySelector("input")?.focus();
}

function linkForm() {
  const box = { type: "text", name: "link", placeholder: `${location.origin}/#/signin?code=…` };
  return [
    h(
      "p",
      {},
      "Open the link that ",
      h("code", {}, "scrubjay serve"),
      " printed when it started, or paste it here. It works once, within ten minutes.",
    ),
    form("Link, or its code", box, parseInput),
    h("p", {}, "To get a new link, run on the machine of the server:"),
    commandBlock(`scrubjay signin ${location.origin}`),
  ];
}

/** Parse the input: a link, the code of a link, or an API key. */
function parseInput(text) {
  if (text.startsWith("sj_")) return { token: text };
  return { code: /code=([\w-]+)/.exec(text)?.[1] ?? text };
}

function keyForm() {
  const made = h("code", {}, "scrubjay key create NAME --scope write");
  const hint = h("p", { class: "hint", id: "signin-hint" }, "An administrator of the server creates API keys: ", made);
  return form("API key", { type: "password", name: "token" }, (token) => ({ token }), hint);
}

function form(label, box, how, hint = null) {
  const wrong = h("p", { class: "wrong", role: "alert", id: "signin-wrong" });
  const about = hint ? "signin-hint signin-wrong" : "signin-wrong";
  const field = h("input", {
    ...box,
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": about,
  });
  const button = h("button", { type: "submit", class: "main" }, "Sign in");
  const submit = async (event) => {
    event.preventDefault(); // the content security policy blocks form submissions, too
    button.disabled = true;
    put(wrong);
    try {
      await signIn(how(field.value.trim()));
      field.value = "";
      resume();
    } catch (error) {
      if (!error.kind) throw error;
      put(wrong, sentence(error.kind === "no-token" ? withoutAdvice(error.detail) : error.detail));
      field.select();
    } finally {
      button.disabled = false;
    }
  };
  return h(
    "form",
    { onsubmit: submit },
    h("label", { class: "field" }, label, field),
    wrong,
    hint,
    h("p", { class: "actions" }, button),
  );
}

/** Return the error without its advice, which the form below gives. */
const withoutAdvice = (text) => text.split("; ")[0];

/** Capitalize a message: the server's messages start with a lower-case letter, for the terminal. */
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

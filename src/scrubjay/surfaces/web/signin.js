// Signing in: by the link that the server printed, which needs nothing else, or with a token.

import { h, put } from "./dom.js";
import { note } from "./route.js";
import { goOn, signIn, who, whyNot } from "./session.js";

/** Make the view. */
export function make(root) {
  let trying = false;

  async function show(params) {
    const code = params.get("code");
    if (code) return withCode(code);
    if (!trying) draw(root, await who(), whyNot());
  }

  async function withCode(code) {
    note("signin"); // the code is of no use twice, and need not stay in the address
    trying = true;
    put(root, h("h1", {}, "Sign in"), h("p", { role: "status" }, "Signing in …"));
    try {
      await signIn({ code });
      goOn();
    } catch (error) {
      await failed(error, code);
    } finally {
      trying = false;
    }
  }

  async function failed(error, code) {
    if (!error.kind) throw error;
    if (error.kind !== "no-token") return later(error, code);
    const person = await who();
    if (person.signed_in) goOn(); // by this very link, some time before
    else draw(root, person, error.detail);
  }

  /** The link is still good: tried again when the server is back, or when somebody wants to. */
  function later(error, code) {
    note("signin", { code });
    if (error.kind === "away") return;
    const again = h("button", { type: "button", onclick: () => withCode(code) }, "Try again");
    put(root, h("h1", {}, "Sign in"), h("p", { class: "said bad", role: "alert" }, sentence(error.detail)), again);
  }

  return { show, hide: () => put(root), keys: [] };
}

function draw(root, person, why) {
  const said = h("p", { class: "said bad", role: "alert" }, sentence(why));
  put(root, h("h1", {}, "Sign in"), why && said, h("div", { class: "panel" }, person.asks_for_token ? form(root) : hint()));
  root.querySelector("input")?.focus();
}

function hint() {
  const command = `curl -X POST ${location.origin}/session/link`;
  return [
    h("p", {}, "Open the link that ", h("code", {}, "scrubjay serve"), " printed when it started. It works once, for ten minutes."),
    h("p", {}, "For a new one, ask on the machine where the server runs, and open the link that is printed:"),
    h("pre", { class: "scroll", tabindex: "0" }, h("code", {}, command)),
  ];
}

function form(root) {
  const wrong = h("p", { class: "wrong", role: "alert", id: "signin-wrong" });
  const token = h("input", {
    type: "password", name: "token", autocomplete: "off", spellcheck: "false", required: true,
    "aria-describedby": "signin-hint signin-wrong",
  });
  const button = h("button", { type: "submit", class: "main" }, "Sign in");
  const submit = async (event) => {
    event.preventDefault(); // nor does the policy let a form be sent anywhere
    button.disabled = true;
    put(wrong);
    try {
      await signIn({ token: token.value.trim() });
      token.value = "";
      goOn();
    } catch (error) {
      if (!error.kind) throw error;
      put(wrong, sentence(error.detail));
      token.select();
    } finally {
      button.disabled = false;
    }
  };
  return h(
    "form",
    { onsubmit: submit },
    h("label", { class: "field" }, "Token", token),
    wrong,
    h("p", { class: "hint", id: "signin-hint" }, "Whoever runs the server makes one: ", h("code", {}, "scrubjay token create NAME --scope write")),
    h("p", { class: "actions" }, button),
  );
}

/** The server's sentences begin small: they stand behind others in a terminal. */
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

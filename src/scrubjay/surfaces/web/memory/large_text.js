// A text that is too long for a form to open quickly: read first, and written in only if somebody wants to wait.

import { h } from "../app/dom.js";
import { count } from "../app/format.js";
import { longText } from "../app/stored_text.js";

const LONG_CHARS = 200_000;

/** Return what stands for the field of a text: the field itself, or if that is long the text to read, and a button. */
export function fieldOrPreview({ node, input }, text) {
  if (text.length <= LONG_CHARS) return node;
  const shown = h(
    "div",
    { class: "large" },
    h(
      "p",
      {},
      `The text has ${count(text.length)} characters. The browser needs a while to let you edit that much. `,
      h("button", { type: "button", onclick: edit }, "Edit the text anyway"),
    ),
    h("div", { class: "readable", tabindex: "0", role: "region", "aria-label": "Text" }, longText(text)),
  );
  function edit() {
    shown.replaceWith(node);
    input.focus();
  }
  return shown;
}

// Long texts in the form: read-only at first, because the browser needs long to make them editable.

import { h } from "../app/dom.js";
import { count } from "../app/format.js";
import { longText } from "../app/stored_text.js";

const LONG_CHARS = 200_000;

/** Return the field of the text, or for a long text a preview with a button that shows the field. */
export function fieldOrPreview({ node, input }, text) {
  if (text.length <= LONG_CHARS) return node;
  const shown = h(
    "div",
    { class: "large" },
    h(
      "p",
      {},
      `The text has ${count(text.length)} characters. Editing that much is slow in a browser. `,
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

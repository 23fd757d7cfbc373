// Modal dialogs: the browser's own, which trap the focus, close on Escape and return the focus.

import { h, uniqueId } from "./dom.js";

/**
 * Open a dialog and fill it with `fill(body, close)`. The promise resolves to the value passed to `close`, or to undefined
 * when the user closes the dialog. A click outside closes a dialog without a form.
 */
export function openDialog(title, fill, { wide = false } = {}) {
  const id = uniqueId("dialog");
  const body = h("div", { class: "body" });
  const dialog = h(
    "dialog",
    { "aria-labelledby": id, class: wide ? "wide" : "" },
    h(
      "header",
      {},
      h("h2", { id }, title),
      h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => dialog.close() }, "✕"),
    ),
    body,
  );
  closeOnOutsideClick(dialog);
  return new Promise((resolve) => {
    let result;
    dialog.addEventListener("close", () => {
      raiseToasts();
      dialog.remove();
      resolve(result);
    });
    fill(body, (value) => {
      result = value;
      dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
    raiseToasts();
  });
}

// A click must not discard typed text. A drag that selects text inside and ends outside does not count as a click.
function closeOnOutsideClick(dialog) {
  let began = null;
  dialog.addEventListener("pointerdown", (event) => (began = event.target));
  dialog.addEventListener("click", (event) => {
    const outside = event.target === dialog && began === dialog; // the children cover the dialog itself
    if (outside && !dialog.querySelector("form, textarea")) dialog.close();
  });
}

// Nothing outside a modal dialog can be clicked: move the toasts, with their Undo buttons, into the topmost one.
function raiseToasts() {
  const on = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  on.append(document.getElementById("toasts"));
}

/** Ask for confirmation and name the consequence; true if the user confirms. */
export async function confirm(question, yes, consequence = "") {
  return (
    (await openDialog(question, (body, close) => {
      body.append(
        h("p", { hidden: !consequence }, consequence),
        h(
          "p",
          { class: "actions" },
          h("button", { type: "button", class: "danger", onclick: () => close(true) }, yes),
          h("button", { type: "button", autofocus: true, onclick: () => close(false) }, "Cancel"),
        ),
      );
    })) === true
  );
}

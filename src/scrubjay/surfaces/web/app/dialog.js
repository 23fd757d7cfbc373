// Dialogs: the browser's own, which keep the focus, close by Escape and give it back.

import { h, uniqueId } from "./dom.js";

/**
 * Open a dialog, which a click outside closes where it has no form, and let `fill(body, close)` make what is in it; a result of `close` is what the promise gives.
 * Closed otherwise it gives undefined.
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

// What was typed is not to be lost by a click; one that began inside, to mark a text, ends outside by accident.
function closeOnOutsideClick(dialog) {
  let began = null;
  dialog.addEventListener("pointerdown", (event) => (began = event.target));
  dialog.addEventListener("click", (event) => {
    const outside = event.target === dialog && began === dialog; // what is inside covers all of it
    if (outside && !dialog.querySelector("form, textarea")) dialog.close();
  });
}

// Outside of a dialog nothing can be clicked: what is said, with its Undo, moves into the one on top.
function raiseToasts() {
  const on = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  on.append(document.getElementById("toasts"));
}

/** Ask before something is done for good, and tell what it does; true when they said yes. */
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

// Toasts: short messages at the edge of the window, with an Undo button where possible.

import { elements, h } from "./dom.js";

const SHOWN_MS = 6000;
const WITH_ACTION_MS = 12000;

/**
 * Show a message: `toast("Forgotten", {action: "Undo", act})`. A `bad` one stays until the user closes it. A toast
 * replaces an earlier one with the same `about`, whose Undo would no longer work.
 * @param {string} text
 * @param {{bad?: boolean, action?: string, act?: () => void, about?: string}} [options]
 */
export function toast(text, { bad = false, action = "", act, about = "" } = {}) {
  const all = document.getElementById("toasts");
  if (about)
    elements(all, ".toast")
      .find((earlier) => earlier.dataset.about === about)
      ?.remove();
  const gone = () => shown.remove();
  const shown = h(
    "div",
    { class: bad ? "toast bad" : "toast", role: bad ? "alert" : null, data: { about } },
    h("span", {}, text),
    action &&
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            gone();
            act();
          },
        },
        action,
      ),
    h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onclick: gone }, "✕"),
  );
  all.append(shown);
  if (!bad) setTimeout(gone, action ? WITH_ACTION_MS : SHOWN_MS);
}

/** Run an action; if it fails with a Problem, show that in a toast and return undefined. */
export async function attempt(doing) {
  try {
    return await doing();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (!error.kind) throw error; // a bug: report it in the console
    if (error.kind !== "away" && error.kind !== "no-token") toast(error.detail, { bad: true });
    return undefined;
  }
}

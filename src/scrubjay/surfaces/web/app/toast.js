// A line at the edge that says what was done, with a way back where there is one.

import { elements, h } from "./dom.js";

const SHOWN_MS = 6000;
const WITH_ACTION_MS = 12000;

/**
 * Say something: `toast("Forgotten", {action: "Undo", act})`. One that is `bad` stays until it is closed. One `about` a
 * thing takes the place of an earlier one about it, whose way back leads nowhere any more.
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

/** Do something that may fail, and say why if it does; gives undefined then. */
export async function attempt(doing) {
  try {
    return await doing();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (!error.kind) throw error; // ours to mend: the console has it
    if (error.kind !== "away" && error.kind !== "no-token") toast(error.detail, { bad: true });
    return undefined;
  }
}

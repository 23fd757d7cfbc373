// The keyboard: one key an action, a list of them all, and a way to switch them off.

import { opened } from "./dialog.js";
import { h, put } from "./dom.js";

const OFF = "scrubjay.keys-off"; // who speaks to a computer may not want single keys (WCAG 2.1.4)
const everywhere = [];
let ofView = [];
let writes = false;
let began = "";

/**
 * Add keys for the whole page: `{keys: "/", does: "Search", act}`; `g s` is g and then s. One with `write` is there for
 * those alone who may write.
 */
export function always(...keys) {
  everywhere.push(...keys);
}

/** Set the keys of the view that is shown. */
export function meanwhile(keys) {
  ofView = keys ?? [];
}

/** Say whether whoever is signed in may write. */
export function may(write) {
  writes = write;
}

/** Begin to listen. */
export function listen() {
  document.addEventListener("keydown", pressed);
}

const offered = () => [...ofView, ...everywhere].filter((one) => writes || !one.write);

function pressed(event) {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing || document.querySelector("dialog[open]") || localStorage.getItem(OFF)) return;
  const all = offered();
  const asked = began ? `${began} ${event.key}` : event.key;
  began = "";
  const found = all.find((one) => one.keys === asked);
  if (found) {
    event.preventDefault();
    found.act();
  } else if (all.some((one) => one.keys.startsWith(`${event.key} `))) {
    began = event.key;
    setTimeout(() => (began = ""), 1500);
  }
}

/** Show every key, those of this view first. */
export function help() {
  const rows = offered().map((one) =>
    h(
      "tr",
      {},
      h(
        "td",
        {},
        one.keys.split(" ").map((key) => [h("kbd", {}, key), " "]),
      ),
      h("td", {}, one.does),
    ),
  );
  const off = h("input", {
    type: "checkbox",
    checked: !localStorage.getItem(OFF),
    onchange: () => (off.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")),
  });
  opened("Keys", (body) =>
    put(body, h("table", { class: "keys" }, h("tbody", {}, rows)), h("label", {}, off, " Single keys are commands")),
  );
}

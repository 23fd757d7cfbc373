// Keyboard shortcuts: single keys for actions, a list of all, and a switch that disables them.

import { openDialog } from "./dialog.js";
import { h, put } from "./dom.js";

const OFF = "scrubjay.keys-off"; // users of speech input need to disable single keys (WCAG 2.1.4)
const globalKeys = [];
let viewKeys = [];
let writes = false;
let began = "";

/**
 * Add keys for all views: `{keys: "/", does: "Search", act}`; `g s` is g and then s. Keys with `write` need the
 * permission to write.
 */
export function addGlobalKeys(...keys) {
  globalKeys.push(...keys);
}

/** Set the keys of the current view. */
export function setViewKeys(keys) {
  viewKeys = keys ?? [];
}

/** Enable or disable the keys that write. */
export function allowWrites(write) {
  writes = write;
}

/** Start to handle keys. */
export function listen() {
  document.addEventListener("keydown", onKeydown);
}

const activeKeys = () => [...viewKeys, ...globalKeys].filter((binding) => writes || !binding.write);

function onKeydown(event) {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing || document.querySelector("dialog[open]") || localStorage.getItem(OFF)) return;
  const all = activeKeys();
  const pressed = began ? `${began} ${event.key}` : event.key;
  began = "";
  const found = all.find((binding) => binding.keys === pressed);
  if (found) {
    event.preventDefault();
    found.act();
  } else if (all.some((binding) => binding.keys.startsWith(`${event.key} `))) {
    began = event.key;
    setTimeout(() => (began = ""), 1500);
  }
}

/** Open the list of keys, those of the current view first. */
export function openHelp() {
  const rows = activeKeys().map((binding) =>
    h(
      "tr",
      {},
      h(
        "td",
        {},
        binding.keys.split(" ").map((key) => [h("kbd", {}, key), " "]),
      ),
      h("td", {}, binding.does),
    ),
  );
  const off = h("input", {
    type: "checkbox",
    checked: !localStorage.getItem(OFF),
    onchange: () => (off.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")),
  });
  openDialog("Keys", (body) =>
    put(body, h("table", { class: "keys" }, h("tbody", {}, rows)), h("label", {}, off, " Enable single-key shortcuts")),
  );
}

// Light or dark: as the system says, until somebody chooses.

import { toast } from "./toast.js";

const KEY = "scrubjay.theme";
const NEXT = { "": "light", light: "dark", dark: "" };

/** Show the page as it was chosen before. */
export function restore() {
  document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? "";
}

/** Go on to the next of: as the system says, light, dark. */
export function turn() {
  const chosen = NEXT[localStorage.getItem(KEY) ?? ""];
  localStorage.setItem(KEY, chosen);
  restore();
  toast(chosen ? `Theme: ${chosen}` : "Theme: as the system says");
}

// Light or dark: as the system says, until somebody chooses.

import { toast } from "./toast.js";

const KEY = "scrubjay.theme";
const OTHER = { light: "dark", dark: "light" };

/** Show the page as it was chosen before. */
export function apply() {
  document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? "";
}

/** Turn light into dark and back; what the system has, too, is again as the system says. */
export function toggle() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const next = OTHER[localStorage.getItem(KEY) || system];
  localStorage.setItem(KEY, next === system ? "" : next);
  apply();
  toast(next === system ? `Theme: ${next}, as the system says` : `Theme: ${next}`, { about: "theme" });
}

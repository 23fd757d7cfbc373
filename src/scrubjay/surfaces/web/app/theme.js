// Light or dark theme: that of the system until the user chooses another.

import { toast } from "./toast.js";

const KEY = "scrubjay.theme";
const OTHER = { light: "dark", dark: "light" };

/** Apply the stored theme. */
export function apply() {
  document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? "";
}

/** Switch between light and dark; the system's own theme is stored as “follow the system”. */
export function toggle() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const next = OTHER[localStorage.getItem(KEY) || system];
  localStorage.setItem(KEY, next === system ? "" : next);
  apply();
  toast(next === system ? `Theme: ${next}, as in the system` : `Theme: ${next}`, { about: "theme" });
}

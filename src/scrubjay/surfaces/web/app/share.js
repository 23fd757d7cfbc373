// Links to the current view, to share with other users.

import { h } from "./dom.js";
import { toast } from "./toast.js";

/** Copy an address (default: the current one) and confirm that in a toast. */
export async function copyLink(href = location.href) {
  try {
    await navigator.clipboard.writeText(href);
    toast("Link copied. Opening it requires signing in to this server.");
  } catch {
    toast(`The browser blocks the clipboard. The link is ${href}`, { bad: true });
  }
}

/** Return a button that copies the current address. */
export const copyButton = () => h("button", { type: "button", onclick: () => copyLink() }, "Copy link");

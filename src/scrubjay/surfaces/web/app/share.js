// A link to what is shown, to give to others.

import { h } from "./dom.js";
import { toast } from "./toast.js";

/** Copy an address, this one unless another is given, and say so. */
export async function copyLink(href = location.href) {
  try {
    await navigator.clipboard.writeText(href);
    toast("The link is copied. Who opens it signs in to this server first.");
  } catch {
    toast(`The browser does not let the page copy. The link is ${href}`, { bad: true });
  }
}

/** A button that copies the address of what is shown. */
export const copyButton = () => h("button", { type: "button", onclick: () => copyLink() }, "Copy link");

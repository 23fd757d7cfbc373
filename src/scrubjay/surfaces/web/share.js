// The address of what is shown, to be given to somebody else.

import { toast } from "./toast.js";

/** Copy an address, that of the page if none is given, and say what came of it. */
export async function copyLink(address = location.href) {
  try {
    await navigator.clipboard.writeText(address);
    toast("The link is copied. Who opens it signs in to this server first.");
  } catch {
    toast(`The browser does not let the page copy. The link is ${address}`, { bad: true });
  }
}

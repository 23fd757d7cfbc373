// The address as something to hand on: it says what is asked, and nothing of the answer.

import { toast } from "./toast.js";

/** Copy the address of what is shown, and say who can use it. */
export async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link is copied. Who opens it signs in to this server first.");
  } catch {
    toast("The browser does not let the page copy; the address bar has the link.", { bad: true });
  }
}

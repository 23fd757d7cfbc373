// Escape in a box, the same in every view: out of it, with what was written kept.

/** Leave a box at Escape: what is in it stays, which the browser would take away, and single keys work again. */
export function leaveAtEscape(event) {
  if (event.key !== "Escape" || event.isComposing) return;
  event.preventDefault();
  event.target.blur();
}

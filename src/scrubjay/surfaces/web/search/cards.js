// Keyboard navigation of cards: the focused card, the next one, and the same one after a redraw.

import { elements, focused } from "../app/dom.js";

/** Cards in a node; a step before the first calls `leave()`. */
export class Cards {
  constructor(node, leave) {
    this.node = node;
    this.leave = leave;
    node.addEventListener("keydown", (event) => this.pressed(event));
  }

  all() {
    return elements(this.node, "article.card");
  }

  /** Return the card of a memory. */
  of(id) {
    return this.all().find((card) => card.dataset.id === id);
  }

  current() {
    return focused("article.card");
  }

  place() {
    return this.all().indexOf(this.current());
  }

  move(by) {
    const cards = this.all();
    const at = this.place();
    const to = at < 0 && by < 0 ? cards.length - 1 : at + by;
    if (to < 0) this.leave();
    else this.focus(to);
  }

  /** Focus the card at an index, or the last one if there are fewer now; nothing for an index below 0. */
  focus(at) {
    const cards = this.all();
    if (at >= 0) cards[Math.min(at, cards.length - 1)]?.focus();
  }

  pressed(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !this.current() || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    this.move(by);
  }
}

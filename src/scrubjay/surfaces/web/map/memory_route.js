// A memory that the address names is open: Back closes it, and what closes it goes back.

import { currentRoute, navigate, replaceRoute } from "../app/route.js";

/** Opens what the address of a view says; `open(id, signal)` shows it until it is closed. */
export class MemoryRoute {
  #closing = null;
  #id = "";

  constructor(view, open) {
    this.view = view;
    this.open = open;
  }

  /** Open or close as the address says now: `state` is what else it says, `isStep` whether Back leads to that. */
  async follow(id, state, isStep) {
    if (id === this.#id) return;
    this.close();
    if (!id) return;
    this.#id = id;
    const closing = new AbortController();
    this.#closing = closing;
    await this.open(id, closing.signal);
    if (this.#closing !== closing) return;
    this.#id = "";
    if (currentRoute().view !== this.view || currentRoute().params.get("id") !== id) return; // somebody went on, or back
    if (isStep) history.back();
    else replaceRoute(this.view, state());
  }

  /** Go to the address that has a memory open. */
  to(id, state) {
    navigate(this.view, { ...state(), id });
  }

  close() {
    this.#closing?.abort();
    this.#closing = null;
    this.#id = "";
  }
}

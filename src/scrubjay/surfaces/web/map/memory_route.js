// Memory dialog controlled by the address: Back closes it, and closing it goes back.

import { currentRoute, navigate, replaceRoute } from "../app/route.js";

/** Opens the memory in the address of a view; `open(id, signal)` shows it and resolves when it is closed. */
export class MemoryRoute {
  #closing = null;
  #id = "";

  constructor(view, open) {
    this.view = view;
    this.open = open;
  }

  /** Open or close the dialog; `state()` returns the other parameters, `isStep` is true if Back leads to them. */
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
    if (currentRoute().view !== this.view || currentRoute().params.get("id") !== id) return; // the user went elsewhere
    if (isStep) history.back();
    else replaceRoute(this.view, state());
  }

  /** Go to the address that opens a memory. */
  to(id, state) {
    navigate(this.view, { ...state(), id });
  }

  close() {
    this.#closing?.abort();
    this.#closing = null;
    this.#id = "";
  }
}

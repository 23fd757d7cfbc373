// Area of the results. While the next ones load, the old ones stay, dimmed, with a note of their query.

import { h, put } from "../app/dom.js";

const SLOW_MS = 500; // an earlier note would flicker at each key

/** The nodes of an answer: `old`, `head` and `body`. `queries()` returns the query on the screen and the next one: `[shown, next]`. */
export class AnswerArea {
  constructor(queries) {
    this.queries = queries;
    this.old = h("p", { class: "old", hidden: true });
    this.head = h("div", { class: "answer" });
    this.body = h("div", { class: "search-answer" });
  }

  /** Mark the results as old: the next ones are loading. */
  wait() {
    this.body.setAttribute("aria-busy", "true");
    clearTimeout(this.slow);
    this.slow = setTimeout(() => this.sayOld(), SLOW_MS);
    if (!this.body.childElementCount) put(this.body, h("p", { class: "hint" }, "Searching…"));
  }

  /** Mark the results as current. */
  settle() {
    this.body.setAttribute("aria-busy", "false");
    clearTimeout(this.slow);
    this.old.hidden = true;
  }

  /** Show the query of the old results, if the next ones are late or the server is away. */
  sayOld() {
    const [shown, next] = this.queries();
    this.old.hidden = shown === undefined || shown === next;
    put(this.old, "For: ", h("bdi", {}, shown ?? ""));
  }

  /** Show an error instead of results. */
  refuse(detail) {
    put(this.head, h("p", { class: "notice bad", role: "alert" }, detail));
    put(this.body);
  }
}

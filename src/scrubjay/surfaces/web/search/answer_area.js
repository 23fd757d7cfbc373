// What stands on the screen while another answer is awaited: it stays, dimmed, and says of which query it is.

import { h, put } from "../app/dom.js";

const SLOW_MS = 500; // before that nothing is said: it would flicker at each key

/** The nodes of an answer: `old`, `head` and `body`. `queries()` gives what is shown and what is asked: `[shown, asked]`. */
export class AnswerArea {
  constructor(queries) {
    this.queries = queries;
    this.old = h("p", { class: "old", hidden: true });
    this.head = h("div", { class: "answer" });
    this.body = h("div", { class: "search-answer" });
  }

  /** Another answer is under way. */
  wait() {
    this.body.setAttribute("aria-busy", "true");
    clearTimeout(this.slow);
    this.slow = setTimeout(() => this.sayOld(), SLOW_MS);
    if (!this.body.childElementCount) put(this.body, h("p", { class: "hint" }, "Looking…"));
  }

  /** What is shown is what was asked, or why there is nothing. */
  settle() {
    this.body.setAttribute("aria-busy", "false");
    clearTimeout(this.slow);
    this.old.hidden = true;
  }

  /** Say of which query the hits are, where another is asked: the answer is slow, or the server is away. */
  sayOld() {
    const [shown, asked] = this.queries();
    this.old.hidden = shown === undefined || shown === asked;
    put(this.old, "For: ", h("bdi", {}, shown ?? ""));
  }

  /** Say why there is no answer. */
  refuse(detail) {
    put(this.head, h("p", { class: "said bad", role: "alert" }, detail));
    put(this.body);
  }
}

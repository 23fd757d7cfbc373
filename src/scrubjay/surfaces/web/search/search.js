// The search: a form, an answer as it is typed, and a way through it by keys alone.

import { call, server } from "../app/api.js";
import { elements, h, put } from "../app/dom.js";
import { plural } from "../app/format.js";
import { currentLogin } from "../app/login.js";
import { currentRoute, link, navigate, replaceRoute } from "../app/route.js";
import { markedWords } from "../app/stored_text.js";
import { attempt } from "../app/toast.js";
import { openAddDialog, openEditDialog } from "../memory/edit.js";
import { forget } from "../memory/forget.js";
import { openMemory } from "../memory/memory.js";
import { emptyResult, resultSummary } from "./answer.js";
import { AnswerArea } from "./answer_area.js";
import { Cards } from "./cards.js";
import { feedbackOf, loadFeedback, toggleFeedback } from "./feedback.js";
import { searchForm } from "./form.js";
import { card } from "./hit.js";
import { keysOf } from "./keys.js";
import { overview } from "./overview.js";
import { parseParams, searchBody, withOnly, without } from "./query.js";
import { waterfall } from "./waterfall.js";

const HOW = "scrubjay.how"; // whether the stages are shown

export function make(root) {
  const view = new Search(root);
  return { show: (params) => view.show(params), hide: () => view.hide(), keys: keysOf(view) };
}

class Search {
  constructor(root) {
    this.form = searchForm({
      typed: (asked) => currentRoute().view === "search" && this.turn(asked, replaceRoute), // else somebody has left just now
      now: (asked) => this.turn(asked, replaceRoute),
      chosen: (asked) => this.turn(asked, navigate),
      without: (filter) => this.turn(without(this.asked, filter), navigate),
      down: () => this.cards.focus(0),
    });
    this.how = h(
      "button",
      { type: "button", class: "quiet", title: "How it was found (w)", onclick: () => this.turnHow() },
      "How it was found",
    );
    this.told = h("p", { class: "hushed", role: "status" }); // stays, so that each new answer is read out
    this.standing = new AnswerArea(() => [this.results?.query, this.asked.q]);
    this.head = this.standing.head;
    this.body = this.standing.body;
    this.cards = new Cards(this.body, () => this.form.focus());
    put(
      root,
      h("h1", { class: "hushed" }, "Search"),
      this.form.node,
      this.told,
      this.standing.old,
      this.head,
      this.body,
    );
    this.asked = parseParams(new URLSearchParams());
    this.results = null;
    this.shown = ""; // the address whose answer is on the screen
    server.addEventListener("written", () => this.entered && this.run()); // what is on the screen may not have it
  }

  async show(params) {
    // What was typed while the page asked who is there is in the address only.
    this.asked = parseParams(currentRoute().view === "search" ? currentRoute().params : params);
    this.form.write(this.asked);
    const id = params.get("id");
    const isOpen = id && id === this.opened; // and the server came back
    if (!isOpen) this.opening?.abort(); // Back closes what was opened
    if (!this.entered && !id && !this.asked.q && matchMedia("(pointer: fine)").matches) this.form.focus();
    this.entered = true;
    const again = location.hash === this.seen; // the server came back
    this.seen = location.hash;
    const answered = this.shown === link("search", this.asked) && !again ? null : this.run();
    if (id && !isOpen) this.openHere(id);
    await answered;
  }

  hide() {
    this.asking?.abort();
    this.opening?.abort();
    this.shown = "";
    this.entered = false;
  }

  /** Ask something else: `by` says whether that is a step that Back takes back. */
  turn(asked, by) {
    if (link("search", asked) === link("search", this.asked) && this.shown === link("search", asked)) return;
    this.asked = asked;
    by("search", asked);
    if (by === replaceRoute) {
      this.seen = location.hash;
      this.form.write(asked);
      this.run();
    }
  }

  /** Ask the server what is asked now; what is on the screen stays, dimmed, until the answer is there. */
  async run() {
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const asked = this.asked;
    this.standing.wait();
    try {
      this.may = { write: (await currentLogin()).scopes.includes("write") };
      if (asked.q.trim()) await this.search(asked, signal);
      else await this.survey(asked, signal);
      this.shown = link("search", asked);
      this.standing.settle();
    } catch (error) {
      if (signal.aborted) return; // another is under way
      this.shown = "";
      if (error.kind === "away") return this.standing.sayOld(); // and it stays dimmed until the server is back
      this.standing.settle();
      if (!error.kind) throw error;
      this.results = null;
      this.standing.refuse(error.detail);
    }
  }

  async search(asked, signal) {
    const [results] = await Promise.all([call("search", searchBody(asked), { signal }), loadFeedback()]);
    const topics = results.hits.length ? [] : (await call("topics", { limit: 500 }, { signal })).topics;
    signal.throwIfAborted(); // what was given before is not given up with it
    this.results = results;
    put(this.told, plural(results.hits.length, "hit", "hits"));
    this.drawHead();
    this.drawBody(topics);
  }

  async survey(asked, signal) {
    const drawn = h("div", {});
    await overview(drawn, asked, this.handle(asked, null), signal);
    this.results = null;
    put(this.told);
    put(this.head);
    this.swap(drawn);
  }

  drawHead() {
    const shown = Boolean(localStorage.getItem(HOW));
    this.how.setAttribute("aria-pressed", String(shown));
    put(
      this.head,
      h(
        "div",
        { class: "headline" },
        resultSummary(this.results, this.asked, this.handle(this.asked, this.results)),
        this.how,
      ),
      shown && waterfall(this.results),
    );
  }

  drawBody(topics) {
    const { results, asked } = this;
    const of = this.handle(asked, results);
    if (results.hits.length)
      this.swap([
        h("h2", { class: "hushed" }, "Hits"),
        h(
          "ol",
          { class: "cards" },
          results.hits.map((hit, index) => h("li", {}, card(hit, index + 1, of))),
        ),
      ]);
    else this.swap(emptyResult(results, asked, topics, this.form.modesOf(asked.profile), of));
  }

  /** Show something else, with the focus on the card that is where it was. */
  swap(drawn) {
    const at = this.cards.place();
    put(this.body, drawn);
    this.cards.focus(at);
  }

  /** What a card or a list may ask of the view. */
  handle(asked, results) {
    return {
      results,
      best: Math.max(0, ...(results?.hits ?? []).map(({ score }) => score)),
      session: asked.session,
      may: this.may,
      add: () => openAddDialog(),
      href: (id) => link("search", { ...asked, id }),
      filter: (name, value) => this.turn(withOnly(asked, name, value), navigate),
      without: (filter) => this.turn(without(asked, filter), navigate),
      mode: (mode) => this.turn({ ...asked, mode }, navigate),
      only: (topic) => this.turn({ ...asked, q: "", topics: [topic] }, navigate),
      open: (id) => this.open(id),
      edit: (id) => this.edit(id),
      forget: (id) => this.forget(id),
      feedback: (id, action) => this.judge(id, action),
      given: (id) => feedbackOf(asked.q, id),
    };
  }

  open(id) {
    navigate("search", { ...this.asked, id });
  }

  async openHere(id) {
    const at = location.hash;
    const isStep = this.shown === link("search", this.asked); // opened from a list, so Back leads there
    const opening = new AbortController();
    this.opening = opening;
    this.opened = id;
    const hit = this.results?.hits.find((candidate) => candidate.id === id);
    await openMemory(id, {
      query: this.asked.q.trim() && this.asked.q,
      forms: hit ? markedWords(hit) : [],
      lines: hit?.lines,
      changed: ({ gone }) => gone && this.run(),
      signal: opening.signal,
    });
    if (this.opening === opening) this.opened = null;
    if (location.hash === at) {
      // else somebody went on, or back
      if (isStep) history.back();
      else replaceRoute("search", this.asked);
      this.seen = location.hash;
    }
    this.cards.of(id)?.focus();
  }

  async edit(id) {
    const got = await attempt(() => call("get", { id }));
    if (got) await openEditDialog(got.memories[0]);
    else this.run(); // it is gone
  }

  forget(id) {
    return forget(id, () => this.run());
  }

  judge(id, action) {
    if (!this.results || !this.may.write) return;
    const { q } = this.asked;
    toggleFeedback(q, id, action, () => {
      const now = feedbackOf(q, id);
      const buttons = this.cards.of(id)?.querySelectorAll("[data-action]") ?? [];
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.action === now));
    });
  }

  turnHow() {
    if (localStorage.getItem(HOW)) localStorage.removeItem(HOW);
    else localStorage.setItem(HOW, "1");
    const hadFocus = document.activeElement === this.how;
    if (this.results) this.drawHead();
    if (hadFocus) this.how.focus();
  }

  turnWhy() {
    elements(this.cards.current(), "button.why")[0]?.click();
  }
}

// Search view: the form, results while the user types, and keyboard navigation.

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

const STAGES_SHOWN = "scrubjay.how"; // set while the stages are shown

export function make(root) {
  const view = new Search(root);
  return { show: (params) => view.show(params), hide: () => view.hide(), keys: keysOf(view) };
}

class Search {
  constructor(root) {
    this.form = searchForm({
      typed: (request) => currentRoute().view === "search" && this.changeQuery(request, replaceRoute), // unless the user has just left the view
      now: (request) => this.changeQuery(request, replaceRoute),
      chosen: (request) => this.changeQuery(request, navigate),
      without: (filter) => this.changeQuery(without(this.request, filter), navigate),
      down: () => this.cards.focus(0),
    });
    this.stagesButton = h(
      "button",
      { type: "button", class: "quiet", title: "Stages of the search (w)", onclick: () => this.toggleStages() },
      "Stages",
    );
    this.announcement = h("p", { class: "visually-hidden", role: "status" }); // stays in the document, so that screen readers announce each result
    this.area = new AnswerArea(() => [this.results?.query, this.request.q]);
    this.head = this.area.head;
    this.body = this.area.body;
    this.cards = new Cards(this.body, () => this.form.focus());
    put(
      root,
      h("h1", { class: "visually-hidden" }, "Search"),
      this.form.node,
      this.announcement,
      this.area.old,
      this.head,
      this.body,
    );
    this.request = parseParams(new URLSearchParams());
    this.results = null;
    this.shown = ""; // the address of the results on the screen
    server.addEventListener("written", () => this.entered && this.run()); // the screen may be out of date
  }

  async show(params) {
    // Text typed while the login was loading is only in the address.
    this.request = parseParams(currentRoute().view === "search" ? currentRoute().params : params);
    this.form.write(this.request);
    const id = params.get("id");
    const isOpen = id && id === this.opened; // after the server came back
    if (!isOpen) this.opening?.abort(); // Back closes the dialog
    if (!this.entered && !id && !this.request.q && matchMedia("(pointer: fine)").matches) this.form.focus();
    this.entered = true;
    const again = location.hash === this.seen; // the server came back
    this.seen = location.hash;
    const answered = this.shown === link("search", this.request) && !again ? null : this.run();
    if (id && !isOpen) this.openHere(id);
    await answered;
  }

  hide() {
    this.controller?.abort();
    this.opening?.abort();
    this.shown = "";
    this.entered = false;
  }

  /** Change the query; `by` is `navigate` or `replaceRoute`: with or without a history entry. */
  changeQuery(request, by) {
    if (link("search", request) === link("search", this.request) && this.shown === link("search", request)) return;
    this.request = request;
    by("search", request);
    if (by === replaceRoute) {
      this.seen = location.hash;
      this.form.write(request);
      this.run();
    }
  }

  /** Run the current query; the old results stay, dimmed, until the new ones arrive. */
  async run() {
    this.controller?.abort();
    this.controller = new AbortController();
    const { signal } = this.controller;
    const request = this.request;
    this.area.wait();
    try {
      this.may = { write: (await currentLogin()).scopes.includes("write") };
      if (request.q.trim()) await this.search(request, signal);
      else await this.showOverview(request, signal);
      this.shown = link("search", request);
      this.area.settle();
    } catch (error) {
      if (signal.aborted) return; // a newer query is running
      this.shown = "";
      if (error.kind === "away") return this.area.sayOld(); // stays dimmed until the server is back
      this.area.settle();
      if (!error.kind) throw error;
      this.results = null;
      this.area.refuse(error.detail);
    }
  }

  async search(request, signal) {
    const [results] = await Promise.all([call("search", searchBody(request), { signal }), loadFeedback()]);
    const topics = results.hits.length ? [] : (await call("topics", { limit: 500 }, { signal })).topics;
    signal.throwIfAborted(); // loadFeedback ignores the signal
    this.results = results;
    put(this.announcement, plural(results.hits.length, "hit", "hits"));
    this.drawHead();
    this.drawBody(topics);
  }

  async showOverview(request, signal) {
    const drawn = h("div", {});
    await overview(drawn, request, this.handle(request, null), signal);
    this.results = null;
    put(this.announcement);
    put(this.head);
    this.swap(drawn);
  }

  drawHead() {
    const shown = Boolean(localStorage.getItem(STAGES_SHOWN));
    this.stagesButton.setAttribute("aria-pressed", String(shown));
    put(
      this.head,
      h(
        "div",
        { class: "headline" },
        resultSummary(this.results, this.request, this.handle(this.request, this.results)),
        this.stagesButton,
      ),
      shown && waterfall(this.results),
    );
  }

  drawBody(topics) {
    const { results, request } = this;
    const of = this.handle(request, results);
    if (results.hits.length)
      this.swap([
        h("h2", { class: "visually-hidden" }, "Hits"),
        h(
          "ol",
          { class: "cards" },
          results.hits.map((hit, index) => h("li", {}, card(hit, index + 1, of))),
        ),
      ]);
    else this.swap(emptyResult(results, request, topics, this.form.modesOf(request.profile), of));
  }

  /** Replace the results; the card at the same index keeps the focus. */
  swap(drawn) {
    const at = this.cards.place();
    put(this.body, drawn);
    this.cards.focus(at);
  }

  /** Return the actions and data that cards and lists use. */
  handle(request, results) {
    return {
      results,
      best: Math.max(0, ...(results?.hits ?? []).map(({ score }) => score)),
      session: request.session,
      may: this.may,
      add: () => openAddDialog(),
      href: (id) => link("search", { ...request, id }),
      filter: (name, value) => this.changeQuery(withOnly(request, name, value), navigate),
      without: (filter) => this.changeQuery(without(request, filter), navigate),
      mode: (mode) => this.changeQuery({ ...request, mode }, navigate),
      only: (topic) => this.changeQuery({ ...request, q: "", topics: [topic] }, navigate),
      open: (id) => this.open(id),
      edit: (id) => this.edit(id),
      forget: (id) => this.forget(id),
      feedback: (id, action) => this.giveFeedback(id, action),
      given: (id) => feedbackOf(request.q, id),
    };
  }

  open(id) {
    navigate("search", { ...this.request, id });
  }

  async openHere(id) {
    const at = location.hash;
    const isStep = this.shown === link("search", this.request); // opened from a list, so that Back leads to it
    const opening = new AbortController();
    this.opening = opening;
    this.opened = id;
    const hit = this.results?.hits.find((candidate) => candidate.id === id);
    await openMemory(id, {
      query: this.request.q.trim() && this.request.q,
      forms: hit ? markedWords(hit) : [],
      lines: hit?.lines,
      changed: ({ gone }) => gone && this.run(),
      signal: opening.signal,
    });
    if (this.opening === opening) this.opened = null;
    if (location.hash === at) {
      // unless the user went elsewhere
      if (isStep) history.back();
      else replaceRoute("search", this.request);
      this.seen = location.hash;
    }
    this.cards.of(id)?.focus();
  }

  async edit(id) {
    const got = await attempt(() => call("get", { id }));
    if (got) await openEditDialog(got.memories[0]);
    else this.run(); // it was deleted
  }

  forget(id) {
    return forget(id, () => this.run());
  }

  giveFeedback(id, action) {
    if (!this.results || !this.may.write) return;
    const { q } = this.request;
    toggleFeedback(q, id, action, () => {
      const now = feedbackOf(q, id);
      const buttons = this.cards.of(id)?.querySelectorAll("[data-action]") ?? [];
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.action === now));
    });
  }

  toggleStages() {
    if (localStorage.getItem(STAGES_SHOWN)) localStorage.removeItem(STAGES_SHOWN);
    else localStorage.setItem(STAGES_SHOWN, "1");
    const hadFocus = document.activeElement === this.stagesButton;
    if (this.results) this.drawHead();
    if (hadFocus) this.stagesButton.focus();
  }

  toggleExplanation() {
    elements(this.cards.current(), "button.why")[0]?.click();
  }
}

// Dialog of one memory: text, fields, history and links. Every view opens it.

import { call, server } from "../app/api.js";
import { openDialog } from "../app/dialog.js";
import { h, put } from "../app/dom.js";
import { currentLogin } from "../app/login.js";
import { link } from "../app/route.js";
import { copyLink } from "../app/share.js";
import { visible } from "../app/stored_text.js";
import { attempt, toast } from "../app/toast.js";
import { feedbackOf, toggleFeedback, VERDICTS } from "../search/feedback.js";
import { fieldList } from "./details.js";
import { openEditDialog } from "./edit.js";
import { forget } from "./forget.js";
import { linkList, loadLinks } from "./links.js";
import { memoryText } from "./text.js";
import { conversationAround, TURNS } from "./turns.js";
import { versionTable } from "./versions.js";

/**
 * Open a memory. With a `query`, the dialog offers feedback; `forms` are words to highlight, and `lines` the first and last
 * line of the passage to scroll to. `changed({id, gone})` is called after an edit, a link or a deletion, and if the memory
 * does not exist. `signal` closes the dialog (default: any change of the address). Resolves when the dialog is closed.
 * @param {string} id
 * @param {{query?: string, forms?: string[], lines?: number[] | null, signal?: AbortSignal,
 *   changed?: (change: {id: string, gone: boolean}) => unknown}} [options]
 */
export function openMemory(
  id,
  { query = "", forms = [], lines = null, changed = () => {}, signal = navigationSignal() } = {},
) {
  return openDialog(
    "Memory",
    (body, close) => {
      signal.addEventListener("abort", () => close());
      body.addEventListener("click", (event) => event.target.closest("a[href]") && close()); // the link leads to another view
      new MemoryDialog(body, { query, forms, lines, changed, close }).load(id);
    },
    { wide: true },
  );
}

function navigationSignal() {
  const moved = new AbortController();
  window.addEventListener("hashchange", () => moved.abort(), { once: true });
  return moved.signal;
}

/** The open dialog: the memory it shows, and the ones that led to it by links. */
class MemoryDialog {
  constructor(body, { query, forms, lines, changed, close }) {
    this.body = body;
    this.trail = []; // the ids of the memories that were shown before, each left by a link
    this.query = query;
    this.forms = forms;
    this.lines = lines;
    this.changed = changed;
    this.close = close;
    this.heading = body.parentElement.querySelector("h2");
    this.heading.dir = "auto";
    this.heading.tabIndex = -1; // takes the focus when the focused element is redrawn
  }

  async load(id) {
    if (this.id !== id) put(this.body, h("p", { class: "hint", role: "status" }, "Loading…"));
    this.id = id;
    try {
      const [got, { versions }, { scopes }] = await Promise.all([
        call("get", { id }),
        call("history", { id }),
        currentLogin(),
      ]);
      const [memory] = got.memories;
      const isTurn = memory.type === "message" && memory.session;
      const [links, around] = await Promise.all([
        loadLinks(memory),
        isTurn ? call("around", { id, turns: TURNS }) : null,
      ]);
      if (this.id !== id) return;
      this.draw({
        memory,
        tier: got.tiers?.[id],
        versions,
        links,
        turns: around?.memories ?? [],
        write: scopes.includes("write"),
      });
    } catch (error) {
      if (!error.kind) throw error;
      if (this.id === id) this.fail(error);
    }
  }

  fail({ kind, detail }) {
    const gone = kind === "not-found";
    put(this.heading, gone ? "Not found" : "Memory");
    put(
      this.body,
      h(
        "p",
        { class: "notice bad", role: "alert" },
        gone ? "This memory was forgotten, or you have no access to it." : detail,
      ),
      this.back(),
    );
    if (gone) this.changed({ id: this.id, gone: true });
    if (kind === "away")
      server.addEventListener("back", () => this.body.isConnected && this.load(this.id), { once: true });
  }

  draw({ memory, tier, versions, links, turns, write }) {
    const isFirst = !this.trail.length; // the memory that the user opened
    const hadFocus = this.body.contains(document.activeElement);
    const of = { write, follow: (id) => this.follow(id), changed: () => this.again(memory.id) };
    put(this.heading, visible(memory.title) || "Memory"); // without a title, the text below is enough
    put(
      this.body,
      this.back(),
      this.actions(memory, write), // above the text, which may be a megabyte
      memoryText(memory, isFirst ? this.forms : [], isFirst ? this.lines : null),
      turns.length > 1 && conversationAround(memory, turns, of.follow),
      fieldList(memory, tier),
      linkList(memory, links, of),
      versions.length > 1 && versionTable(versions, write && (() => this.undo(memory.id))),
    );
    if (hadFocus) this.heading.focus({ preventScroll: true });
    if (this.drawn !== memory.id) this.body.querySelector(".passage")?.scrollIntoView();
    this.drawn = memory.id;
  }

  /** Reload the memory here and in the view behind the dialog. */
  again(id) {
    this.changed({ id, gone: false });
    if (this.body.isConnected && this.id === id) this.load(id);
  }

  back() {
    const from = this.trail.at(-1);
    return (
      from !== undefined &&
      h("p", {}, h("button", { type: "button", class: "quiet", onclick: () => this.load(this.trail.pop()) }, "← Back"))
    );
  }

  follow(id) {
    this.trail.push(this.id);
    this.load(id);
  }

  actions(memory, write) {
    const { id } = memory;
    const button = (text, act) => h("button", { type: "button", onclick: act }, text);
    const isDone = memory.type.endsWith("_done");
    return h(
      "p",
      { class: "actions" },
      write && button("Edit", () => this.edit(memory)),
      write && button("Forget", () => this.forget(id)),
      write &&
        (isDone || memory.type === "task") &&
        button(isDone ? "Not done" : "Done", () => this.mark(id, isDone ? "undone" : "done")),
      h("a", { class: "button", href: link("graph", { id }) }, "Graph"),
      button("Copy link", () => copyLink(new URL(link("search", { id }), location.href).href)),
      write && this.query && !this.trail.length && this.verdicts(id),
    );
  }

  verdicts(id) {
    const group = h("span", { class: "feedback", role: "group", "aria-label": "Feedback" });
    const draw = () =>
      put(
        group,
        Object.entries(VERDICTS).map(([action, word]) =>
          h(
            "button",
            {
              type: "button",
              "aria-pressed": String(feedbackOf(this.query, id) === action),
              onclick: () => toggleFeedback(this.query, id, action, draw),
            },
            word,
          ),
        ),
      );
    draw();
    return group;
  }

  async edit(memory) {
    const again = () => this.again(memory.id);
    if (!(await openEditDialog(memory, again))) return;
    this.lines = null; // the edit may have moved them
    again();
  }

  async forget(id) {
    const gone = await forget(id, () => this.changed({ id, gone: true }));
    if (gone) this.close();
  }

  async undo(id) {
    const done = await attempt(() => call("undo", { id }));
    if (!done) return;
    this.lines = null; // they may have moved
    toast(`Undone: ${done.changed.join(", ").replaceAll("_", " ") || "nothing else has changed"}.`, { about: id });
    this.again(id);
  }

  async mark(id, verb) {
    if (await attempt(() => call(verb, { id }))) this.again(id);
  }
}

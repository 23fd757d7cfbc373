// Compare: one query, two ways of asking it, and how far each memory moves between them.

import { ask } from "../app/api.js";
import { debounced, elements, focused, h, put } from "../app/dom.js";
import { figure } from "../app/format.js";
import { go, note } from "../app/route.js";
import { nameOf } from "../app/stored_text.js";
import { openMemory } from "../memory/memory.js";
import { columns } from "./columns.js";
import { formOf } from "./form.js";
import { lines } from "./lines.js";
import { beside, likeness, movement } from "./ranks.js";
import { asked, read, written } from "./sides.js";
import { openWhy } from "./why.js";

const VIEW = "compare";
const TYPED_MS = 250;
const PATIENCE_MS = 700; // then a side that answers is shown without the other
const NAMES = { a: "Left", b: "Right" };
const SIDES = Object.keys(NAMES);

/** Make the view that sets two ways of searching beside each other. */
export function make(root) {
  let state = read(new URLSearchParams());
  let asking = new AbortController();
  let shown = { state, answers: {} }; // what stands there while the next is asked
  let isEntered = false;
  const form = formOf({
    typed: (change) => typed(change),
    chosen: (change) => go(VIEW, written({ ...state, ...change })),
  });
  const summary = h("div", { class: "likeness", role: "status" });
  const found = h("div", { class: "found" });
  put(root, h("h1", { class: "hushed" }, "Compare"), form.node, summary, found);
  const redrawn = new ResizeObserver(() => lines(found));
  redrawn.observe(found);

  const soon = debounced(TYPED_MS, () => askBoth());

  function typed(change) {
    state = { ...state, ...change };
    note(VIEW, written(state));
    soon();
  }

  async function askBoth() {
    soon.cancel();
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const next = { state, answers: {}, isLate: false };
    if (!state.query.trim() || !Object.keys(shown.answers).length) draw(next);
    if (!state.query.trim()) return;
    found.classList.toggle("former", shown !== next);
    found.setAttribute("aria-busy", "true");
    const late = setTimeout(() => {
      next.isLate = true;
      if (Object.keys(next.answers).length) draw(next);
    }, PATIENCE_MS);
    signal.addEventListener("abort", () => clearTimeout(late));
    try {
      await Promise.all(SIDES.map((side) => askOne(next, side, signal)));
      if (!signal.aborted && !next.isLate) draw(next);
    } finally {
      clearTimeout(late);
      if (!signal.aborted) rest();
    }
  }

  function rest() {
    found.classList.remove("former");
    found.setAttribute("aria-busy", "false");
  }

  async function askOne(next, side, signal) {
    try {
      const results = await ask("search", { ...asked(next.state, next.state[side]), explain: true }, { signal });
      next.answers[side] = { results };
    } catch (problem) {
      if (signal.aborted) return;
      if (!problem.kind) throw problem;
      next.answers[side] = { problem };
    }
    if (!signal.aborted && next.isLate) draw(next);
  }

  function draw(next) {
    shown = next;
    found.classList.remove("former");
    const { answers, state } = shown;
    const empty = !state.query.trim();
    const rows = beside(answers.a?.results?.hits ?? [], answers.b?.results?.hits ?? []);
    const both = Boolean(answers.a?.results && answers.b?.results);
    put(summary, both ? comparison(rows, answers.a.results, answers.b.results) : null);
    put(found, empty ? hint() : columns({ state, answers, rows, both, open, why }));
    form.refuse(Object.fromEntries(SIDES.map((side) => [side, answers[side]?.problem?.detail ?? ""])));
    found.setAttribute("aria-busy", String(!empty && !SIDES.every((side) => answers[side])));
    lines(found);
  }

  function why(id) {
    const { answers, state } = shown;
    const hits = (side) => answers[side]?.results?.hits ?? [];
    const hit = [...hits("a"), ...hits("b")].find((one) => one.id === id);
    const said = (side) => {
      const rank = hits(side).findIndex((one) => one.id === id) + 1;
      return {
        name: `${NAMES[side]}: ${[state[side].way, ...state[side].sets].join(", ")}`,
        rank,
        results: answers[side]?.results,
      };
    };
    if (hit) openWhy(nameOf(hit), id, SIDES.map(said));
  }

  const open = (id) => openMemory(id, { query: shown.state.query, changed: askBoth });

  return {
    async show(params) {
      state = read(params);
      note(VIEW, written(state));
      form.show(state);
      if (!isEntered && !state.query && matchMedia("(pointer: fine)").matches) form.focus();
      isEntered = true;
      await askBoth();
    },
    hide() {
      soon.cancel();
      asking.abort();
      isEntered = false;
    },
    keys: [
      { keys: "/", does: "Write the query", act: () => form.focus() },
      { keys: "j", does: "Next hit", act: () => step(found, 1) },
      { keys: "k", does: "Hit before", act: () => step(found, -1) },
      { keys: "l", does: "To the right column", act: () => across(found, "b") },
      { keys: "h", does: "To the left column", act: () => across(found, "a") },
      {
        keys: "y",
        does: "Why the hit stands there, on both sides",
        act: () => why(focused(".hit")?.dataset.id),
      },
      { keys: "x", does: "Swap the sides", act: () => form.swap() },
    ],
  };
}

function hint() {
  const does = "It is asked in both ways, and lines show where each memory went.";
  return h("p", { class: "hint" }, `Write a query above. ${does} Whatever is set here is in the address, to share.`);
}

function comparison(rows, left, right) {
  const { common, depth, overlap, weighted, mover } = likeness(rows);
  if (!depth) return h("p", {}, "Neither side found anything.");
  const times = [left, right].map((results) => results.took_ms.toFixed(0)).join(" / ");
  return h(
    "dl",
    {},
    fact("In common", `${common} of ${depth}`, `${Math.round(100 * overlap)} % overlap`),
    fact("Order", figure(weighted, 2), "rank-biased overlap: 1 is the same order"),
    fact("Biggest mover", mover ? movement(mover).sign : "none", mover ? moved(mover) : still(common)),
    fact("Time", `${times} ms`, "left / right"),
  );
}

function fact(name, value, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), " ", h("span", { class: "hint" }, more)));
}

const moved = (row) => `${nameOf(row.hit)}, ${row.a} → ${row.b}`;
const still = (common) => (common ? "what both have stands in one order" : "nothing in common");

const visibleHits = (root) => elements(root, ".hit").filter((hit) => hit.offsetParent);

function step(found, by) {
  const now = focused(".hit");
  const column = visibleHits(found).filter((hit) => !now || hit.dataset.side === now.dataset.side);
  const next = now ? column[column.indexOf(now) + by] : column[0];
  next?.focus();
}

/** To the same memory on the other side; to the same rank where it is not there. */
function across(found, side) {
  const now = focused(".hit");
  const column = visibleHits(found).filter((hit) => hit.dataset.side === side);
  const twin = column.find((hit) => hit.dataset.id === now?.dataset.id);
  (twin ?? column[Math.min(Number(now?.dataset.rank ?? 1), column.length) - 1])?.focus();
}

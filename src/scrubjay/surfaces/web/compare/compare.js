// Compare view: one query, two profiles side by side, and how far each memory moves between them.

import { call } from "../app/api.js";
import { debounce, elements, focused, h, put } from "../app/dom.js";
import { figure } from "../app/format.js";
import { navigate, replaceRoute } from "../app/route.js";
import { displayName } from "../app/stored_text.js";
import { openMemory } from "../memory/memory.js";
import { columns } from "./columns.js";
import { compareForm } from "./form.js";
import { drawLines } from "./lines.js";
import { compareRanks, movement, similarity } from "./ranks.js";
import { readParams, searchRequest, writeParams } from "./sides.js";
import { openWhy } from "./why.js";

const VIEW = "compare";
const TYPED_MS = 250;
const PATIENCE_MS = 700; // after this, one side is shown without the other
const NAMES = { a: "Left", b: "Right" };
const SIDES = Object.keys(NAMES);

/** Make the view. */
export function make(root) {
  let state = readParams(new URLSearchParams());
  let controller = new AbortController();
  let shown = { state, answers: {} }; // the results on the screen while the next ones load
  let isEntered = false;
  const form = compareForm({
    typed: (change) => typed(change),
    chosen: (change) => navigate(VIEW, writeParams({ ...state, ...change })),
  });
  const summary = h("div", { class: "likeness", role: "status" });
  const found = h("div", { class: "found" });
  put(root, h("h1", { class: "visually-hidden" }, "Compare"), form.node, summary, found);
  const redrawn = new ResizeObserver(() => drawLines(found));
  redrawn.observe(found);

  const soon = debounce(TYPED_MS, () => askBoth());

  function typed(change) {
    state = { ...state, ...change };
    replaceRoute(VIEW, writeParams(state));
    soon();
  }

  async function askBoth() {
    soon.cancel();
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
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
      const results = await call(
        "search",
        { ...searchRequest(next.state, next.state[side]), explain: true },
        { signal },
      );
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
    const rows = compareRanks(answers.a?.results?.hits ?? [], answers.b?.results?.hits ?? []);
    const both = Boolean(answers.a?.results && answers.b?.results);
    put(summary, both ? comparison(rows, answers.a.results, answers.b.results) : null);
    put(found, empty ? emptyHint() : columns({ state, answers, rows, both, open, why }));
    form.refuse(Object.fromEntries(SIDES.map((side) => [side, answers[side]?.problem?.detail ?? ""])));
    found.setAttribute("aria-busy", String(!empty && !SIDES.every((side) => answers[side])));
    drawLines(found);
  }

  function why(id) {
    const { answers, state } = shown;
    const hits = (side) => answers[side]?.results?.hits ?? [];
    const hit = [...hits("a"), ...hits("b")].find((candidate) => candidate.id === id);
    const sideDetails = (side) => {
      const rank = hits(side).findIndex((candidate) => candidate.id === id) + 1;
      return {
        name: `${NAMES[side]}: ${[state[side].way, ...state[side].sets].join(", ")}`,
        rank,
        results: answers[side]?.results,
      };
    };
    if (hit) openWhy(displayName(hit), id, SIDES.map(sideDetails));
  }

  const open = (id) => openMemory(id, { query: shown.state.query, changed: askBoth });

  return {
    async show(params) {
      state = readParams(params);
      replaceRoute(VIEW, writeParams(state));
      form.show(state);
      if (!isEntered && !state.query && matchMedia("(pointer: fine)").matches) form.focus();
      isEntered = true;
      await askBoth();
    },
    hide() {
      soon.cancel();
      controller.abort();
      isEntered = false;
    },
    keys: [
      { keys: "/", does: "Go to the query", act: () => form.focus() },
      { keys: "j", does: "Next hit", act: () => focusNextHit(found, 1) },
      { keys: "k", does: "Previous hit", act: () => focusNextHit(found, -1) },
      { keys: "l", does: "Go to the right column", act: () => focusOtherSide(found, "b") },
      { keys: "h", does: "Go to the left column", act: () => focusOtherSide(found, "a") },
      {
        keys: "y",
        does: "Why the hit has this rank, on both sides",
        act: () => why(focused(".hit")?.dataset.id),
      },
      { keys: "x", does: "Swap the sides", act: () => form.swap() },
    ],
  };
}

function emptyHint() {
  const does = "Both sides run it, and lines show how the rank of each memory changes.";
  return h(
    "p",
    { class: "hint" },
    `Type a query above. ${does} The address contains all settings, so you can share it.`,
  );
}

function comparison(rows, left, right) {
  const { common, depth, overlap, weighted, mover } = similarity(rows);
  if (!depth) return h("p", {}, "Both sides found nothing.");
  const times = [left, right].map((results) => results.took_ms.toFixed(0)).join(" / ");
  return h(
    "dl",
    {},
    figureEntry("In common", `${common} of ${depth}`, `${Math.round(100 * overlap)} % overlap`),
    figureEntry("Order", figure(weighted, 2), "rank-biased overlap: 1 is the same order"),
    figureEntry("Biggest mover", mover ? movement(mover).sign : "none", mover ? moverText(mover) : unmovedText(common)),
    figureEntry("Time", `${times} ms`, "left / right"),
  );
}

function figureEntry(name, value, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), " ", h("span", { class: "hint" }, more)));
}

const moverText = (row) => `${displayName(row.hit)}, ${row.a} → ${row.b}`;
const unmovedText = (common) => (common ? "common hits have the same order" : "nothing in common");

const visibleHits = (root) => elements(root, ".hit").filter((hit) => hit.offsetParent);

function focusNextHit(found, by) {
  const now = focused(".hit");
  const column = visibleHits(found).filter((hit) => !now || hit.dataset.side === now.dataset.side);
  const next = now ? column[column.indexOf(now) + by] : column[0];
  next?.focus();
}

/** Focus the same memory on the other side, or the same rank if it is not there. */
function focusOtherSide(found, side) {
  const now = focused(".hit");
  const column = visibleHits(found).filter((hit) => hit.dataset.side === side);
  const twin = column.find((hit) => hit.dataset.id === now?.dataset.id);
  (twin ?? column[Math.min(Number(now?.dataset.rank ?? 1), column.length) - 1])?.focus();
}

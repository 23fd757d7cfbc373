// Search form: query, profile, mode, number of hits, and filters.

import { call } from "../app/api.js";
import { debounce, h, put } from "../app/dom.js";
import { link } from "../app/route.js";
import { copyLink } from "../app/share.js";
import { attempt } from "../app/toast.js";
import { filterFields } from "./filters.js";
import { activeFilters, compareParams } from "./query.js";

const TYPING_MS = 150;
const LIMITS = ["5", "10", "20", "50", "100"];
const LIMIT = "10"; // default number of hits
const OWN_LIMITS = { gnosis: "32", "gnosis:standard": "32", "gnosis:deep": "100" }; // as in scrubjay.search.profiles.gnosis

/**
 * Make the form. `on` is `{typed(request), chosen(request), now(request), down()}`: called while the user types, after a choice,
 * on Enter, and on the arrow key that leads to the results.
 */
export function searchForm(on) {
  const box = h("input", {
    type: "search",
    id: "q",
    placeholder: "Search memories and documents",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    "aria-label": "Search",
  });
  const profile = h("select", { id: "profile" });
  const mode = h("select", { id: "mode" });
  const limit = h("select", { id: "limit" });
  const filters = filterFields();
  const summary = h("span", { class: "active" });
  const fold = h(
    "details",
    { class: "narrowing", ontoggle: () => fold.open && filters.offer() },
    h("summary", {}, "Filters", summary),
    h("div", { class: "field-columns" }, filters.nodes),
  );
  const chips = h("p", { class: "narrowed" });
  const compare = h("a", { title: "Compare with another profile, side by side" }, "Compare");
  const map = h("a", { title: "Show the query among all memories on the map" }, "On the map");
  const copy = h(
    "button",
    { type: "button", class: "quiet small", title: "Copy the address of this search", onclick: copyLink },
    "Copy link",
  );
  let ways = []; // the profiles, each with its modes
  let usual = "default"; // the store's profile; the server may name another
  let latest;
  let isTyping = false; // the typed text is not in the address yet

  const read = () => ({
    q: box.value,
    profile: profile.value,
    mode: mode.value,
    limit: limit.value,
    ...filters.read(),
  });
  const typed = debounce(TYPING_MS, () => {
    isTyping = false;
    on.typed(read());
  });
  const settle = (act) => {
    typed.cancel();
    isTyping = false;
    act(read());
  };
  const chosen = () => settle(on.chosen);
  box.addEventListener("input", () => {
    isTyping = true;
    typed();
  });
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      settle(on.now);
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      on.down();
    } else if (event.key === "Escape") {
      event.preventDefault(); // which would empty the box
      box.blur();
    }
  });
  profile.addEventListener("change", () => {
    fillModes(mode, modesOf(profile.value), "");
    chosen();
  });
  for (const select of [mode, limit]) select.addEventListener("change", chosen);
  fold.addEventListener("change", chosen);
  fold.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing && event.target.matches("input")) chosen();
  });

  const node = h(
    "form",
    { class: "searchform", role: "search", onsubmit: (event) => event.preventDefault() },
    box,
    h("div", { class: "search-ways" }, named("Profile", profile), named("Mode", mode), named("Hits", limit)),
    fold,
    h("p", { class: "search-tools" }, compare, map, copy),
    chips,
  );

  /** Show the query of the address. */
  async function write(request) {
    latest = request;
    if (!isTyping && box.value !== request.q) box.value = request.q;
    filters.write(request);
    const set = activeFilters(request);
    put(summary, set.length ? ` (${set.length} on)` : "");
    put(
      chips,
      set.map((filter) => chipOf(filter, () => on.without(filter))),
    );
    chips.hidden = !set.length;
    map.href = link("map", { q: request.q, topics: request.topics, types: request.types });
    for (const anchor of [compare, map]) anchor.hidden = !request.q.trim();
    fillWays(); // at once, with what is loaded so far
    if (ways.length) return;
    const [known, weights] = (await attempt(() => Promise.all([call("profiles"), call("weights")]))) ?? [];
    if (!known) return;
    ways = waysOf(known.profiles);
    usual = weights.profile.split(":")[0];
    fillWays();
  }
  const fillWays = () => {
    const names = ways.map(({ name }) => name).filter((name) => name !== usual);
    const all = [...new Set(["", ...names, latest.profile])]; // including an unknown one: the server reports the error
    put(
      profile,
      all.map((name) => option(name, name || `${usual} (default of the store)`, latest.profile, wayOf(name)?.summary)),
    );
    fillModes(mode, modesOf(latest.profile), latest.mode);
    fillLimits(limit, [latest.profile || usual, latest.mode].filter(Boolean).join(":"), latest.limit);
    compare.href = link("compare", compareParams(latest, usual));
  };
  const wayOf = (name) => ways.find((way) => way.name === (name || usual));
  const modesOf = (name) => wayOf(name)?.modes ?? [];

  return {
    node,
    write,
    focus: () => {
      box.focus();
      box.select();
    },
    modesOf,
  };
}

const named = (label, select) => h("label", {}, h("span", { class: "hint" }, label), select);

const option = (value, text, current, title) => h("option", { value, title, selected: value === current }, text);

function chipOf({ label, value }, drop) {
  return h(
    "button",
    { type: "button", class: "chip", onclick: drop, "aria-label": `Remove ${label}: ${value}` },
    `${label}: `,
    h("bdi", {}, value),
    " ✕",
  );
}

/** Gather `gno`, `gno:fast`, … into profiles with their modes. */
function waysOf(profiles) {
  const ways = [];
  for (const { name, summary } of profiles) {
    const [profile, mode] = name.split(":");
    if (!mode) ways.push({ name: profile, summary, modes: [] });
    else ways.find((way) => way.name === profile)?.modes.push({ name: mode, summary });
  }
  return ways;
}

function fillModes(select, modes, current) {
  const unknown = current && !modes.some(({ name }) => name === current) ? [{ name: current, summary: "" }] : [];
  put(
    select,
    option("", "default", current),
    [...modes, ...unknown].map(({ name, summary }) => option(name, name, current, summary)),
  );
  select.disabled = select.options.length < 2;
}

/** Fill the numbers of hits; the profile's own default is listed, but not written to the address. */
function fillLimits(select, way, current) {
  const own = OWN_LIMITS[way] ?? LIMIT;
  const all = [...new Set([...LIMITS, own, current])].filter(Boolean).sort((a, b) => a - b);
  put(
    select,
    all.map((number) => option(number === own && number !== current ? "" : number, number, current)),
  );
}

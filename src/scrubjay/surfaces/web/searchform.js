// The form of a search: the box, which way, how many, and filters that say what they leave out.

import { ask } from "./api.js";
import { active, FILTERS } from "./asked.js";
import { debounced, fresh, h, put } from "./dom.js";
import { saying } from "./toast.js";

const TYPING_MS = 150;
const LIMITS = ["", "5", "10", "20", "50", "100"];

/**
 * Make the form. `on` is `{typed(asked), chosen(asked), now(asked), down()}`: while they type, when they chose
 * something, at Enter, and at the arrow that leads to the results.
 */
export function searchForm(on) {
  const box = h("input", {
    type: "search", id: "q", placeholder: "Search memories and documents", autocomplete: "off", spellcheck: "false", dir: "auto", "aria-label": "Search",
  });
  const profile = h("select", { id: "profile" });
  const mode = h("select", { id: "mode" });
  const limit = h("select", { id: "limit" });
  const filters = filterFields();
  const fold = h("details", { class: "narrowing" });
  const summary = h("span", { class: "active" });
  fold.append(h("summary", {}, "Filters", summary), h("div", { class: "field-columns" }, filters.map(({ node }) => node)));
  const chips = h("p", { class: "narrowed" });
  let ways = []; // the profiles, each with its modes
  let usual = "default"; // the profile of the store, until an answer names another
  let latest;

  const read = () => ({
    q: box.value,
    profile: profile.value,
    mode: mode.value,
    limit: limit.value,
    ...Object.fromEntries(filters.map(({ name, get }) => [name, get()])),
  });
  const typed = debounced(TYPING_MS, () => on.typed(read()));
  const chosen = () => {
    typed.cancel();
    on.chosen(read());
  };
  box.addEventListener("input", typed);
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      typed.cancel();
      on.now(read());
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
  for (const one of [mode, limit]) one.addEventListener("change", chosen);
  fold.addEventListener("change", chosen);

  const node = h(
    "form",
    { class: "searchform", role: "search", onsubmit: (event) => event.preventDefault() },
    box,
    h("div", { class: "search-ways" }, named("Profile", profile), named("Mode", mode), named("Hits", limit)),
    fold,
    chips,
  );

  /** Show what the address asks. */
  async function write(asked) {
    latest = asked;
    if (box.value !== asked.q) box.value = asked.q;
    for (const { name, set } of filters) set(asked[name]);
    const set = active(asked);
    put(summary, set.length ? ` (${set.length} on)` : "");
    put(chips, set.map((one) => chipOf(one, () => on.without(one))));
    chips.hidden = !set.length;
    put(limit, [...new Set([...LIMITS, asked.limit])].map((one) => option(one, one || "usual", asked.limit)));
    fillWays(); // at once, as far as it is known
    if (ways.length) return;
    ways = waysOf((await saying(() => ask("profiles")))?.profiles ?? []);
    fillWays();
  }
  const fillWays = () => {
    const names = [...new Set(["", ...ways.map(({ name }) => name), latest.profile])];
    put(profile, names.map((one) => option(one, one || "usual", latest.profile, wayOf(one)?.summary)));
    fillModes(mode, modesOf(latest.profile), latest.mode);
  };
  const wayOf = (name) => ways.find((one) => one.name === (name || usual));
  const modesOf = (name) => wayOf(name)?.modes ?? [];

  return {
    node,
    write,
    focus: () => {
      box.focus();
      box.select();
    },
    modesOf,
    usual: (name) => {
      usual = name;
      fillWays();
    },
  };
}

function filterFields() {
  return FILTERS.map(({ name, label, several, type, hint }) => {
    const id = fresh(name);
    const field = several
      ? h("textarea", { id, rows: 2, dir: "auto", placeholder: hint })
      : h("input", { id, type: type ?? "text", step: type === "number" ? "any" : null, min: type === "number" ? 0 : null, dir: "auto", placeholder: hint });
    return {
      name,
      node: h("label", { class: "field", for: id }, label, field),
      get: () => (several ? field.value.split("\n").map((one) => one.trim()).filter(Boolean) : field.value.trim()),
      set: (value) => {
        const text = several ? value.join("\n") : value;
        if (document.activeElement !== field || field.value.trim() !== text) field.value = text;
      },
    };
  });
}

const named = (label, select) => h("label", {}, h("span", { class: "hint" }, label), select);

const option = (value, text, current, title) => h("option", { value, title, selected: value === current }, text);

function chipOf({ label, value }, drop) {
  return h("button", { type: "button", class: "chip", onclick: drop, "aria-label": `Remove ${label}: ${value}` }, `${label}: `, h("bdi", {}, value), " ✕");
}

/** Gather `gno`, `gno:fast`, … into profiles with their modes. */
function waysOf(profiles) {
  const ways = [];
  for (const { name, summary } of profiles) {
    const [profile, mode] = name.split(":");
    if (!mode) ways.push({ name: profile, summary, modes: [] });
    else ways.find((one) => one.name === profile)?.modes.push({ name: mode, summary });
  }
  return ways;
}

function fillModes(select, modes, current) {
  const unknown = current && !modes.some(({ name }) => name === current) ? [{ name: current, summary: "" }] : [];
  put(select, option("", "usual", current), [...modes, ...unknown].map(({ name, summary }) => option(name, name, current, summary)));
  select.disabled = select.options.length < 2;
}

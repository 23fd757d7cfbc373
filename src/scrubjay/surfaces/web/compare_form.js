// The form of Compare: the query, the way and the settings of each side, and what both share.

import { ask } from "./api.js";
import { fresh, h, put } from "./dom.js";
import { splitSets } from "./settings.js";
import { saying, toast } from "./toast.js";

const LIMITS = [5, 10, 20, 50];
const NAMES = { a: "Left", b: "Right" };

/** Make the form. `typed` is told what changes while somebody types, `chosen` what they settle on. */
export function formOf({ typed, chosen }) {
  let state;
  const query = h("input", {
    type: "search",
    placeholder: "One query, asked in two ways",
    "aria-label": "Query",
    oninput: () => typed({ query: query.value }),
  });
  const limit = h("select", { onchange: () => chosen({ limit: Number(limit.value) }) });
  const sides = { a: sideOf("a", (side) => chosen({ a: side })), b: sideOf("b", (side) => chosen({ b: side })) };
  const filters = h("p", { class: "filters" });
  const swap = () => chosen({ a: state.b, b: state.a });
  const named = { class: "swap", title: "Swap the sides (x)", "aria-label": "Swap the sides" };
  const swapper = button("⇄", { ...named, onclick: swap });
  const node = h(
    "form",
    { class: "panel asking", onsubmit: (event) => { event.preventDefault(); chosen({ query: query.value }); } },
    h("div", { class: "first" }, query, h("label", {}, "Hits ", limit), button("Copy link", { onclick: copyLink })),
    filters,
    h("div", { class: "ways" }, sides.a.node, swapper, sides.b.node),
  );

  const widen = (name, one) => chosen({ filters: without(state.filters, name, one) });

  function show(next) {
    state = next;
    if (query.value !== next.query) query.value = next.query;
    const limits = [...new Set([...LIMITS, next.limit])].sort((one, other) => one - other);
    put(limit, limits.map((one) => h("option", { value: one, selected: one === next.limit }, one)));
    sides.a.show(next.a);
    sides.b.show(next.b);
    const narrowed = Object.entries(next.filters).flatMap(([name, said]) => said.map((one) => [name, one]));
    put(filters, narrowed.map(([name, one]) => removable(`${name}: ${one}`, () => widen(name, one))));
    filters.hidden = !narrowed.length;
  }
  return { node, show, swap, focus: () => query.focus() };
}

function without(filters, name, value) {
  return { ...filters, [name]: filters[name].filter((one) => one !== value) };
}

const button = (text, props) => h("button", { type: "button", ...props }, text);

function removable(text, act) {
  return button(`${text} ✕`, { class: "chip", "aria-label": `Take away ${text}`, onclick: act });
}

let known = null;
/** Every way of searching, with its stages: asked once. */
const ways = () => (known ??= ask("profiles").catch((error) => {
  known = null;
  throw error;
}));

function sideOf(name, chosen) {
  let side = { way: "", sets: [] };
  const list = fresh("settings");
  const way = h("select", { onchange: () => chosen({ ...side, way: way.value }) });
  const sets = h("span", { class: "sets" });
  const offered = h("datalist", { id: list });
  const more = h("input", {
    list,
    placeholder: "stage.number=value",
    "aria-label": `${NAMES[name]}: change a setting`,
    autocomplete: "off",
    onchange: () => add(),
  });
  const entry = h("span", { class: "entry" }, sets, more);
  const node = h(
    "fieldset",
    { data: { side: name } },
    h("legend", { class: "hushed" }, NAMES[name]),
    h("label", { class: "field" }, NAMES[name], way),
    h("div", { class: "field settings" }, h("span", { "aria-hidden": "true" }, "Settings"), entry, offered),
  );

  function add() {
    const said = splitSets(more.value);
    more.value = "";
    const kept = side.sets.filter((one) => !said.some((other) => names(one, other)));
    if (said.length) chosen({ ...side, sets: [...kept, ...said] });
  }

  const drop = (one) => chosen({ ...side, sets: side.sets.filter((other) => other !== one) });

  async function show(next) {
    side = next;
    put(sets, next.sets.map((one) => removable(one, () => drop(one))));
    const { profiles } = (await saying(ways)) ?? { profiles: [] };
    const profile = profiles.find((one) => one.name === side.way);
    put(way, options(profiles, side.way));
    way.title = profile?.summary ?? "";
    put(offered, settingsOf(profile).map((one) => h("option", { value: one })));
  }
  return { node, show };
}

/** True when two settings are of the same number: the later one holds. */
const names = (one, other) => one.split("=")[0].trim() === other.split("=")[0].trim();

function options(profiles, chosen) {
  const all = [...new Set([...profiles.map((one) => one.name), chosen])]; // one that is unknown, too: its column says so
  return all.map((name) => h("option", { value: name, selected: name === chosen }, name));
}

/** What may be changed about a way of searching, as it is now: `rrf.k=60`; stages within others, too. */
function settingsOf(profile) {
  const text = (profile?.stages ?? []).map((stage) => stage.text).join(" ");
  const calls = [...text.matchAll(/(\w+)\(([^()]*)\)/g)];
  const numbers = (said) => [...said.matchAll(/\w+=-?[\d.]+/g)].map(String);
  return [...new Set(calls.flatMap(([, stage, said]) => numbers(said).map((one) => `${stage}.${one}`)))];
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link is copied. Who opens it signs in to this server first.");
  } catch {
    toast("The browser does not let the page copy; the address bar has the link.", { bad: true });
  }
}

// Form of the compare view: the query and filters of both sides, and profile and settings of each.

import { call } from "../app/api.js";
import { h, leaveOnEscape, put, uniqueId } from "../app/dom.js";
import { FilterMenu } from "../app/filter_menu.js";
import { splitSettings } from "../app/settings.js";
import { copyButton } from "../app/share.js";
import { attempt } from "../app/toast.js";
import { expandWeight, offeredSettings, refusedSettings, SYNTAX_HINT, sameSetting } from "./settings.js";

const LIMITS = [5, 10, 20, 50];
const NAMES = { a: "Left", b: "Right" };

/** Make the form. It calls `typed` with changes while the user types, and `chosen` with choices. */
export function compareForm({ typed, chosen }) {
  let state;
  const query = h("input", {
    type: "search",
    placeholder: "One query for two profiles",
    "aria-label": "Query",
    oninput: () => typed({ query: query.value }),
    onkeydown: leaveOnEscape,
  });
  const limit = h("select", { onchange: () => chosen({ limit: Number(limit.value) }) });
  const sides = { a: sideForm("a", (side) => chosen({ a: side })), b: sideForm("b", (side) => chosen({ b: side })) };
  const filters = h("p", { class: "filters" });
  const filterMenu = new FilterMenu((what) => chosen({ filters: { ...state.filters, ...what } }));
  const swap = () => chosen({ a: state.b, b: state.a });
  const named = { class: "swap", title: "Swap the sides (x)", "aria-label": "Swap the sides" };
  const swapper = button("⇄", { ...named, onclick: swap });
  const node = h(
    "form",
    {
      class: "panel compare-form",
      onsubmit: (event) => {
        event.preventDefault();
        chosen({ query: query.value });
      },
    },
    h("div", { class: "first" }, query, h("label", {}, "Hits ", limit), filterMenu.node, copyButton()),
    filters,
    h("div", { class: "ways" }, sides.a.node, swapper, sides.b.node),
  );

  const widen = (name, value) => chosen({ filters: without(state.filters, name, value) });

  function show(next) {
    state = next;
    if (query.value !== next.query) query.value = next.query;
    const limits = [...new Set([...LIMITS, next.limit])].sort((a, b) => a - b);
    put(
      limit,
      limits.map((number) => h("option", { value: number, selected: number === next.limit }, number)),
    );
    sides.a.show(next.a);
    sides.b.show(next.b);
    const narrowed = Object.entries(next.filters).flatMap(([name, values]) => values.map((value) => [name, value]));
    put(
      filters,
      narrowed.map(([name, value]) => removableChip(`${name}: ${value}`, () => widen(name, value))),
    );
    filters.hidden = !narrowed.length;
    filterMenu.draw(next.filters);
  }
  const refuse = (details) => {
    for (const [name, detail] of Object.entries(details)) sides[name].refuse(detail);
  };
  return { node, show, swap, refuse, focus: () => query.focus() };
}

function without(filters, name, value) {
  return { ...filters, [name]: filters[name].filter((other) => other !== value) };
}

const button = (text, props) => h("button", { type: "button", ...props }, text);

function removableChip(text, act) {
  return button(`${text} ✕`, { class: "chip", "aria-label": `Remove ${text}`, onclick: act });
}

let profilesRequest = null;
/** Load the profiles with their stages, once. */
const loadProfiles = () =>
  (profilesRequest ??= call("profiles").catch((error) => {
    profilesRequest = null;
    throw error;
  }));

function sideForm(name, chosen) {
  let side = { way: "", sets: [] };
  const list = uniqueId("settings");
  const way = h("select", { onchange: () => chosen({ ...side, way: way.value }) });
  const sets = h("span", { class: "sets" });
  const offered = h("datalist", { id: list });
  const more = h("input", {
    list,
    placeholder: "rrf.k=30, rerank=false",
    "aria-label": `${NAMES[name]}: change a setting`,
    title: SYNTAX_HINT,
    autocomplete: "off",
    onchange: () => add(),
    onkeydown: leaveOnEscape,
  });
  const entry = h("span", { class: "entry" }, sets, more);
  const node = h(
    "fieldset",
    { data: { side: name } },
    h("legend", { class: "visually-hidden" }, NAMES[name]),
    h("label", { class: "field" }, `${NAMES[name]} profile`, way),
    h("div", { class: "field settings" }, h("span", { "aria-hidden": "true" }, "Settings"), entry, offered),
  );

  let profile;

  function add() {
    const added = splitSettings(more.value).map((setting) => expandWeight(setting, profile));
    more.value = "";
    const remaining = side.sets.filter((setting) => !added.some((other) => sameSetting(setting, other)));
    if (added.length) chosen({ ...side, sets: [...remaining, ...added] });
  }

  const drop = (setting) => chosen({ ...side, sets: side.sets.filter((other) => other !== setting) });

  async function show(next) {
    side = next;
    put(
      sets,
      next.sets.map((setting) => removableChip(setting, () => drop(setting))),
    );
    const { profiles } = (await attempt(loadProfiles)) ?? { profiles: [] };
    profile = profiles.find((candidate) => candidate.name === side.way);
    put(way, profileOptions(profiles, side.way));
    way.title = profile?.summary ?? "";
    put(
      offered,
      offeredSettings(profile).map((setting) => h("option", { value: setting })),
    );
  }

  /** Mark the settings that the server refused. */
  function refuse(detail) {
    const wrong = detail ? refusedSettings(side.sets, detail) : [];
    [...sets.children].forEach((chip, index) => {
      const isWrong = wrong.includes(side.sets[index]);
      chip.classList.toggle("refused", isWrong);
      chip.setAttribute("aria-label", `Remove ${side.sets[index]}${isWrong ? ", which was refused" : ""}`);
    });
  }
  return { node, show, refuse };
}

function profileOptions(profiles, chosen) {
  const all = [...new Set([...profiles.map((profile) => profile.name), chosen])]; // including an unknown one: its column shows the error
  return all.map((name) => h("option", { value: name, selected: name === chosen }, name));
}

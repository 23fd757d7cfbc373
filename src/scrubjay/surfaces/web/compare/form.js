// The form of Compare: the query, the way and the settings of each side, and what both share.

import { ask } from "../app/api.js";
import { fresh, h, put } from "../app/dom.js";
import { leaveAtEscape } from "../app/escape.js";
import { Narrowing } from "../app/narrowing.js";
import { splitSets } from "../app/settings.js";
import { copyButton } from "../app/share.js";
import { saying } from "../app/toast.js";
import { FORMS, refused, sameNumber, settingsOf, spelled } from "./settings.js";

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
    onkeydown: leaveAtEscape,
  });
  const limit = h("select", { onchange: () => chosen({ limit: Number(limit.value) }) });
  const sides = { a: sideOf("a", (side) => chosen({ a: side })), b: sideOf("b", (side) => chosen({ b: side })) };
  const filters = h("p", { class: "filters" });
  const narrowing = new Narrowing((what) => chosen({ filters: { ...state.filters, ...what } }));
  const swap = () => chosen({ a: state.b, b: state.a });
  const named = { class: "swap", title: "Swap the sides (x)", "aria-label": "Swap the sides" };
  const swapper = button("⇄", { ...named, onclick: swap });
  const node = h(
    "form",
    {
      class: "panel asking",
      onsubmit: (event) => {
        event.preventDefault();
        chosen({ query: query.value });
      },
    },
    h("div", { class: "first" }, query, h("label", {}, "Hits ", limit), narrowing.node, copyButton()),
    filters,
    h("div", { class: "ways" }, sides.a.node, swapper, sides.b.node),
  );

  const widen = (name, one) => chosen({ filters: without(state.filters, name, one) });

  function show(next) {
    state = next;
    if (query.value !== next.query) query.value = next.query;
    const limits = [...new Set([...LIMITS, next.limit])].sort((one, other) => one - other);
    put(
      limit,
      limits.map((one) => h("option", { value: one, selected: one === next.limit }, one)),
    );
    sides.a.show(next.a);
    sides.b.show(next.b);
    const narrowed = Object.entries(next.filters).flatMap(([name, said]) => said.map((one) => [name, one]));
    put(
      filters,
      narrowed.map(([name, one]) => removable(`${name}: ${one}`, () => widen(name, one))),
    );
    filters.hidden = !narrowed.length;
    narrowing.draw(next.filters);
  }
  const refuse = (details) => {
    for (const [name, detail] of Object.entries(details)) sides[name].refuse(detail);
  };
  return { node, show, swap, refuse, focus: () => query.focus() };
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
const ways = () =>
  (known ??= ask("profiles").catch((error) => {
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
    placeholder: "rrf.k=30, rerank=false",
    "aria-label": `${NAMES[name]}: change a setting`,
    title: FORMS,
    autocomplete: "off",
    onchange: () => add(),
    onkeydown: leaveAtEscape,
  });
  const entry = h("span", { class: "entry" }, sets, more);
  const node = h(
    "fieldset",
    { data: { side: name } },
    h("legend", { class: "hushed" }, NAMES[name]),
    h("label", { class: "field" }, `${NAMES[name]} profile`, way),
    h("div", { class: "field settings" }, h("span", { "aria-hidden": "true" }, "Settings"), entry, offered),
  );

  let profile;

  function add() {
    const said = splitSets(more.value).map((one) => spelled(one, profile));
    more.value = "";
    const kept = side.sets.filter((one) => !said.some((other) => sameNumber(one, other)));
    if (said.length) chosen({ ...side, sets: [...kept, ...said] });
  }

  const drop = (one) => chosen({ ...side, sets: side.sets.filter((other) => other !== one) });

  async function show(next) {
    side = next;
    put(
      sets,
      next.sets.map((one) => removable(one, () => drop(one))),
    );
    const { profiles } = (await saying(ways)) ?? { profiles: [] };
    profile = profiles.find((one) => one.name === side.way);
    put(way, options(profiles, side.way));
    way.title = profile?.summary ?? "";
    put(
      offered,
      settingsOf(profile).map((one) => h("option", { value: one })),
    );
  }

  /** Mark the settings that the server did not take. */
  function refuse(detail) {
    const wrong = detail ? refused(side.sets, detail) : [];
    [...sets.children].forEach((chip, index) => {
      const isWrong = wrong.includes(side.sets[index]);
      chip.classList.toggle("refused", isWrong);
      chip.setAttribute("aria-label", `Take away ${side.sets[index]}${isWrong ? ", which was refused" : ""}`);
    });
  }
  return { node, show, refuse };
}

function options(profiles, chosen) {
  const all = [...new Set([...profiles.map((one) => one.name), chosen])]; // one that is unknown, too: its column says so
  return all.map((name) => h("option", { value: name, selected: name === chosen }, name));
}

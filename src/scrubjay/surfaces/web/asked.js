// What is asked: the parameters of the address, the fields of the form and the body of the request are one thing.

import { Problem } from "./api.js";

/** Filters in the order in which the form has them; one that is `several` may stand in the address more than once. */
export const FILTERS = [
  { name: "types", label: "Types", several: true, hint: "one a line" },
  { name: "topics", label: "Topics", several: true, hint: "one a line" },
  { name: "collection", label: "Collection" },
  { name: "namespace", label: "Namespace", hint: "project/ is all of a project" },
  { name: "session", label: "Session" },
  { name: "owner", label: "Owner" },
  { name: "since", label: "Since", type: "date" },
  { name: "until", label: "Until", type: "date" },
  { name: "min_score", label: "Least score", type: "number" },
  { name: "overrides", label: "Numbers of the stages", several: true, hint: "one a line, such as rrf.k=30" },
];
const LISTED = ["types", "topics", "collection", "namespace", "session", "owner"]; // what a list without a query knows

/** Return what the address asks: `{q, profile, mode, limit}` and each filter, a list where there may be several. */
export function askedBy(params) {
  const asked = {};
  for (const name of ["q", "profile", "mode", "limit"]) asked[name] = params.get(name) ?? "";
  for (const { name, several } of FILTERS) asked[name] = several ? params.getAll(name) : (params.get(name) ?? "");
  return asked;
}

/** Return the filters that are set, each value by itself: `[{name, label, value}]`. */
export function active(asked) {
  return FILTERS.flatMap(({ name, label }) => [asked[name]].flat().filter(Boolean).map((value) => ({ name, label, value })));
}

/** Return what is asked without one value of a filter. */
export function without(asked, { name, value }) {
  return { ...asked, [name]: Array.isArray(asked[name]) ? asked[name].filter((one) => one !== value) : "" };
}

/** Return what is asked with a filter set to one value: several would find more, and a click asks for less. */
export function withOnly(asked, name, value) {
  return { ...asked, [name]: Array.isArray(asked[name]) ? [value] : value };
}

/** Return the body of a search. */
export function searchBody(asked) {
  const body = { query: asked.q, explain: true };
  for (const name of ["profile", "mode", "since", "until"]) if (asked[name]) body[name] = asked[name];
  for (const name of LISTED) if (asked[name].length) body[name] = asked[name];
  if (asked.limit) body.limit = numberOf("limit", asked.limit);
  if (asked.min_score) body.min_score = numberOf("least score", asked.min_score);
  if (asked.overrides.length) body.overrides = overridesOf(asked.overrides);
  return body;
}

/** Return the body of a list: what is stored, newest first. */
export function listBody(asked) {
  return Object.fromEntries(LISTED.filter((name) => asked[name].length).map((name) => [name, asked[name]]));
}

/** Return the labels of filters that are set and that only a search knows. */
export const onlySearched = (asked) => active(asked).filter(({ name }) => !LISTED.includes(name)).map(({ label }) => label);

function numberOf(label, text) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Problem("invalid", `The ${label} is a number, not “${text}”.`);
  return value;
}

/** Turn the lines `rrf.k=30` into `{"rrf.k": 30}`. */
function overridesOf(lines) {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.+?)\s*$/.exec(line) ?? [];
      if (value === undefined) throw new Problem("invalid", `“${line}” is no number of a stage; write it as rrf.k=30.`);
      return [name, valueOf(value)];
    }),
  );
}

function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text; // a word
  }
}

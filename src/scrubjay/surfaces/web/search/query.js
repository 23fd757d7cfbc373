// What is asked: the parameters of the address, the fields of the form and the body of the request are one thing.

import { Problem } from "../app/api.js";
import { parseSettings } from "../app/settings.js";

/** @typedef {{name: string, label: string, several?: boolean, type?: string, hint?: string}} Filter */

/** Filters in the order in which the form has them; one that is `several` may stand in the address more than once. */
export const FILTERS = /** @type {Filter[]} */ ([
  { name: "types", label: "Types", several: true },
  { name: "topics", label: "Topics", several: true },
  { name: "collection", label: "Collection" },
  { name: "namespace", label: "Namespace", hint: "project/ is all of a project" },
  { name: "session", label: "Session" },
  { name: "owner", label: "Owner" },
  { name: "since", label: "Since", type: "date" },
  { name: "until", label: "Until", type: "date" },
  { name: "min_score", label: "Least score", type: "number" },
  { name: "overrides", label: "Settings", several: true, hint: "such as rrf.k=30" },
]);
const LISTED = ["types", "topics", "collection", "namespace", "session", "owner"]; // what a list without a query knows

/** Return what the address asks: `{q, profile, mode, limit}` and each filter, a list where there may be several. */
export function parseParams(params) {
  const asked = {};
  for (const name of ["q", "profile", "mode", "limit"]) asked[name] = params.get(name) ?? "";
  for (const { name, several } of FILTERS) asked[name] = several ? params.getAll(name) : (params.get(name) ?? "");
  return asked;
}

/** Return the filters that are set, each value by itself: `[{name, label, value}]`. */
export function activeFilters(asked) {
  return FILTERS.flatMap(({ name, label }) =>
    [asked[name]]
      .flat()
      .filter(Boolean)
      .map((value) => ({ name, label, value })),
  );
}

/** Return what is asked without one value of a filter. */
export function without(asked, { name, value }) {
  return { ...asked, [name]: Array.isArray(asked[name]) ? asked[name].filter((other) => other !== value) : "" };
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
  if (asked.limit) body.limit = parseNumber("limit", asked.limit);
  if (asked.min_score) body.min_score = parseNumber("least score", asked.min_score);
  return { ...body, ...parseSettings(asked.overrides) };
}

/** Return the body of a list: what is stored, newest first, or a session in the order in which it was said. */
export function listBody(asked) {
  return Object.fromEntries(LISTED.filter((name) => asked[name].length).map((name) => [name, asked[name]]));
}

/** Return where the same is compared with another way of searching, as `link` takes it. */
export function compareParams(asked, profile) {
  const { q, limit, overrides } = asked;
  const a = [asked.profile || profile, asked.mode].filter(Boolean).join(":");
  const shared = ["since", "until", ...LISTED].map((name) => [name, asked[name]]);
  return {
    q,
    a,
    aset: overrides,
    b: a.startsWith("gno:") || a === "gno" ? "default" : "gno",
    limit,
    ...Object.fromEntries(shared),
  };
}

/** Return the labels of filters that are set and that only a search knows. */
export const searchOnlyFilters = (asked) =>
  activeFilters(asked)
    .filter(({ name }) => !LISTED.includes(name))
    .map(({ label }) => label);

function parseNumber(label, text) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Problem("invalid", `The ${label} is a number, not “${text}”.`);
  return value;
}

// Parameters of a comparison in the address: one query, two profiles with settings, and common filters.

import { parseSettings } from "../app/settings.js";

const LIST_FILTERS = ["topics", "types"];
const SINGLE_FILTERS = ["collection", "namespace", "owner", "agent", "session", "since", "until"];
const DEFAULT_LIMIT = 10; // number of hits
const FILTERS = [...LIST_FILTERS, ...SINGLE_FILTERS];

/** Parse the parameters of the address: `{query, limit, a, b, filters}`, each side `{way, sets}`. */
export function readParams(params) {
  const side = (name, usual) => ({ way: params.get(name) || usual, sets: params.getAll(`${name}set`) });
  const filters = FILTERS.map((name) => [name, params.getAll(name)]).filter(([, all]) => all.length);
  return {
    query: params.get("q") ?? "",
    limit: Number(params.get("limit")) || DEFAULT_LIMIT,
    a: side("a", "default"),
    b: side("b", "gno"),
    filters: Object.fromEntries(filters),
  };
}

/** Return the parameters for `link`, `navigate` and `replaceRoute`. */
export function writeParams({ query, limit, a, b, filters }) {
  return {
    q: query,
    a: a.way,
    aset: a.sets,
    b: b.way,
    bset: b.sets,
    limit: limit === DEFAULT_LIMIT ? "" : limit,
    ...filters,
  };
}

/** Return the body of the search request of one side. */
export function searchRequest({ query, limit, filters }, { way, sets }) {
  const [profile, mode] = way.split(":");
  const given = { query, limit, profile, ...parseSettings(sets), ...filterValues(filters) };
  return mode ? { ...given, mode } : given;
}

/** Return the parameters of the search view for one side; the search view has no weights of a single call. */
export function searchParams({ query, limit, filters }, { way, sets }) {
  const [profile, mode] = way.split(":");
  const { overrides = {} } = parseSettings(sets);
  const lines = Object.entries(overrides).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return { q: query, profile, mode, limit, overrides: lines, ...filters };
}

function filterValues(filters) {
  const valued = ([name, values]) => [name, LIST_FILTERS.includes(name) ? values : values[0]];
  return Object.fromEntries(Object.entries(filters).map(valued));
}

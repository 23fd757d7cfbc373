// What is compared, as the address says it: one query, two ways of asking, and the filters they share.

import { settings } from "../app/settings.js";

const LISTS = ["topics", "types"];
const WORDS = ["collection", "namespace", "owner", "agent", "session", "since", "until"];
const USUAL = 10; // hits
const FILTERS = [...LISTS, ...WORDS];

/** Read the address: `{query, limit, a, b, filters}`, each side `{way, sets}`. */
export function read(params) {
  const side = (name, usual) => ({ way: params.get(name) || usual, sets: params.getAll(`${name}set`) });
  const said = FILTERS.map((name) => [name, params.getAll(name)]).filter(([, all]) => all.length);
  return {
    query: params.get("q") ?? "",
    limit: Number(params.get("limit")) || USUAL,
    a: side("a", "default"),
    b: side("b", "gno"),
    filters: Object.fromEntries(said),
  };
}

/** Say it in the address again: what `link`, `go` and `note` take. */
export function written({ query, limit, a, b, filters }) {
  return { q: query, a: a.way, aset: a.sets, b: b.way, bset: b.sets, limit: limit === USUAL ? "" : limit, ...filters };
}

/** What one side asks the server. */
export function asked({ query, limit, filters }, { way, sets }) {
  const [profile, mode] = way.split(":");
  const given = { query, limit, profile, ...settings(sets), ...narrowed(filters) };
  return mode ? { ...given, mode } : given;
}

/** What the search's address says to ask as one side does; weights of a single call are only asked here. */
export function searched({ query, limit, filters }, { way, sets }) {
  const [profile, mode] = way.split(":");
  const { overrides = {} } = settings(sets);
  const lines = Object.entries(overrides).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return { q: query, profile, mode, limit, overrides: lines, ...filters };
}

function narrowed(filters) {
  const valued = ([name, said]) => [name, LISTS.includes(name) ? said : said[0]];
  return Object.fromEntries(Object.entries(filters).map(valued));
}

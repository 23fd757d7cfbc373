// The query: parameters of the address, fields of the form and body of the request, in one structure.

import { Problem } from "../app/api.js";
import { parseSettings } from "../app/settings.js";

/** @typedef {{name: string, label: string, several?: boolean, type?: string, hint?: string}} Filter */

/** Filters in the order of the form; a filter that takes `several` values may occur in the address more than once. */
export const FILTERS = /** @type {Filter[]} */ ([
  { name: "types", label: "Types", several: true },
  { name: "topics", label: "Topics", several: true },
  { name: "collection", label: "Collection" },
  { name: "namespace", label: "Namespace", hint: "project/ includes all below it" },
  { name: "session", label: "Session" },
  { name: "owner", label: "Owner" },
  { name: "since", label: "Since", type: "date" },
  { name: "until", label: "Until", type: "date" },
  { name: "min_score", label: "Minimum score", type: "number" },
  { name: "overrides", label: "Settings", several: true, hint: "such as rrf.k=30" },
]);
const LISTED = ["types", "topics", "collection", "namespace", "session", "owner"]; // filters of a list without a query

/** Parse the parameters of the address: `{q, profile, mode, limit}` and each filter, a list if it takes several values. */
export function parseParams(params) {
  const request = {};
  for (const name of ["q", "profile", "mode", "limit"]) request[name] = params.get(name) ?? "";
  for (const { name, several } of FILTERS) request[name] = several ? params.getAll(name) : (params.get(name) ?? "");
  return request;
}

/** Return the active filters, one entry per value: `[{name, label, value}]`. */
export function activeFilters(request) {
  return FILTERS.flatMap(({ name, label }) =>
    [request[name]]
      .flat()
      .filter(Boolean)
      .map((value) => ({ name, label, value })),
  );
}

/** Return the query without one value of a filter. */
export function without(request, { name, value }) {
  return { ...request, [name]: Array.isArray(request[name]) ? request[name].filter((other) => other !== value) : "" };
}

/** Return the query with a filter set to one value: more values would widen it, and a click narrows it. */
export function withOnly(request, name, value) {
  return { ...request, [name]: Array.isArray(request[name]) ? [value] : value };
}

/** Return the body of a search. */
export function searchBody(request) {
  const body = { query: request.q, explain: true };
  for (const name of ["profile", "mode", "since", "until"]) if (request[name]) body[name] = request[name];
  for (const name of LISTED) if (request[name].length) body[name] = request[name];
  if (request.limit) body.limit = parseNumber("limit", request.limit);
  if (request.min_score) body.min_score = parseNumber("minimum score", request.min_score);
  return { ...body, ...parseSettings(request.overrides) };
}

/** Return the body of a list request: newest first, or a session in order. */
export function listBody(request) {
  return Object.fromEntries(LISTED.filter((name) => request[name].length).map((name) => [name, request[name]]));
}

/** Return the parameters that compare this query with another profile, for `link`. */
export function compareParams(request, profile) {
  const { q, limit, overrides } = request;
  const a = [request.profile || profile, request.mode].filter(Boolean).join(":");
  const shared = ["since", "until", ...LISTED].map((name) => [name, request[name]]);
  return {
    q,
    a,
    aset: overrides,
    b: a.startsWith("gno:") || a === "gno" ? "default" : "gno",
    limit,
    ...Object.fromEntries(shared),
  };
}

/** Return the labels of active filters that apply only to a search. */
export const searchOnlyFilters = (request) =>
  activeFilters(request)
    .filter(({ name }) => !LISTED.includes(name))
    .map(({ label }) => label);

function parseNumber(label, text) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Problem("invalid", `The ${label} must be a number, not “${text}”.`);
  return value;
}

// Where the page is: `#/search?q=tea&profile=gno`. What follows # never reaches the server or its log.

/** Return the route of the address: `{view, params}`, `params` a URLSearchParams. */
export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "search", params: new URLSearchParams(query) };
}

/** Return the address of a view; parameters that are empty, null or false are left out. */
export function link(view, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of [value].flat())
      if (item !== null && item !== undefined && item !== "" && item !== false) query.append(name, item);
  }
  return query.size ? `#/${view}?${query}` : `#/${view}`;
}

/** Go there, as a step that Back takes back. */
export function navigate(view, params) {
  location.hash = link(view, params);
}

/** Say in the address what is shown now, without a step: for what changes while somebody types. */
export function replaceRoute(view, params) {
  history.replaceState(null, "", link(view, params));
}

// Routes in the hash of the address: `#/search?q=tea&profile=gno`. Browsers never send the hash to the server.

/** Return the current route: `{view, params}`, where `params` is a URLSearchParams. */
export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "search", params: new URLSearchParams(query) };
}

/** Return the hash of a view; parameters that are empty, null or false are left out. */
export function link(view, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of [value].flat())
      if (item !== null && item !== undefined && item !== "" && item !== false) query.append(name, item);
  }
  return query.size ? `#/${view}?${query}` : `#/${view}`;
}

/** Go to a view, as a new entry in the browser's history. */
export function navigate(view, params) {
  location.hash = link(view, params);
}

/** Replace the address without a new history entry, for changes while the user types. */
export function replaceRoute(view, params) {
  history.replaceState(null, "", link(view, params));
}

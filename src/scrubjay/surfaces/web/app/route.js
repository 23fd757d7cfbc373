// Where the page is: `#/search?q=tea&profile=gno`. What follows # never reaches the server or its log.

/** Return the route of the address: `{view, params}`, `params` a URLSearchParams. */
export function here() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "search", params: new URLSearchParams(query) };
}

/** Return the address of a view; parameters that are empty, null or false are left out. */
export function link(view, params = {}) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat())
      if (one !== null && one !== undefined && one !== "" && one !== false) said.append(name, one);
  }
  return said.size ? `#/${view}?${said}` : `#/${view}`;
}

/** Go there, as a step that Back takes back. */
export function go(view, params) {
  location.hash = link(view, params);
}

/** Say in the address what is shown now, without a step: for what changes while somebody types. */
export function note(view, params) {
  history.replaceState(null, "", link(view, params));
}

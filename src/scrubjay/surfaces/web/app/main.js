// Entry point of the web UI: shows one view at a time, chosen by the address, and the header around it.

import { openAccount } from "./account.js";
import { KEY, Problem, reportAway, server } from "./api.js";
import { elements, h, put } from "./dom.js";
import * as keys from "./keys.js";
import { currentLogin, rememberTarget, resume } from "./login.js";
import { currentRoute, navigate, replaceRoute } from "./route.js";
import * as theme from "./theme.js";
import { attempt, toast } from "./toast.js";

// A view module exports `make(root)`, which returns {show(params), hide(), keys}; it is called when first shown.
const VIEWS = {
  search: () => import("../search/search.js"),
  compare: () => import("../compare/compare.js"),
  map: () => import("../map/map.js"),
  graph: () => import("../map/graph.js"),
  health: () => import("../health/health.js"),
  signin: () => import("./sign_in.js"),
};
const TITLES = {
  search: "Search",
  compare: "Compare",
  map: "Map",
  graph: "Graph",
  health: "Health",
  signin: "Sign in",
};
const STORAGE_BLOCKED =
  "Your browser blocks cookies and site data, so you cannot sign in. Allow them for this address in the browser's " +
  "settings, then reload.";
const PARENT_VIEW = { graph: "map" }; // entry in the navigation for a view without its own
const views = {};
const main = document.getElementById("main");
let shown = null;
let turns = 0;

// No view is made before the login is known.
async function showRoute() {
  const turn = ++turns;
  const { view, params } = currentRoute();
  if (!Object.hasOwn(VIEWS, view)) return location.replace("#/search");
  let person;
  try {
    person = await currentLogin();
    if (turn !== turns) return;
    if (!person.signed_in && view !== "signin") return redirectToSignIn(person.why ?? "");
    if (person.signed_in && view === "signin" && !params.get("code")) return resume();
    views[view] ??= await makeView(view);
  } catch (error) {
    if (turn === turns) showFailure(error);
    return;
  }
  if (turn !== turns) return;
  showControls(person);
  await showView(view, params);
}

async function makeView(view) {
  const { make } = await importModule(VIEWS[view]);
  if (views[view]) return views[view]; // two calls ran at once
  const root = h("section", { class: `view ${view}`, "aria-label": TITLES[view], hidden: true });
  main.append(root);
  return { root, ...make(root) };
}

/** Import a module; if that fails, the server does not answer. */
async function importModule(part) {
  try {
    return await part();
  } catch {
    // A browser may not retry a module that failed to load.
    server.addEventListener("back", () => location.reload());
    reportAway();
    throw new Problem("away", "The server does not answer.");
  }
}

async function showView(view, params) {
  const before = shown;
  shown = views[view];
  document.getElementById("fault")?.remove();
  if (before !== shown) {
    if (before) before.root.hidden = true;
    before?.hide?.();
    shown.root.hidden = false;
    keys.setViewKeys(shown.keys);
    scrollTo(0, 0);
  }
  document.title = `${TITLES[view]} · scrubjay`;
  for (const entry of elements(document, "nav [data-view]")) {
    if (entry.dataset.view === (PARENT_VIEW[view] ?? view)) entry.setAttribute("aria-current", "page");
    else entry.removeAttribute("aria-current");
  }
  const showing = shown.show(params);
  if (before && before !== shown) focusHeading(shown.root);
  await showing;
}

/** Move the focus of screen readers to the new view, unless the view has set the focus itself. */
function focusHeading(root) {
  if (root.contains(document.activeElement)) return;
  const heading = root.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  (heading ?? main).focus({ preventScroll: true });
}

/** Show why the view cannot be shown. If the server is away, the banner says so. */
function showFailure(error) {
  if (!error.kind) throw error;
  if (error.kind === "away") return;
  document.getElementById("fault")?.remove();
  const again = h("button", { type: "button", onclick: showRoute }, "Try again");
  main.prepend(h("div", { id: "fault", class: "notice bad", role: "alert" }, h("p", {}, error.detail), again));
}

/** Show only the controls that the login permits. */
function showControls(person) {
  const writes = person.scopes.includes("write");
  elements(document, ".top nav")[0].hidden = !person.signed_in;
  const you = document.getElementById("who");
  you.hidden = !person.signed_in;
  put(you, h("span", { class: "name", dir: "auto" }, person.name || person.store), " ▾");
  document.getElementById("add").hidden = !writes;
  keys.allowWrites(writes);
}

function redirectToSignIn(why) {
  rememberTarget(location.hash, why);
  if (!shown) return location.replace("#/signin");
  replaceRoute("signin");
  location.reload(); // so that nothing stays on the screen
}

function listenToServer() {
  const banner = document.getElementById("away");
  server.addEventListener("away", () => {
    put(banner, "The server does not answer. Retrying automatically; what you see may be out of date.");
    banner.hidden = false;
  });
  server.addEventListener("back", () => {
    banner.hidden = true;
    toast("The server is back.");
    showRoute();
  });
  server.addEventListener("signed-out", (/** @type {CustomEvent} */ event) => {
    if (currentRoute().view !== "signin") redirectToSignIn(event.detail.detail);
  });
  // The login changed in another tab: nothing of the former user may stay on the screen.
  window.addEventListener("storage", (event) => event.key === KEY && location.reload());
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
}

async function add() {
  const { openAddDialog } = (await attempt(() => importModule(() => import("../memory/edit.js")))) ?? {};
  const memory = await openAddDialog?.();
  if (memory) navigate("search", { id: memory.id, q: currentRoute().params.get("q") });
}

/** Remove service workers that another server on this port has registered: they see every request. */
async function removeServiceWorkers() {
  const left = await navigator.serviceWorker.getRegistrations();
  await Promise.all(left.map((registration) => registration.unregister()));
  location.reload();
}

/** True if the browser blocks site data, without which signing in is impossible. */
function storageBlocked() {
  try {
    return !localStorage || !sessionStorage;
  } catch {
    return true; // reading the property throws when site data is blocked
  }
}

function start() {
  if (storageBlocked()) return put(main, h("p", { class: "notice bad", role: "alert" }, STORAGE_BLOCKED));
  if (navigator.serviceWorker?.controller) return removeServiceWorkers(); // before the first request: the worker would see the key
  theme.apply();
  listenToServer();
  const on = (id, act) => document.getElementById(id).addEventListener("click", act);
  on("theme", theme.toggle);
  on("help", keys.openHelp);
  on("add", add);
  on("who", openAccount);
  on("skip", (event) => {
    event.preventDefault(); // the hash selects the view
    main.focus();
  });
  keys.addGlobalKeys(
    { keys: "g s", does: "Go to Search", act: () => navigate("search") },
    { keys: "g c", does: "Go to Compare", act: () => navigate("compare") },
    { keys: "g m", does: "Go to Map", act: () => navigate("map") },
    { keys: "g h", does: "Go to Health", act: () => navigate("health") },
    { keys: "n", write: true, does: "Add a memory", act: add },
    { keys: "t", does: "Light or dark", act: theme.toggle },
    { keys: "?", does: "Show these keys", act: keys.openHelp },
  );
  keys.listen();
  window.addEventListener("hashchange", showRoute);
  showRoute();
}

start();

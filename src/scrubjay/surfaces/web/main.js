// The page: one view at a time, chosen by the address, and what stands around all of them.

import { keep, send, server } from "./api.js";
import { h, put } from "./dom.js";
import * as keys from "./keys.js";
import { go, here } from "./route.js";
import * as theme from "./theme.js";
import { changed, who } from "./session.js";
import { saying, toast } from "./toast.js";

// A view is `make(root)`, which gives {show(params), hide(), keys}; it is made when first shown.
const VIEWS = {
  search: () => import("./search.js"),
  compare: () => import("./compare.js"),
  map: () => import("./map.js"),
  graph: () => import("./graph.js"),
  health: () => import("./health.js"),
  signin: () => import("./signin.js"),
};
const TITLES = { search: "Search", compare: "Compare", map: "Map", graph: "Graph", health: "Health", signin: "Sign in" };
const made = {};
const main = document.getElementById("main");
let shown = null;

async function turnTo() {
  const { view, params } = here();
  if (!VIEWS[view]) return go("search");
  if (!made[view]) {
    const root = h("section", { class: `view ${view}`, "aria-label": TITLES[view], hidden: true });
    main.append(root);
    const loaded = await VIEWS[view]();
    made[view] = made[view] ?? { root, ...loaded.make(root) };
  }
  if (here().view !== view) return; // somebody was faster
  if (shown !== made[view]) {
    if (shown) shown.root.hidden = true;
    shown?.hide?.();
    shown = made[view];
    shown.root.hidden = false;
    keys.meanwhile(shown.keys);
  }
  document.title = `${TITLES[view]} · scrubjay`;
  for (const one of document.querySelectorAll("nav [data-view]")) {
    if (one.dataset.view === view) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  const { signed_in } = (await saying(who)) ?? {};
  document.getElementById("leave").hidden = !signed_in;
  document.getElementById("add").hidden = !signed_in;
  if (signed_in === false && view !== "signin") return toSignIn("");
  await shown.show(params);
}

function toSignIn(why) {
  keep(null);
  sessionStorage.setItem("scrubjay.then", location.hash); // where to go on afterwards
  go("signin", { why });
}

function aside() {
  const banner = document.getElementById("away");
  server.addEventListener("away", () => {
    put(banner, "The server does not answer. What is shown stays; the page looks again by itself.");
    banner.hidden = false;
  });
  server.addEventListener("back", () => {
    banner.hidden = true;
    toast("The server is back.");
    turnTo();
  });
  server.addEventListener("signed-out", (event) => {
    if (here().view !== "signin") toSignIn(event.detail.detail);
  });
}

async function leave() {
  await saying(() => send("DELETE", "/session"));
  keep(null);
  changed();
  location.hash = "";
  location.reload();
}

async function add() {
  const { added } = await import("./edit.js");
  const memory = await added();
  if (memory) go("search", { id: memory.id, q: here().params.get("q") });
}

function start() {
  theme.restore();
  aside();
  const on = (id, act) => document.getElementById(id).addEventListener("click", act);
  on("theme", theme.turn);
  on("help", keys.help);
  on("add", add);
  on("leave", leave);
  keys.always(
    { keys: "g s", does: "Go to the search", act: () => go("search") },
    { keys: "g c", does: "Go to Compare", act: () => go("compare") },
    { keys: "g m", does: "Go to the map", act: () => go("map") },
    { keys: "g h", does: "Go to Health", act: () => go("health") },
    { keys: "n", does: "Add a memory", act: add },
    { keys: "t", does: "Light or dark", act: theme.turn },
    { keys: "?", does: "Show these keys", act: keys.help },
  );
  keys.listen();
  window.addEventListener("hashchange", turnTo);
  turnTo();
}

start();

// Map view: all memories as points, similar ones close together, and the position of a query.

import { call } from "../app/api.js";
import { debounce, h, leaveOnEscape, put } from "../app/dom.js";
import { FilterMenu } from "../app/filter_menu.js";
import { count } from "../app/format.js";
import { currentRoute, link, navigate, replaceRoute } from "../app/route.js";
import { copyButton } from "../app/share.js";
import { attempt } from "../app/toast.js";
import { openMemory } from "../memory/memory.js";
import { Chart, pointSummary } from "./canvas.js";
import { COLOR_MODES } from "./colors.js";
import { drawLegend } from "./legend.js";
import { MemoryRoute } from "./memory_route.js";
import { drawCoverage, emptyNote, HINT, MAX_LISTED, pointList } from "./sidebar.js";

const TYPING_MS = 250;
const MOVING_MS = 200;

/** Make the view. */
export function make(root) {
  const view = new MapView(root);
  return {
    show: (params) => view.show(params),
    hide: () => view.hide(),
    keys: [
      { keys: "/", does: "Go to the query", act: () => view.box.select() },
      { keys: "m", does: "Go to the points: arrow keys move, Enter opens", act: () => view.chart.canvas.focus() },
      { keys: "c", does: "Colour by topic, type or age in turn", act: () => view.nextColour() },
      { keys: "+", does: "Zoom in", act: () => view.chart.step(1) },
      { keys: "-", does: "Zoom out", act: () => view.chart.step(-1) },
      { keys: "0", does: "Show all", act: () => view.chart.reset() },
    ],
  };
}

class MapView {
  #controller = null;
  #answer = null; // the last answer with points
  #shownFor = ""; // the filters of that answer
  #state = { q: "", by: "topic", collection: [], topics: [], types: [], hide: [], at: "" };
  #seen = ""; // the last address, without the open memory
  #hash = "";

  constructor(root) {
    this.chart = new Chart({
      open: (point) => this.#open(point),
      pile: (points) => this.#choose(points),
      chosen: (point) => this.#showSelected(point),
      moved: debounce(MOVING_MS, () => {
        this.#note({ at: String(this.chart.plane) });
        this.#listInView();
      }),
    });
    this.opening = new MemoryRoute("map", (id, signal) => this.#show(id, signal));
    this.#build(root);
  }

  /** Show an address; loads points only if the current ones do not fit. */
  async show(params) {
    const by = COLOR_MODES[params.get("by")] ? params.get("by") : "topic";
    const before = this.#state;
    this.#state = {
      q: params.get("q") ?? "",
      by,
      collection: params.getAll("collection"),
      topics: params.getAll("topics"),
      types: params.getAll("types"),
      hide: params.getAll("hide"),
      at: params.get("at") ?? "",
    };
    const address = link("map", this.#address());
    const isSame = this.#answer !== null && address === this.#seen; // except for the open memory
    const isAgain = location.hash === this.#hash; // the server came back
    [this.#seen, this.#hash] = [address, location.hash];
    this.opening.follow(params.get("id") ?? "", () => this.#address(), isSame);
    if (isSame && !isAgain) return;
    if (this.box.value.trim() !== this.#state.q) this.box.value = this.#state.q;
    if (this.#state.at !== before.at) this.chart.plane.look(this.#state.at);
    this.#drawControls();
    if (this.#answer) this.#redraw();
    await attempt(() => this.#load());
  }

  hide() {
    this.#controller?.abort();
    this.#seen = "";
    this.opening.close();
    this.typed.cancel();
    this.chart.on.moved.cancel();
  }

  nextColour() {
    const ways = Object.keys(COLOR_MODES);
    this.#change({ by: ways[(ways.indexOf(this.#state.by) + 1) % ways.length], hide: [] });
  }

  #build(root) {
    this.typed = debounce(TYPING_MS, () => {
      this.#note({ q: this.box.value.trim() });
      attempt(() => this.#load());
    });
    const asks = {
      type: "search",
      placeholder: "Type a query to see where it belongs",
      "aria-label": "Query",
      autocomplete: "off",
    };
    this.box = h("input", { ...asks, oninput: this.typed, onkeydown: leaveOnEscape });
    this.colours = h("div", { class: "ways", role: "group", "aria-label": "Colour by" });
    this.filterMenu = new FilterMenu((what) => this.#change({ ...what, hide: [], at: "" }));
    this.coverage = h("p", { class: "hint standing", role: "status" });
    this.selected = h("div", { class: "under" });
    this.outcome = h("div", { class: "outcome", role: "status" });
    this.legend = h("section", { "aria-label": "Colours" }, h("h2", {}), h("div", {}));
    this.landing = h("section", { "aria-label": "Nearest to the query", hidden: true });
    this.pile = h("section", { "aria-label": "At this position", hidden: true });
    this.inView = h("details", { ontoggle: () => this.#listInView() }, h("summary", {}, "In view"), h("div", {}));
    this.body = h(
      "div",
      { class: "spread", hidden: true },
      h("div", { class: "stage" }, this.chart.node, this.selected, this.coverage),
      h("aside", {}, this.pile, this.landing, this.legend, this.inView),
    );
    const bar = h("div", { class: "bar" }, this.box, this.colours, this.filterMenu.node, copyButton());
    put(root, h("h1", { class: "visually-hidden" }, "Map"), bar, this.outcome, this.body);
    this.#showSelected(null);
  }

  #filters() {
    const { collection, topics, types } = this.#state;
    return { collection: collection[0], ...(topics.length && { topics }), ...(types.length && { types }) };
  }

  async #load({ again = false } = {}) {
    this.#controller?.abort();
    const mine = new AbortController();
    this.#controller = mine;
    const filters = this.#filters();
    const key = JSON.stringify(filters);
    const isHere = !again && this.#answer !== null && this.#shownFor === key;
    if (!isHere) this.#showOutcome(h("p", { class: "hint" }, "Drawing the map…"));
    try {
      const query = this.#state.q || undefined;
      let answer = await call("map", { ...filters, query, points: !isHere }, mine);
      if (isHere && answer.state !== this.#answer.state) answer = await call("map", { ...filters, query }, mine);
      if (answer.points.length || !isHere) this.#applyAnswer(answer, key);
      this.#land(answer);
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#failed(error);
    }
  }

  #applyAnswer(answer, key) {
    this.#answer = answer;
    this.#shownFor = key;
    this.chart.set(answer.points);
    this.body.hidden = !answer.points.length;
    drawCoverage(this.coverage, answer, answer.points.length);
    this.#redraw();
    this.#drawControls();
  }

  #redraw() {
    if (this.chart.by !== this.#state.by) this.chart.colour(this.#state.by);
    this.chart.hide(this.#state.hide);
    put(this.legend.firstChild, BY[this.#state.by]);
    drawLegend(this.legend.lastChild, this.chart.groups, this.chart.off, (hide) => this.#change({ hide }));
    this.#listInView();
  }

  #land(answer) {
    this.chart.land(answer.landing);
    const points = (answer.landing?.nearest ?? []).map((id) => this.chart.pointOf(id)).filter(Boolean);
    if (answer.landing) this.chart.plane.reveal(answer.landing.x, answer.landing.y);
    this.landing.hidden = !answer.landing;
    put(
      this.landing,
      h("h2", {}, "Nearest to the query"),
      pointList(points, { ...this.#listActions(), ordered: true }),
    );
    this.#showOutcome(
      ...answer.degraded.map((why) => h("p", { class: "notice" }, sentence(why))),
      !this.#answer.points.length && emptyNote(this.#answer, this.#state),
    );
  }

  #failed(error) {
    this.chart.land(null); // the old position belongs to another query
    this.landing.hidden = true;
    if (error.kind === "away" || error.kind === "no-token" || !error.kind) throw error;
    if (error.kind === "unavailable") this.body.hidden = true;
    const instead = h("a", { href: link("search", { q: this.#state.q }) }, "Search by keyword instead");
    this.#showOutcome(h("div", { class: "notice bad" }, h("p", {}, sentence(error.detail)), h("p", {}, instead)));
  }

  #showOutcome(...what) {
    put(this.outcome, ...what);
  }

  #drawControls() {
    const { by } = this.#state;
    const colour = (name) => () => this.#change({ by: name, hide: [] });
    const way = ([name, label]) =>
      h("button", { type: "button", "aria-pressed": String(name === by), onclick: colour(name) }, label);
    const focused = [...this.colours.children].indexOf(document.activeElement);
    put(this.colours, h("span", { class: "hint" }, "Colour by"), Object.entries(COLOR_MODES).map(way));
    if (focused > 0) this.colours.children[focused].focus();
    this.filterMenu.draw(this.#state);
  }

  #listInView() {
    if (!this.inView.open) return;
    const { points, count: all } = this.chart.inView(MAX_LISTED);
    const more = all > points.length ? `The first ${points.length} of ${count(all)}; zoom in for others.` : "";
    put(this.inView.lastChild, more && h("p", { class: "hint" }, more), pointList(points, this.#listActions()));
  }

  #choose(points) {
    this.pile.hidden = false;
    const list = pointList(points.slice(0, MAX_LISTED), this.#listActions());
    put(this.pile, h("h2", {}, `${count(points.length)} at this position`), list);
    this.pile.querySelector("button").focus();
  }

  #showSelected(point) {
    this.pile.hidden = true;
    const hint = h("span", { class: "hint" }, HINT);
    put(
      this.selected,
      h(
        "p",
        { "aria-live": "polite" },
        point ? [h("strong", { dir: "auto" }, point.title), " ", pointSummary(point)] : hint,
      ),
      point && h("button", { type: "button", onclick: () => this.#open(point) }, "Open"),
      point && h("a", { class: "button", href: link("graph", { id: point.id }) }, "Links"),
    );
  }

  #listActions() {
    return { open: (point) => this.#open(point), hint: (id) => this.chart.hint(id) };
  }

  #open(point) {
    this.opening.to(point.id, () => this.#address());
  }

  #show(id, signal) {
    const changed = () => attempt(() => this.#load({ again: true }));
    return openMemory(id, { query: this.#state.q, changed, signal });
  }

  #address(state = this.#state) {
    return { ...state, by: state.by === "topic" ? "" : state.by };
  }

  #change(what) {
    navigate("map", this.#address({ ...this.#state, q: this.box.value.trim(), ...what })); // including the text typed just now
  }

  #note(what) {
    Object.assign(this.#state, what);
    if (currentRoute().view !== "map") return;
    replaceRoute("map", { ...this.#address(), id: currentRoute().params.get("id") });
    [this.#seen, this.#hash] = [link("map", this.#address()), location.hash];
  }
}

const BY = { topic: "By first topic", type: "By type", age: "By age" };

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

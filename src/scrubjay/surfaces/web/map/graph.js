// Graph view: the memories linked to one memory, and the origin of each link.

import { call } from "../app/api.js";
import { h, put } from "../app/dom.js";
import { figure, plural } from "../app/format.js";
import { link, navigate } from "../app/route.js";
import { attempt } from "../app/toast.js";
import { finder } from "../memory/finder.js";
import { openMemory } from "../memory/memory.js";
import { layoutGraph } from "./graph_layout.js";
import { DIRECTED, drawGraph, focusedId, LINK_ORIGINS, lineSample, widthOf } from "./graph_picture.js";

const DEPTHS = [1, 2, 3];
const MAX_LISTED = 5; // links of one memory in the table

/** Make the view. */
export function make(root) {
  const view = new GraphView(root);
  return {
    show: (params) => view.show(params),
    hide: () => view.hide(),
    keys: [
      { keys: "/", does: "Find a memory", act: () => view.finder.box.select() },
      {
        keys: "o",
        does: "Open the memory that has the focus, or the one in the middle",
        act: () => view.open(focusedId(root)),
      },
      ...DEPTHS.map((depth) => ({
        keys: String(depth),
        does: `Show memories up to ${plural(depth, "link", "links")} away`,
        act: () => view.setDepth(depth),
      })),
    ],
  };
}

class GraphView {
  #controller = null;
  #id = "";
  #depth = 1;
  #graph = null;
  #width = 0;

  constructor(root) {
    this.finder = finder("Find a memory", (id) => this.#hrefOf(id));
    this.depths = h("div", { class: "ways", role: "group", "aria-label": "How many links away" });
    this.body = h("div", { class: "around" });
    put(root, h("div", { class: "bar" }, this.finder.node, this.depths), this.body);
    this.stage = h("div", { class: "stage" });
    new ResizeObserver(() => this.stage.clientWidth !== this.#width && this.#draw()).observe(this.stage);
  }

  async show(params) {
    const depth = Number(params.get("depth") ?? 1);
    const focused = focusedId(this.stage);
    this.#id = params.get("id") ?? "";
    this.#depth = DEPTHS.includes(depth) ? depth : 1;
    this.#drawDepths();
    if (!this.#id) return this.#welcome();
    await attempt(() => this.#load());
    if (focused) this.stage.querySelector(".middle a")?.focus(); // the chosen memory is in the middle now
    return undefined;
  }

  hide() {
    this.#controller?.abort();
    this.finder.clear();
  }

  /** Open a memory (default: the one in the middle). */
  open(id) {
    const which = id ?? this.#id;
    if (which) openMemory(which, { changed: () => attempt(() => this.#load()) });
  }

  /** Show the memories up to `depth` links away. */
  setDepth(depth) {
    if (this.#id) navigate("graph", { id: this.#id, depth: depth === 1 ? "" : depth });
  }

  #hrefOf(id) {
    return link("graph", { id, depth: this.#depth === 1 ? "" : this.#depth });
  }

  async #load() {
    this.#controller?.abort();
    const mine = new AbortController();
    this.#controller = mine;
    try {
      this.#graph = await call("surroundings", { id: this.#id, depth: this.#depth }, mine);
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#graph = null;
      if (error.status !== 404) throw error;
      this.#showNotFound();
      return;
    }
    this.#fill();
  }

  #welcome() {
    this.#controller?.abort();
    this.#graph = null;
    put(
      this.body,
      h("h1", {}, "Graph"),
      h(
        "p",
        {},
        "Shows the links around one memory. Find one above, or open one from the ",
        toSearch(),
        " or the ",
        toMap(),
        ".",
      ),
    );
    this.finder.box.focus();
  }

  #showNotFound() {
    put(
      this.body,
      h("h1", {}, "Memory not found"),
      h(
        "p",
        { class: "notice" },
        "It was forgotten, or you have no access to it. Find another above, or ",
        toSearch(),
        ".",
      ),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => history.back() }, "Back")),
    );
  }

  #fill() {
    const { nodes, left_out: leftOut } = this.#graph;
    const [first, ...others] = nodes;
    const open = h("button", { type: "button", onclick: () => this.open(first.id) }, "Open");
    const alike = h("a", { class: "button", href: link("map", { q: first.title }) }, "Similar memories on the map");
    const reached = `${plural(others.length, "memory", "memories")} up to ${plural(this.#depth, "link", "links")} away.`;
    const more = leftOut > 0 && ` ${plural(leftOut, "more is", "more are")} not drawn.`;
    const table = h("details", {}, h("summary", {}, "As a table"), h("div", { class: "scroll" }, this.#table()));
    put(
      this.body,
      h("div", { class: "headed" }, h("h1", { dir: "auto" }, first.title), open, alike),
      !others.length && unlinkedNote(),
      others.length > 0 && [
        h("p", { class: "hint", role: "status" }, reached, more),
        this.stage,
        this.#legend(),
        table,
      ],
    );
    this.#draw();
  }

  #draw() {
    this.#width = this.stage.clientWidth;
    if (!this.#graph || !this.#width) return;
    const layout = layoutGraph(this.#graph.nodes, this.#graph.edges, this.#width, widthOf);
    put(this.stage, drawGraph(this.#graph, layout, { depth: this.#depth, open: (id) => this.open(id) }));
  }

  #drawDepths() {
    const focused = [...this.depths.children].indexOf(document.activeElement);
    const pressed = (depth) => String(depth === this.#depth);
    const button = (depth) =>
      h(
        "button",
        { type: "button", "aria-pressed": pressed(depth), onclick: () => this.setDepth(depth) },
        String(depth),
      );
    this.depths.hidden = !this.#id;
    put(this.depths, h("span", { class: "hint" }, "Links away, up to"), DEPTHS.map(button));
    if (focused > 0) this.depths.children[focused].focus();
  }

  #legend() {
    const used = Object.keys(LINK_ORIGINS).filter((made) => this.#graph.edges.some((edge) => edge.made === made));
    const arrow = this.#graph.edges.some((edge) => DIRECTED.has(edge.kind));
    return h(
      "ul",
      { class: "made", "aria-label": "What the lines mean" },
      used.map((made) => h("li", {}, lineSample(made), LINK_ORIGINS[made].label)),
      h("li", {}, "thicker: stronger"),
      arrow && h("li", {}, "arrow: replaces"),
      h("li", {}, "A click puts a memory in the middle; ↗ or ", h("kbd", {}, "o"), " opens it."),
    );
  }

  #table() {
    const { nodes, edges } = this.#graph;
    const opener = (node) =>
      h("button", { type: "button", "aria-label": `Open ${node.title}`, onclick: () => this.open(node.id) }, "Open");
    const row = (node) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, h("a", { href: this.#hrefOf(node.id), dir: "auto" }, node.title)),
        h("td", {}, node.type),
        h("td", { class: "number" }, String(node.depth)),
        h("td", { class: "number" }, figure(node.score, 2)),
        h(
          "td",
          {},
          h(
            "ul",
            {},
            earlierLinks(node, nodes, edges).map((words) => h("li", {}, words)),
          ),
        ),
        h("td", {}, opener(node)),
      );
    const numbers = new Set(["Links away", "Score"]);
    const head = (name) => h("th", { scope: "col", class: numbers.has(name) ? "number" : "" }, name);
    const heads = [...["Memory", "Type", "Links away", "Score", "Linked"].map(head), h("td", {})];
    return h("table", { class: "links" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, nodes.slice(1).map(row)));
  }
}

const toMap = () => h("a", { href: "#/map" }, "map");
const toSearch = () => h("a", { href: "#/search" }, "search");

// The links of a memory to memories above it in the table, so that no link is listed twice.
function earlierLinks(node, nodes, edges) {
  const before = new Map(nodes.slice(0, nodes.indexOf(node)).map((earlier) => [earlier.id, earlier.title]));
  const own = edges.filter(({ a, b }) => (a === node.id && before.has(b)) || (b === node.id && before.has(a)));
  const phrases = own.slice(0, MAX_LISTED).map((edge) => linkText(edge, node, before));
  return own.length > phrases.length ? [...phrases, `and ${own.length - phrases.length} more`] : phrases;
}

function linkText(edge, node, titles) {
  const other = titles.get(edge.a === node.id ? edge.b : edge.a);
  const isOld = DIRECTED.has(edge.kind) && edge.b === node.id;
  const kind = isOld
    ? DIRECTED.get(edge.kind)
    : edge.kind === "related"
      ? "related to"
      : edge.kind.replaceAll("_", " ");
  return `${kind}: ${other} (${figure(edge.strength, 2)}, ${LINK_ORIGINS[edge.made].label})`;
}

function unlinkedNote() {
  return h(
    "div",
    { class: "notice" },
    h("p", {}, "This memory has no links yet. Links are created"),
    h(
      "ul",
      {},
      h("li", {}, "manually, from the command line: ", h("code", {}, "scrubjay link A B")),
      h("li", {}, "from a document that links to another"),
      h("li", {}, "by similarity, when the vectors of two memories are close"),
    ),
  );
}

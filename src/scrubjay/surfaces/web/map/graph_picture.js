// SVG of the graph: links as lines, memories as anchors that move a memory to the middle.

import { s } from "../app/dom.js";
import { figure, plural } from "../app/format.js";
import { link } from "../app/route.js";
import { ARROWS } from "./gestures.js";
import { ringDistance } from "./graph_layout.js";
import { nextInDirection } from "./points.js";

/** Origins of links: label and dash pattern. */
export const LINK_ORIGINS = {
  hand: { label: "added manually", dash: null },
  text: { label: "link in a document", dash: "9 5" },
  likeness: { label: "similar", dash: "1.5 5" },
};
/** Kinds of links with a direction, and their names from the other end. */
export const DIRECTED = new Map([
  ["supersedes", "superseded by"],
  ["updates", "updated by"],
]);
const DEFAULT_KIND = "related"; // a kind that gets no label
const MIN_MIDDLE_PX = 90;
const LABEL_FONT_PX = 13; // as in map.css

/** Draw a graph with its layout; the ↗ sign beside a memory calls `open(id)`. */
export function drawGraph(graph, layout, { depth, open }) {
  const nodes = graph.nodes.map((node) => nodeOf(node, layout.places.get(node.id), { depth, open }));
  const dense = graph.edges.length > 2 * graph.nodes.length;
  const edges = graph.edges.map((edge) => edgeOf(edge, layout, dense));
  const { width, height } = layout;
  const svg = s(
    "svg",
    {
      class: "twigs",
      width,
      height,
      role: "group",
      "aria-label": "Graph",
      onkeydown: (event) => onKeydown(event, svg),
    },
    s("defs", {}, arrow()),
    layout.rings.map((ring) => ringOf(ring, layout)),
    edges.map((edge) => edge.line),
    edges.map((edge) => edge.word),
    nodes,
  );
  for (const node of nodes) {
    for (const name of ["pointerenter", "focusin"])
      node.addEventListener(name, () => highlightEdges(svg, node.dataset.id));
    for (const name of ["pointerleave", "focusout"]) node.addEventListener(name, () => highlightEdges(svg, null));
  }
  return svg;
}

/** Return the id of the focused memory in a graph, or null. */
export const focusedId = (root) => root.querySelector(".node:focus-within")?.dataset.id ?? null;

/** Draw a sample line for the legend. */
export function lineSample(made) {
  const dash = { "stroke-dasharray": LINK_ORIGINS[made].dash, "stroke-linecap": "round" };
  const line = { class: "edge", d: "M2,6H42", "stroke-width": 2.5, ...dash };
  return s("svg", { class: "sample", width: 44, height: 12, "aria-hidden": "true" }, s("path", line));
}

function ringOf(ring, { middle }) {
  return Object.entries(ring.spans).map(([side, [from, to]]) => {
    const downs = Array.from({ length: 41 }, (_, index) => from + (index * (to - from)) / 40);
    const points = downs.map((down) => `${middle.x + Number(side) * ringDistance(ring, down)},${middle.y + down}`);
    return s("polyline", { class: "ring", points: points.join(" ") });
  });
}

function edgeOf(edge, { places, middle, sides }, dense) {
  const [from, to] = [places.get(edge.a), places.get(edge.b)];
  const isSpoke = from.side === 0 || to.side === 0;
  const pull = isSpoke ? 0 : 0.35;
  const half = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const bend = { x: half.x + (middle.x - half.x) * pull, y: half.y + (middle.y - half.y) * pull };
  const [begin, end] = [shortened(from, bend), shortened(to, bend)];
  const data = { a: edge.a, b: edge.b };
  const line = s(
    "path",
    {
      class: dense && !isSpoke ? "edge many" : "edge",
      d: `M${begin.x},${begin.y}Q${bend.x},${bend.y} ${end.x},${end.y}`,
      "stroke-width": (1 + 3 * edge.strength) * (dense && !isSpoke ? 0.5 : 1),
      "stroke-dasharray": LINK_ORIGINS[edge.made].dash,
      "stroke-linecap": "round",
      "marker-end": DIRECTED.has(edge.kind) ? "url(#twig-arrow)" : null,
      data,
    },
    s("title", {}, `${edge.kind}, ${figure(edge.strength, 2)}, ${LINK_ORIGINS[edge.made].label}`),
  );
  const at = isSpoke
    ? interpolate(middle, from.side === 0 ? to : from, 0.68)
    : interpolate(interpolate(begin, end, 0.5), bend, 0.5);
  const hasRoom = isSpoke && sides.length === 2;
  const shown = { class: hasRoom ? "kind" : "kind aside", x: at.x, y: at.y + 4, "text-anchor": "middle", data };
  const word = edge.kind === DEFAULT_KIND ? null : s("text", shown, edge.kind.replaceAll("_", " "));
  return { line, word };
}

function interpolate(from, to, share) {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

// Ends a line before the memory, so that its arrow stays visible.
function shortened(end, bend) {
  const far = Math.hypot(bend.x - end.x, bend.y - end.y) || 1;
  return interpolate(end, bend, Math.min(11 / far, 0.5));
}

function nodeOf(node, place, { depth, open }) {
  const isMiddle = place.side === 0;
  const radius = isMiddle ? 9 : 4 + 4 * Math.sqrt(node.score);
  const weight = isMiddle ? 600 : 400;
  const hasRoom = !isMiddle || place.room >= MIN_MIDDLE_PX; // otherwise the heading shows the title
  const shown = hasRoom ? truncate(node.title, place.room, weight) : "";
  const wide = widthOf(shown, weight);
  const label = isMiddle ? below(place, wide) : beside(place);
  const far = isMiddle ? "in the middle" : `${plural(node.depth, "link", "links")} away, ${figure(node.score, 2)}`;
  const href = link("graph", { id: node.id, depth: depth === 1 ? "" : depth });
  const left = place.side < 0 ? place.x - 18 - wide : place.x - 13;
  const beyond = place.x + place.side * (18 + wide);
  const sign = { ...label, x: beyond, class: "sign", "aria-hidden": "true", onclick: () => open(node.id) };
  return s(
    "g",
    { class: isMiddle ? "node middle" : "node", data: { id: node.id } },
    s(
      "a",
      { href, "aria-label": `${node.title}, ${node.type}, ${far}`, "aria-current": isMiddle ? "true" : null },
      s("title", {}, `${node.title}\n${node.type}, ${far}`),
      s("rect", { class: "target", x: left, y: place.y - 13, width: isMiddle ? 26 : wide + 31, height: 26, rx: 6 }),
      s("circle", { cx: place.x, cy: place.y, r: radius }),
      shown && s("text", label, shown),
    ),
    !isMiddle && s("text", sign, "↗", s("title", {}, "Open (o)")),
  );
}

const beside = ({ x, y, side }) => ({ x: x + side * 14, y: y + 4.5, "text-anchor": side > 0 ? "start" : "end" });

/** Return the position of the label below the middle, inside the left edge. */
const below = ({ x, y }, wide) => ({ x: Math.max(x, wide / 2 + 6), y: y + 26, "text-anchor": "middle" });

let ruler = null;

/** Return the width of a label in pixels. */
export function widthOf(text, weight = 400) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${weight} ${LABEL_FONT_PX}px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

function truncate(title, roomPx, weight) {
  if (widthOf(title, weight) <= roomPx) return title;
  let begun = "";
  for (const character of title) {
    if (begun.length > 3 && widthOf(`${begun}${character}…`, weight) > roomPx) break;
    begun += character;
  }
  const space = begun.lastIndexOf(" ");
  return `${(space > begun.length / 2 ? begun.slice(0, space) : begun).trimEnd()}…`;
}

function arrow() {
  const size = { refX: 8, refY: 5, markerWidth: 11, markerHeight: 11, markerUnits: "userSpaceOnUse", orient: "auto" };
  return s(
    "marker",
    { id: "twig-arrow", viewBox: "0 0 10 10", ...size },
    s("path", { class: "head", d: "M0,0L10,5L0,10z" }),
  );
}

function highlightEdges(svg, id) {
  svg.classList.toggle("some", id !== null);
  for (const element of svg.querySelectorAll("[data-a]")) {
    element.classList.toggle("lit", element.dataset.a === id || element.dataset.b === id);
  }
}

function onKeydown(event, svg) {
  const arrowKey = ARROWS[event.key];
  const here = svg.querySelector(".node:focus-within");
  if (!arrowKey || !here || event.shiftKey) return;
  event.preventDefault();
  const placeOf = (node) => {
    const at = node.querySelector("circle");
    return { node, x: Number(at.getAttribute("cx")), y: -Number(at.getAttribute("cy")) };
  };
  const others = [...svg.querySelectorAll(".node")].filter((node) => node !== here).map(placeOf);
  nextInDirection(others, placeOf(here), ...arrowKey)
    ?.node.querySelector("a")
    .focus();
}

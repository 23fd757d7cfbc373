// Groups of points with colour and shape: by topic, type or age.

import { s } from "../app/dom.js";

const MAX_GROUPS = 7; // groups with their own colour; the others share one
const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c8"];
const REST = "var(--c7)";
const SHAPES = ["disc", "square", "triangle", "diamond", "cross", "down", "bar"];
const MIN_TOGETHER = 0.2; // share of a group that must be close together to get a label
const MAX_TRIED = 60;
const DAY_MS = 86_400_000;
/** @type {[string, number][]} */
const AGES = [
  ["the last day", 1],
  ["the last week", 7],
  ["the last month", 30.5],
  ["the last quarter", 91.3],
  ["the last year", 365.25],
  ["older", Infinity],
];

/** Colour modes by their names in the address. */
export const COLOR_MODES = { topic: "Topic", type: "Type", age: "Age" };

/**
 * Sort points into groups: `{groups: [{name, label, count, colour, shape, size}], of: [group of each point]}`.
 * The largest groups come first, then one for all others, then one for points without a value.
 */
export function groupPoints(points, by, now = Date.now()) {
  return by === "age" ? byAge(points, now) : byName(points, by);
}

function byName(points, by) {
  const counts = new Map();
  for (const point of points) counts.set(point[by], (counts.get(point[by]) ?? 0) + 1);
  const named = [...counts].filter(([name]) => name !== null).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const own = named.length <= MAX_GROUPS ? named : named.slice(0, MAX_GROUPS);
  const others = named.slice(own.length);
  const groups = own.map(([name, count], rank) => ({
    name: `=${name}`, // the prefix keeps topics distinct from “rest” and “none”
    label: name,
    count,
    colour: `var(${COLOURS[rank]})`,
    shape: SHAPES[rank],
    size: 1,
  }));
  const ranks = new Map(own.map(([name], rank) => [name, rank]));
  if (others.length) {
    const count = others.reduce((sum, [, each]) => sum + each, 0);
    for (const [name] of others) ranks.set(name, groups.length);
    groups.push({
      name: "rest",
      label: `${others.length} other ${by}s`,
      count,
      colour: REST,
      shape: "disc",
      size: 0.8,
    });
  }
  if (counts.has(null)) {
    ranks.set(null, groups.length);
    groups.push({ name: "none", label: `no ${by}`, count: counts.get(null), colour: REST, shape: "ring", size: 0.9 });
  }
  return { groups, of: points.map((point) => ranks.get(point[by])) };
}

function byAge(points, now) {
  const of = points.map((point) => AGES.findIndex(([, days]) => now - Date.parse(point.created_at) <= days * DAY_MS));
  const groups = AGES.map(([label], rank) => ({
    name: `=${label}`,
    label,
    count: of.filter((each) => each === rank).length,
    colour: `color-mix(in oklab, var(--c2) ${100 - 20 * rank}%, var(--c1))`,
    shape: "disc",
    size: 1.3 - 0.1 * rank, // newer points are larger: colour alone is not enough
  }));
  return { groups, of };
}

/** Return the positions of group labels, `[{name, label, x, y}]`: above the place where most of a group is. */
export function labelPositions(points, { groups, of }, all) {
  const near = Math.max(all.wide, all.high) / 8;
  return groups.flatMap((group, rank) => {
    if (!group.name.startsWith("=") || group.count < 3) return [];
    const own = points.filter((_, index) => of[index] === rank);
    const about = ({ x, y }) => own.filter((point) => Math.hypot(point.x - x, point.y - y) < near);
    const centre = { x: median(own.map((point) => point.x)), y: median(own.map((point) => point.y)) };
    const together = about(centre).length < own.length * 0.6 ? densest(own, about) : about(centre);
    if (together.length < Math.max(3, own.length * MIN_TOGETHER)) return [];
    return [
      {
        name: group.name,
        label: group.label,
        x: median(together.map((point) => point.x)),
        y: Math.max(...together.map((point) => point.y)),
      },
    ];
  });
}

/** Return the densest part of a scattered group, searched around a sample of its points. */
function densest(own, about) {
  const every = Math.ceil(own.length / MAX_TRIED);
  const bunches = own.filter((_, index) => index % every === 0).map(about);
  return bunches.reduce((most, bunch) => (bunch.length > most.length ? bunch : most));
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

/** Return the computed value of a CSS colour in the current theme, for the canvas. */
export function computedColor(probe, colour) {
  probe.style.color = colour;
  return getComputedStyle(probe).color;
}

/** Return the outline of a shape around 0, 0 as an SVG path. */
export function outline(shape, radius) {
  const r = radius;
  const wide = r * 0.88; // a square looks larger than a disc of the same size
  const [a, b] = [r * 0.4, r * 1.1]; // of the cross
  const paths = {
    disc: `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
    square: `M${-wide},${-wide}h${2 * wide}v${2 * wide}h${-2 * wide}z`,
    triangle: `M0,${-r * 1.15}L${r * 1.1},${r * 0.85}H${-r * 1.1}z`,
    down: `M0,${r * 1.15}L${r * 1.1},${-r * 0.85}H${-r * 1.1}z`,
    diamond: `M0,${-r * 1.25}L${r * 1.25},0L0,${r * 1.25}L${-r * 1.25},0z`,
    cross: `M${-a},${-b}H${a}V${-a}H${b}V${a}H${a}V${b}H${-a}V${a}H${-b}V${-a}H${-a}z`,
    bar: `M${-r * 1.2},${-r * 0.55}h${r * 2.4}v${r * 1.1}h${-r * 2.4}z`,
  };
  return paths[shape] ?? paths.disc;
}

/** Draw the mark of a group for the legend. */
export function swatch(group) {
  const ring = group.shape === "ring";
  return s(
    "svg",
    { class: "swatch", viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" },
    s("path", {
      d: outline(group.shape, 5.5 * group.size),
      style: { fill: ring ? "none" : group.colour, stroke: ring ? group.colour : "none", strokeWidth: "2" },
    }),
  );
}

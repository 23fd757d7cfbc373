// Where the memories of a graph stand: one in the middle, the others on rings by how many links away they are.
// Each has a line of its own on its side, so that no label ever covers another.

const ROW_PX = 26; // the least; WCAG asks for 24 of a target
const MOST_ROW_PX = 56;
const LEAST_HIGH_PX = 440;
const LABEL_PX = 190;
const MOST_LABEL = 0.78; // of the room beside the middle, less for each ring
const PER_RING = 0.08;
const NARROW_PX = 620; // below that all stand on one side
const EDGE_PX = 14;
const BESIDE_PX = 50; // a label's distance from its dot, the sign that opens, and the edge

/**
 * Lay out a graph in so many pixels: `{width, height, middle, rings, places: Map of id to {x, y, side, room}}`.
 * `widthOf(title)` says how wide a label is: rings leave as much room as the longest wants.
 */
export function layoutGraph(nodes, edges, width, widthOf) {
  const [first, ...others] = nodes;
  const sides = width < NARROW_PX ? [1] : [1, -1];
  const columns = shareBranches(childrenOf(first, others, edges), first.id, sides.length);
  const rows = Math.max(...columns.map((each) => each.length), 1);
  const rowPx = Math.min(Math.max((LEAST_HIGH_PX - 60) / rows, ROW_PX), MOST_ROW_PX);
  const height = Math.max(rows * rowPx + 60, LEAST_HIGH_PX);
  const middle = { x: sides.length === 1 ? EDGE_PX + 8 : width / 2, y: height / 2 };
  const deepest = Math.max(...nodes.map((node) => node.depth), 1);
  const reach = sides.length === 1 ? width - middle.x : width / 2;
  const widest = Math.max(0, ...others.map((node) => widthOf(node.title)));
  const rings = ringsOf(deepest, reach, height / 2, widest + BESIDE_PX);
  const places = new Map([[first.id, { ...middle, side: 0, room: middleRoom(rings[0], sides) }]]);
  columns.forEach((column, index) => {
    column.forEach((node, row) => {
      const down = (row - (column.length - 1) / 2) * rowPx;
      const ring = rings[node.depth - 1];
      const out = ringDistance(ring, down);
      const side = sides[index];
      extendRing(ring, side, down, rowPx);
      places.set(node.id, { x: middle.x + side * out, y: middle.y + down, side, room: reach - out - BESIDE_PX });
    });
  });
  return { width, height, middle, rings, places, sides };
}

/** How wide the label of the middle may be: up to the first ring, on each side that has one. */
const middleRoom = (ring, sides) => (ring.across - 24) * sides.length;

/** Draw a ring no further than it has memories: an arc that ends is none that was cut off. */
function extendRing(ring, side, down, rowPx) {
  const [from, to] = ring.spans[side] ?? [Infinity, -Infinity];
  ring.spans[side] = [Math.min(from, down - rowPx / 2), Math.max(to, down + rowPx / 2)];
}

/** How far out a ring is at some height above or below the middle. */
export function ringDistance(ring, down) {
  return ring.across * Math.sqrt(Math.max(1 - (down / ring.up) ** 2, 0));
}

function ringsOf(deepest, reach, halfHigh, wanted) {
  const label = Math.max(Math.min(LABEL_PX, reach * 0.5), Math.min(wanted, reach * (MOST_LABEL - PER_RING * deepest)));
  const outermost = Math.min(reach - label, 150 + 110 * deepest);
  return Array.from({ length: deepest }, (_, index) => ({
    across: (outermost * (index + 1)) / deepest,
    up: halfHigh * 1.08, // beyond what is seen: there all rings would meet
    spans: {}, // by side, from where to where it is drawn
  }));
}

/** By id, what is reached over each node: each has one parent, the best way to it. */
function childrenOf(first, others, edges) {
  const depths = new Map([first, ...others].map((node) => [node.id, node]));
  const children = new Map([first, ...others].map((node) => [node.id, []]));
  for (const node of others) {
    const ways = edges
      .filter((edge) => edge.a === node.id || edge.b === node.id)
      .map((edge) => ({ from: depths.get(edge.a === node.id ? edge.b : edge.a), strength: edge.strength }))
      .filter(({ from }) => from.depth === node.depth - 1)
      .sort((a, b) => b.from.score * b.strength - a.from.score * a.strength);
    children.get(ways[0]?.from.id ?? first.id).push(node); // where the way is not seen, from the middle
  }
  return children;
}

/** Share the branches out over the sides, so that these are about as long. */
function shareBranches(children, first, sides) {
  const columns = Array.from({ length: sides }, () => []);
  for (const branch of children.get(first)) {
    const shortest = columns.reduce((best, each) => (each.length < best.length ? each : best));
    shortest.push(...branchRows(branch, children));
  }
  return columns;
}

/** A branch line by line, what leads on in the midst of what it leads to. */
function branchRows(node, children) {
  const own = children.get(node.id);
  const half = own.length >> 1;
  const each = (some) => some.flatMap((child) => branchRows(child, children));
  return [...each(own.slice(0, half)), node, ...each(own.slice(half))];
}

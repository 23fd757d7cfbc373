// Layout of the graph: one memory in the middle, the others on rings by their distance in links.
// Each has its own row on its side, so that labels never overlap.

const ROW_PX = 26; // the minimum; WCAG requires targets of 24 pixels
const MOST_ROW_PX = 56;
const LEAST_HIGH_PX = 440;
const LABEL_PX = 190;
const MOST_LABEL = 0.78; // share of the width beside the middle; each ring reduces it
const PER_RING = 0.08;
const NARROW_PX = 620; // below this width all nodes are on one side
const EDGE_PX = 14;
const BESIDE_PX = 50; // distance of a label from its dot, the ↗ sign, and the margin

/**
 * Lay out a graph for a width in pixels: `{width, height, middle, rings, places: Map of id to {x, y, side, room}}`.
 * `widthOf(title)` measures a label: the rings leave room for the longest one.
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

/** Return the room for the label in the middle: up to the first ring, on each side that has one. */
const middleRoom = (ring, sides) => (ring.across - 24) * sides.length;

/** Extend the drawn part of a ring to a row: a ring is drawn only where it has memories. */
function extendRing(ring, side, down, rowPx) {
  const [from, to] = ring.spans[side] ?? [Infinity, -Infinity];
  ring.spans[side] = [Math.min(from, down - rowPx / 2), Math.max(to, down + rowPx / 2)];
}

/** Return the horizontal distance of a ring from the middle at a vertical offset. */
export function ringDistance(ring, down) {
  return ring.across * Math.sqrt(Math.max(1 - (down / ring.up) ** 2, 0));
}

function ringsOf(deepest, reach, halfHigh, wanted) {
  const label = Math.max(Math.min(LABEL_PX, reach * 0.5), Math.min(wanted, reach * (MOST_LABEL - PER_RING * deepest)));
  const outermost = Math.min(reach - label, 150 + 110 * deepest);
  return Array.from({ length: deepest }, (_, index) => ({
    across: (outermost * (index + 1)) / deepest,
    up: halfHigh * 1.08, // beyond the visible area, where all rings would meet
    spans: {}, // by side, the drawn range
  }));
}

/** Return the children of each node by id: the parent of a node is its strongest neighbour one link closer. */
function childrenOf(first, others, edges) {
  const depths = new Map([first, ...others].map((node) => [node.id, node]));
  const children = new Map([first, ...others].map((node) => [node.id, []]));
  for (const node of others) {
    const ways = edges
      .filter((edge) => edge.a === node.id || edge.b === node.id)
      .map((edge) => ({ from: depths.get(edge.a === node.id ? edge.b : edge.a), strength: edge.strength }))
      .filter(({ from }) => from.depth === node.depth - 1)
      .sort((a, b) => b.from.score * b.strength - a.from.score * a.strength);
    children.get(ways[0]?.from.id ?? first.id).push(node); // without a visible path, the middle
  }
  return children;
}

/** Distribute the branches over the sides, so that both have about the same length. */
function shareBranches(children, first, sides) {
  const columns = Array.from({ length: sides }, () => []);
  for (const branch of children.get(first)) {
    const shortest = columns.reduce((best, each) => (each.length < best.length ? each : best));
    shortest.push(...branchRows(branch, children));
  }
  return columns;
}

/** Return the rows of a branch: a node in the middle of its children. */
function branchRows(node, children) {
  const own = children.get(node.id);
  const half = own.length >> 1;
  const each = (some) => some.flatMap((child) => branchRows(child, children));
  return [...each(own.slice(0, half)), node, ...each(own.slice(half))];
}

// Geometry of the map and the graph: plane, index of points, groups and layout.

import assert from "node:assert/strict";
import { test } from "node:test";
import { groupPoints, labelPositions } from "../../../../src/scrubjay/surfaces/web/map/colors.js";
import { layoutGraph } from "../../../../src/scrubjay/surfaces/web/map/graph_layout.js";
import { Plane } from "../../../../src/scrubjay/surfaces/web/map/plane.js";
import { nextInDirection, PointIndex } from "../../../../src/scrubjay/surfaces/web/map/points.js";

const CORNERS = [
  { x: -1, y: -1 },
  { x: 1, y: 1 },
  { x: 0, y: 0.5 },
];

function plane() {
  const view = new Plane();
  view.resize(456, 256);
  view.settle(CORNERS);
  return view;
}

const close = (a, b) => a.every((value, index) => Math.abs(value - b[index]) < 1e-9);

test("at first all points are visible, and screen and plane convert both ways", () => {
  const view = plane();
  assert.equal(view.scale, 100);
  assert.deepEqual(view.toScreen(0, 0), [228, 128]);
  assert.deepEqual(view.toScreen(1, 1), [328, 28]);
  assert.ok(close(view.toPlane(...view.toScreen(0.3, -0.7)), [0.3, -0.7]));
  assert.equal(String(view), "");
});

test("a zoom keeps the position under the pointer, within its limits", () => {
  const view = plane();
  const before = view.toPlane(300, 100);
  view.zoomBy(2, 300, 100);
  assert.equal(view.zoom, 2);
  assert.ok(close(view.toPlane(300, 100), before));
  view.zoomBy(1000);
  assert.equal(view.zoom, 60);
  view.zoomBy(0.0001);
  assert.equal(view.zoom, 1);
});

test("the points cannot be dragged out of view, and a position is revealed", () => {
  const view = plane();
  view.zoomBy(4);
  view.pan(100_000, -100_000);
  assert.deepEqual([view.x, view.y], [-1, -1]);
  view.reveal(1, 1);
  const { left, right, bottom, top } = view.seen;
  assert.ok(left < 1 && 1 < right && bottom < 1 && 1 < top);
});

test("the view is stored in a parameter and restored; an invalid one shows everything", () => {
  const view = plane();
  view.zoomBy(3, 300, 100);
  const other = plane();
  other.look(String(view));
  assert.equal(String(other), String(view));
  other.look("1,x");
  assert.equal(String(other), "");
});

test("points that are very close still get a minimum extent", () => {
  const view = new Plane();
  view.resize(456, 256);
  view.settle([{ x: 0.5, y: 0.5 }]);
  assert.ok(close([view.all.wide, view.all.high], [0.2, 0.2]));
});

test("the index finds the nearest point, a box, and the next point in a direction", () => {
  const index = new PointIndex(CORNERS);
  assert.equal(index.near(0.05, 0.45, 0.2), 2);
  assert.equal(index.near(0.5, -0.5, 0.2), -1);
  assert.deepEqual(index.within({ left: -1, right: 0, bottom: -1, top: 1 }), [0, 2]);
  assert.equal(index.towards(0, 1, 0), 2);
  assert.equal(index.towards(1, 1, 0), -1);
  index.shown = (number) => number !== 2;
  assert.equal(index.near(0.05, 0.45, 0.2), -1);
});

test("arrow keys reach each of several points at one position", () => {
  const index = new PointIndex([
    { x: 0, y: 0 },
    { x: 0, y: 0 },
    { x: 0, y: 0 },
  ]);
  assert.equal(index.towards(0, 1, 0), 1);
  assert.equal(index.towards(1, 1, 0), 2);
  assert.equal(index.towards(2, -1, 0), 1);
});

test("a place ahead is preferred to one beside", () => {
  const places = [
    { x: 1, y: 0.9 },
    { x: 1.5, y: 0 },
  ];
  assert.equal(nextInDirection(places, { x: 0, y: 0 }, 1, 0), places[1]);
});

test("the seven largest groups have colours; the others share one, points without a value another", () => {
  const points = [..."aaabbcdefghi"].map((topic) => ({ topic })).concat({ topic: null });
  const { groups, of } = groupPoints(points, "topic");
  assert.deepEqual(
    groups.map((group) => group.name),
    ["=a", "=b", "=c", "=d", "=e", "=f", "=g", "rest", "none"],
  );
  assert.deepEqual(
    groups.map((group) => group.count),
    [3, 2, 1, 1, 1, 1, 1, 2, 1],
  );
  assert.equal(of.at(-1), 8);
  assert.equal(new Set(groups.slice(0, 7).map((group) => group.colour)).size, 7);
});

test("groups by age use the time since a memory was stored", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  const points = ["2026-11-16T11:00:00Z", "2026-11-12T12:00:00Z", "2020-01-01T00:00:00Z"].map((at) => ({
    created_at: at,
  }));
  assert.deepEqual(groupPoints(points, "age", now).of, [0, 1, 5]);
});

test("a group gets its label where most of it is", () => {
  const at = (topic, x, y) => ({ topic, x, y });
  const points = [at("a", 0.1, 0.1), at("a", 0.12, 0.1), at("a", 0.11, 0.15), at("a", -0.9, -0.9), at("b", 0, 0)];
  const labels = labelPositions(points, groupPoints(points, "topic"), { wide: 2, high: 2 });
  assert.deepEqual(
    labels.map((label) => label.label),
    ["a"],
  );
  assert.equal(labels[0].y, 0.15);
});

test("every memory of a graph has its own row on its side", () => {
  const nodes = [{ id: "m", depth: 0, score: 1, title: "m" }];
  const edges = [];
  for (let number = 0; number < 20; number += 1) {
    nodes.push({ id: `n${number}`, depth: number < 10 ? 1 : 2, score: 0.5, title: "x" });
    edges.push({ a: number < 10 ? "m" : `n${number - 10}`, b: `n${number}`, strength: 0.5 });
  }
  for (const [width, sides] of [
    [1000, 2],
    [360, 1],
  ]) {
    const { places, middle } = layoutGraph(nodes, edges, width, () => 40);
    const rows = [...places].filter(([id]) => id !== "m").map(([, place]) => `${place.side} ${place.y}`);
    assert.equal(new Set(rows).size, 20);
    assert.equal(new Set([...places.values()].map((place) => place.side).filter(Boolean)).size, sides);
    const distance = (id) => Math.abs(places.get(id).x - middle.x);
    assert.ok(distance("n0") < distance("n10"));
  }
});

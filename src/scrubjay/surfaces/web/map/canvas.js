// Interactive map on a canvas: pan, zoom, a cursor on points, and a tooltip.

import { h, put, uniqueId } from "../app/dom.js";
import { age, plural } from "../app/format.js";
import { groupPoints, labelPositions } from "./colors.js";
import { addGestures, zoomStep } from "./gestures.js";
import { Painter } from "./paint.js";
import { Plane } from "./plane.js";
import { PointIndex } from "./points.js";

const REACH_PX = 12;
const TOUCH_REACH_PX = 24;
const SAME_PX = 1.5;

/** Return a one-line summary of a point, without its title. */
export function pointSummary(point) {
  return [point.topic, point.type, age(point.created_at)].filter(Boolean).join(" · ");
}

/** The map; `on` has the callbacks open(point), pile(points), moved() and chosen(point or null). */
export class Chart {
  #frame = 0;
  #landing = null;
  #cursor = -1;
  #hovered = -1;
  plane = new Plane();
  dots = new PointIndex([]);
  off = new Set();
  by = "topic";
  numbers = new Map(); // the index of each memory's point, by id
  landed = null;
  /** @type {ReturnType<typeof groupPoints>["groups"]} */
  groups = [];
  /** @type {ReturnType<typeof groupPoints>["of"]} */
  of = [];
  /** @type {ReturnType<typeof labelPositions>} */
  names = [];

  constructor(on) {
    this.on = on;
    this.#build();
    this.painter = new Painter(this.canvas, this.probe);
    this.#listen();
  }

  /** Set the points; the cursor stays on the same memory. */
  set(points) {
    const [chosen, landed] = [this.dots.points[this.#cursor]?.id, this.landed];
    this.dots = new PointIndex(points);
    this.plane.settle(points);
    this.dots.shown = (index) => !this.off.has(this.groups[this.of[index]].name);
    this.numbers = new Map(points.map((point, index) => [point.id, index]));
    this.#hovered = -1;
    this.#cursor = this.numbers.get(chosen) ?? -1;
    this.land(landed);
    this.colour(this.by);
  }

  /** Colour by topic, type or age. */
  colour(by) {
    this.by = by;
    ({ groups: this.groups, of: this.of } = groupPoints(this.dots.points, by));
    this.names = by === "age" ? [] : labelPositions(this.dots.points, this, this.plane.all);
    this.painter.renew();
    this.draw();
  }

  /** Hide groups by their names. */
  hide(names) {
    this.off = new Set(names);
    this.draw();
  }

  /** Show the position of a query, `{x, y, nearest}` with ids, or none. */
  land(landing) {
    this.landed = landing;
    const known = (landing?.nearest ?? []).map((id) => this.numbers.get(id)).filter((index) => index !== undefined);
    this.#landing = landing ? { ...landing, nearest: known } : null;
    this.draw();
  }

  /** Return the point of a memory; undefined if it is not drawn. */
  pointOf(id) {
    return this.dots.points[this.numbers.get(id)];
  }

  /** Return the first `most` points in view, and the number of all. */
  inView(most) {
    const found = this.dots.within(this.plane.seen);
    return { points: found.slice(0, most).map((index) => this.dots.points[index]), count: found.length };
  }

  /** Highlight a memory while its entry in a list is hovered; null removes the highlight. */
  hint(id) {
    this.#hover(this.numbers.get(id) ?? -1);
  }

  step(direction) {
    zoomStep(this.plane, direction);
    this.#moved();
  }

  reset() {
    this.plane.reset();
    this.#moved();
  }

  /** Redraw in the next frame, once for any number of calls. */
  draw() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (!this.plane.width) return;
      this.painter.paint({ ...this, landing: this.#landing, cursor: this.#cursor, hovered: this.#hovered });
    });
  }

  #build() {
    const described = uniqueId("map");
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "map",
      "aria-label": "Map of the memories",
      "aria-describedby": described,
    });
    this.probe = h("span", { hidden: true });
    this.tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    const button = (label, text, act) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const zoom = h(
      "div",
      { class: "zoom" },
      button("Zoom in (+)", "+", () => this.step(1)),
      button("Zoom out (−)", "−", () => this.step(-1)),
      button("Show all (0)", "All", () => this.reset()),
    );
    const hint =
      "Arrow keys move from point to point, Enter opens one. Shift and arrow keys move the map, + and − zoom, 0 shows all.";
    const description = h("p", { id: described, class: "visually-hidden" }, hint);
    this.node = h("div", { class: "chart" }, this.canvas, this.tip, zoom, this.probe, description);
  }

  #listen() {
    addGestures(this.canvas, this.plane, {
      moved: () => this.#moved(),
      over: (left, top) => this.#hover(this.#pointAt(left, top, REACH_PX)),
      out: () => this.#hover(-1),
      click: (left, top, isTouch) => this.#click(left, top, isTouch),
      arrow: (right, up) => this.#arrow(right, up),
      enter: () => this.#cursor >= 0 && this.on.open(this.dots.points[this.#cursor]),
      escape: () => this.#choose(-1),
    });
    new ResizeObserver(() => {
      this.plane.resize(this.canvas.clientWidth, this.canvas.clientHeight);
      this.draw();
    }).observe(this.canvas);
    const recolour = () => {
      this.painter.renew();
      this.draw();
    };
    new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  }

  #pointAt(left, top, reachPx) {
    return this.dots.near(...this.plane.toPlane(left, top), reachPx / this.plane.scale);
  }

  /** Return the points at the same position: memories with the same text have the same coordinates. */
  #pile(index) {
    const { x, y } = this.dots.points[index];
    const reach = SAME_PX / this.plane.scale;
    return this.dots.within({ left: x - reach, right: x + reach, bottom: y - reach, top: y + reach });
  }

  #hover(index) {
    if (index === this.#hovered) return;
    this.#hovered = index;
    this.canvas.classList.toggle("over", index >= 0);
    this.#showTip(index >= 0 ? index : this.#cursor);
    this.draw();
  }

  #click(left, top, isTouch) {
    const index = this.#pointAt(left, top, isTouch ? TOUCH_REACH_PX : REACH_PX);
    const again = index === this.#cursor;
    this.#choose(index);
    const pile = index < 0 ? [] : this.#pile(index);
    if (pile.length > 1) this.on.pile(pile.map((each) => this.dots.points[each]));
    else if (index >= 0 && (!isTouch || again)) this.on.open(this.dots.points[index]); // the first tap shows the tooltip, the second opens
  }

  #arrow(right, up) {
    const { points } = this.dots;
    const middle = this.dots.near(this.plane.x, this.plane.y, 4);
    const next = this.#cursor < 0 ? middle : this.dots.towards(this.#cursor, right, up);
    if (next < 0) return;
    this.plane.reveal(points[next].x, points[next].y);
    this.#choose(next);
    this.#moved();
  }

  #choose(index) {
    this.#cursor = index;
    this.on.chosen(this.dots.points[index] ?? null);
    this.#showTip(index);
    this.draw();
  }

  #moved() {
    this.#showTip(this.#hovered >= 0 ? this.#hovered : this.#cursor);
    this.draw();
    this.on.moved();
  }

  #showTip(index) {
    const point = this.dots.points[index];
    const [left, top] = point ? this.plane.toScreen(point.x, point.y) : [-1, -1];
    this.tip.hidden = !point || left < 0 || top < 0 || left > this.plane.width || top > this.plane.height;
    if (this.tip.hidden) return;
    const more = this.#pile(index).length - 1;
    const others = more > 0 && h("span", {}, `and ${plural(more, "other", "others")} at this position`);
    put(this.tip, h("strong", { dir: "auto" }, point.title), h("span", {}, pointSummary(point)), others);
    const [wide, high] = [this.tip.offsetWidth, this.tip.offsetHeight];
    const across = Math.min(Math.max(left - wide / 2, 4), Math.max(this.plane.width - wide - 4, 4));
    const down = top > high + 22 ? top - high - 16 : top + 16;
    Object.assign(this.tip.style, { left: `${across}px`, top: `${down}px` });
  }
}

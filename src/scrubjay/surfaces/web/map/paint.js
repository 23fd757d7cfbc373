// Drawing of the map: a stamp for each group at its points, and labels, query and cursor on top.

import { computedColor, outline } from "./colors.js";
import { pixelOf, Raster, stampOf } from "./raster.js";

const RING_PX = 15;
const NAME_FONT = "600 13px system-ui, sans-serif";
const NAME_PX = 18; // above the points of the group
const FAINT = 0.4; // opacity of all points while a query is shown
const INKS = ["text", "soft", "sheet", "focus", "bad"];

/** Return the radius of a point in pixels: smaller for many points or little room, larger when zoomed in. */
function radiusOf(count, { width, height, zoom }) {
  const from = count > 4000 ? 2.4 : count > 1000 ? 3.2 : 4.5;
  const room = Math.min(Math.max(Math.min(width, height) / 560, 0.6), 1) ** 0.7;
  return Math.min(from * room * zoom ** 0.35, 8);
}

/** Draws on one canvas: `renew` after a change of theme or groups, `paint` for each frame. */
export class Painter {
  #stamps = new Map();
  #ink = null;

  constructor(canvas, probe) {
    this.canvas = canvas;
    this.probe = probe;
    this.context = canvas.getContext("2d", { alpha: false });
    this.raster = new Raster(this.context);
  }

  /** Drop cached stamps and colours after a change of theme or groups. */
  renew() {
    this.#stamps.clear();
    this.#ink = null;
  }

  /** Draw the visible part of the plane: `groups` and `of` as in colors.js, `off` the hidden groups. */
  paint({ plane, dots, groups, of, off, names, landing, cursor, hovered }) {
    this.#ink ??= Object.fromEntries(INKS.map((name) => [name, computedColor(this.probe, `var(--${name})`)]));
    const ratio = this.#fit(plane);
    const radius = radiusOf(dots.points.length, plane);
    const strength = landing ? FAINT : 1;
    const stamps = groups.map((group) => (off.has(group.name) ? null : this.#stamp(group, radius * ratio, strength)));
    this.#points(plane, dots.points, of, stamps, ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (landing) this.#landing(plane, landing, (index) => [dots.points[index], groups[of[index]]], radius * 1.35);
    else
      this.#names(
        plane,
        names.filter((label) => !off.has(label.name)),
      );
    if (hovered >= 0) this.#ring(plane, dots.points[hovered], [this.#ink.text, 2]);
    if (cursor >= 0) this.#ring(plane, dots.points[cursor], [this.#ink.focus, 3]);
  }

  #fit(plane) {
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [Math.round(plane.width * ratio), Math.round(plane.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    return ratio;
  }

  #points(plane, points, of, stamps, ratio) {
    this.#ink.ground ??= pixelOf(this.#ink.sheet);
    this.raster.begin(this.canvas.width, this.canvas.height, this.#ink.ground);
    const [left, top] = plane.toScreen(0, 0).map((each) => each * ratio);
    const scale = plane.scale * ratio;
    for (let rank = stamps.length - 1; rank >= 0; rank -= 1) {
      // backwards: the first group is on top
      const stamp = stamps[rank];
      for (let index = 0; stamp && index < of.length; index += 1) {
        if (of[index] === rank) this.raster.put(stamp, left + points[index].x * scale, top - points[index].y * scale);
      }
    }
    this.raster.flush();
  }

  #stamp(group, radius, strength) {
    const key = `${group.name}|${radius}|${strength}`;
    if (this.#stamps.has(key)) return this.#stamps.get(key);
    if (this.#stamps.size > 60) this.#stamps.clear(); // of former zoom levels
    const stamp = stampOf(Math.ceil(radius * group.size * 2.8) + 4, (context) => {
      context.globalAlpha = strength;
      this.#mark(context, group, radius);
    });
    this.#stamps.set(key, stamp);
    return stamp;
  }

  #mark(context, group, radius) {
    const path = new Path2D(outline(group.shape, radius * group.size));
    const colour = computedColor(this.probe, group.colour);
    if (group.shape === "ring") {
      Object.assign(context, { strokeStyle: colour, lineWidth: Math.max(radius * 0.45, 1) });
      context.stroke(path);
      return;
    }
    // A thin edge separates overlapping points.
    Object.assign(context, { fillStyle: colour, strokeStyle: this.#ink.sheet, lineWidth: Math.min(radius / 3, 2) });
    context.stroke(path);
    context.fill(path);
  }

  #landing(plane, landing, markOf, radius) {
    const { context } = this;
    const [x, y] = plane.toScreen(landing.x, landing.y);
    Object.assign(context, { strokeStyle: this.#ink.soft, lineWidth: 1 });
    for (const [point] of landing.nearest.map(markOf)) line(context, [x, y], plane.toScreen(point.x, point.y));
    for (const [point, group] of landing.nearest.map(markOf)) {
      context.save();
      context.translate(...plane.toScreen(point.x, point.y));
      this.#mark(context, group, radius);
      context.restore();
    }
    for (const [strokeStyle, lineWidth] of [
      [this.#ink.sheet, 6],
      [this.#ink.bad, 2.5],
    ]) {
      Object.assign(context, { strokeStyle, lineWidth });
      circle(context, [x, y], RING_PX);
      for (const [right, down] of [
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, -1],
      ]) {
        const [near, far] = [RING_PX - 6, RING_PX + 7];
        line(context, [x + right * near, y + down * near], [x + right * far, y + down * far]);
      }
    }
  }

  #names(plane, names) {
    const { context } = this;
    Object.assign(context, { font: NAME_FONT, textAlign: "center", textBaseline: "middle", lineJoin: "round" });
    Object.assign(context, { strokeStyle: this.#ink.sheet, fillStyle: this.#ink.text, lineWidth: 4 });
    const taken = [];
    for (const { label, x, y } of names) {
      const [left, above] = plane.toScreen(x, y);
      const top = above - NAME_PX;
      const half = context.measureText(label).width / 2;
      if (taken.some((place) => Math.abs(place.top - top) < 18 && Math.abs(place.left - left) < place.half + half + 8))
        continue;
      taken.push({ left, top, half });
      context.strokeText(label, left, top);
      context.fillText(label, left, top);
    }
  }

  #ring(plane, point, pen) {
    for (const [strokeStyle, lineWidth] of [[this.#ink.sheet, 5], pen]) {
      Object.assign(this.context, { strokeStyle, lineWidth });
      circle(this.context, plane.toScreen(point.x, point.y), 10);
    }
  }
}

function line(context, from, to) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

function circle(context, at, radius) {
  context.beginPath();
  context.arc(...at, radius, 0, 2 * Math.PI);
  context.stroke();
}

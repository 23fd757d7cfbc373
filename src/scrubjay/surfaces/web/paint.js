// The picture of a map on a canvas: each group is drawn once as a small stamp, and stamped at its points.

import { outline, resolved } from "./tones.js";

const RING_PX = 15;

/** How large a point is drawn, in pixels: smaller where there are many, larger when seen from near. */
export function radiusOf(count, zoom) {
  const from = count > 4000 ? 2.4 : count > 1000 ? 3.2 : 4.5;
  return Math.min(from * zoom ** 0.35, 8);
}

/** Paints onto one canvas; `recolour` after a change of theme, `paint` for each frame. */
export class Painter {
  #stamps = new Map();

  constructor(canvas, probe) {
    Object.assign(this, { canvas, probe, context: canvas.getContext("2d") });
    this.recolour();
  }

  /** Forget the colours: the theme has changed. */
  recolour() {
    this.#stamps.clear();
    this.ink = Object.fromEntries(
      ["text", "soft", "sheet", "focus", "bad", "line"].map((name) => [name, resolved(this.probe, `var(--${name})`)]),
    );
  }

  /** Forget the stamps: the groups are others. */
  regroup() {
    this.#stamps.clear();
  }

  /** Draw what a plane sees: `groups` and `of` as tones.js gives them, `off` the groups that are hidden. */
  paint({ plane, dots, groups, of, off, landing, cursor, hovered }) {
    const ratio = this.#fit(plane);
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const faint = landing !== null;
    const radius = radiusOf(dots.points.length, plane.zoom) * ratio;
    context.globalAlpha = faint ? 0.45 : 0.85;
    const seen = [plane.width * ratio, plane.height * ratio];
    const [left, top] = plane.toScreen(0, 0).map((each) => each * ratio);
    const scale = plane.scale * ratio;
    for (let rank = groups.length - 1; rank >= 0; rank -= 1) {
      if (off.has(groups[rank].name)) continue;
      const stamp = this.#stamp(groups[rank], radius);
      const half = stamp.width / 2;
      for (let index = 0; index < of.length; index += 1) {
        if (of[index] !== rank) continue;
        const at = dots.points[index];
        const x = left + at.x * scale - half;
        const y = top - at.y * scale - half;
        if (x > -stamp.width && y > -stamp.width && x < seen[0] && y < seen[1]) context.drawImage(stamp, x | 0, y | 0);
      }
    }
    context.globalAlpha = 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (landing) this.#landing(plane, dots, groups, of, landing, radius);
    for (const index of new Set([hovered, cursor])) if (index >= 0) this.#ring(plane, dots.points[index], index === cursor);
  }

  #fit(plane) {
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [Math.round(plane.width * ratio), Math.round(plane.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    return ratio;
  }

  #stamp(group, radius) {
    const key = `${group.name}|${radius}`;
    if (this.#stamps.has(key)) return this.#stamps.get(key);
    if (this.#stamps.size > 60) this.#stamps.clear(); // of sizes that were zoomed past
    const size = Math.ceil(radius * group.size * 2.8) + 4;
    const stamp = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const context = stamp.getContext("2d");
    context.translate(size / 2, size / 2);
    const path = new Path2D(outline(group.shape, radius * group.size));
    const colour = resolved(this.probe, group.colour);
    if (group.shape === "ring") {
      Object.assign(context, { strokeStyle: colour, lineWidth: Math.max(radius * 0.45, 1) });
      context.stroke(path);
    } else {
      Object.assign(context, { fillStyle: colour, strokeStyle: this.ink.sheet, lineWidth: Math.min(radius / 4, 1.5) });
      context.stroke(path); // a thin edge, so that points on each other stay two
      context.fill(path);
    }
    this.#stamps.set(key, stamp);
    return stamp;
  }

  #landing(plane, dots, groups, of, landing, radius) {
    const { context, ink } = this;
    const [x, y] = plane.toScreen(landing.x, landing.y);
    Object.assign(context, { strokeStyle: ink.soft, lineWidth: 1 });
    context.beginPath();
    for (const index of landing.nearest) {
      context.moveTo(x, y);
      context.lineTo(...plane.toScreen(dots.points[index].x, dots.points[index].y));
    }
    context.stroke();
    const ratio = globalThis.devicePixelRatio || 1;
    for (const index of landing.nearest) {
      const stamp = this.#stamp(groups[of[index]], radius * 1.35);
      const [left, top] = plane.toScreen(dots.points[index].x, dots.points[index].y);
      const side = stamp.width / ratio;
      context.drawImage(stamp, left - side / 2, top - side / 2, side, side);
    }
    const cross = new Path2D();
    cross.arc(x, y, RING_PX, 0, 2 * Math.PI);
    for (const [right, down] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      cross.moveTo(x + right * (RING_PX - 6), y + down * (RING_PX - 6));
      cross.lineTo(x + right * (RING_PX + 7), y + down * (RING_PX + 7));
    }
    for (const [strokeStyle, lineWidth] of [[ink.sheet, 6], [ink.bad, 2.5]]) {
      Object.assign(context, { strokeStyle, lineWidth });
      context.stroke(cross);
    }
  }

  #ring(plane, point, strong) {
    const { context, ink } = this;
    const [x, y] = plane.toScreen(point.x, point.y);
    for (const [strokeStyle, lineWidth] of [[ink.sheet, 5], [strong ? ink.focus : ink.text, strong ? 3 : 2]]) {
      Object.assign(context, { strokeStyle, lineWidth });
      context.beginPath();
      context.arc(x, y, 10, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}

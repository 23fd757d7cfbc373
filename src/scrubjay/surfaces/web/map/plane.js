// Visible part of the plane: its centre and scale.

const MAX_ZOOM = 60;
const EDGE_PX = 28;
const MIN_EXTENT = 0.2; // minimum visible extent, for points that are very close

/** The view of a plane; y grows upwards on the plane and downwards on the screen. */
export class Plane {
  width = 0;
  height = 0;
  x = 0;
  y = 0;
  zoom = 1;
  all = { x: 0, y: 0, wide: 2, high: 2 };

  /** Set the extent: a zoom of 1 shows exactly these points. */
  settle(points) {
    const [left, right] = extent(points.map((point) => point.x));
    const [bottom, top] = extent(points.map((point) => point.y));
    const isAll = String(this) === "";
    this.all = { x: (left + right) / 2, y: (bottom + top) / 2, wide: right - left, high: top - bottom };
    if (isAll) this.reset();
  }

  /** Pixels per unit of the plane. */
  get scale() {
    const [wide, high] = [this.width - 2 * EDGE_PX, this.height - 2 * EDGE_PX];
    return Math.max(Math.min(wide / this.all.wide, high / this.all.high) * this.zoom, 1);
  }

  resize(width, height) {
    Object.assign(this, { width, height });
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toPlane(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y - (top - this.height / 2) / this.scale];
  }

  /** Move the view by pixels, like a drag. */
  pan(right, down) {
    this.#look(this.x - right / this.scale, this.y + down / this.scale);
  }

  /** Zoom by a factor around a pixel. */
  zoomBy(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toPlane(left, top);
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), MAX_ZOOM);
    const [nowX, nowY] = this.toPlane(left, top);
    this.#look(this.x + x - nowX, this.y + y - nowY);
  }

  /** Show everything. */
  reset() {
    Object.assign(this, { x: this.all.x, y: this.all.y, zoom: 1 });
  }

  /** Move as little as possible so that a position is visible. */
  reveal(x, y) {
    if (!this.width) return; // not shown yet; the first view shows everything
    const [left, top] = this.toScreen(x, y);
    this.pan(overflow(left, this.width), overflow(top, this.height));
  }

  /** The visible part of the plane: `{left, right, bottom, top}`. */
  get seen() {
    const [left, top] = this.toPlane(0, 0);
    const [right, bottom] = this.toPlane(this.width, this.height);
    return { left, right, bottom, top };
  }

  /** Return the view as a parameter of the address; empty if everything is visible. */
  toString() {
    if (this.zoom === 1 && this.x === this.all.x && this.y === this.all.y) return "";
    return [this.x.toFixed(3), this.y.toFixed(3), this.zoom.toFixed(2)].join(",");
  }

  /** Set the view from such a parameter; an invalid one shows everything. */
  look(word) {
    const [x, y, zoom] = (word ?? "").split(",").map(Number);
    this.reset();
    if (![x, y, zoom].every(Number.isFinite)) return;
    this.zoom = Math.min(Math.max(zoom, 1), MAX_ZOOM);
    this.#look(x, y);
  }

  #look(x, y) {
    this.x = clamp(x, this.all.x, this.all.wide / 2); // the points cannot be dragged out of view
    this.y = clamp(y, this.all.y, this.all.high / 2);
  }
}

function clamp(at, middle, reach) {
  return Math.min(Math.max(at, middle - reach), middle + reach);
}

function extent(values) {
  if (!values.length) return [-1, 1];
  const least = values.reduce((low, each) => Math.min(low, each)); // too many values for the arguments of Math.min
  const most = values.reduce((high, each) => Math.max(high, each));
  return most - least > MIN_EXTENT ? [least, most] : [(least + most - MIN_EXTENT) / 2, (least + most + MIN_EXTENT) / 2];
}

function overflow(at, size) {
  if (at < EDGE_PX) return EDGE_PX - at;
  return at > size - EDGE_PX ? size - EDGE_PX - at : 0;
}

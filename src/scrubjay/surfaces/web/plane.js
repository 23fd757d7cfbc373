// Which part of the plane is seen: a middle, and how many pixels a unit of the plane takes.

const MOST_ZOOM = 60;
const EDGE_PX = 24;

/** The view of a plane whose points are in -1..1; y grows upwards there, and downwards on a screen. */
export class Plane {
  constructor() {
    Object.assign(this, { width: 0, height: 0, x: 0, y: 0, zoom: 1 });
  }

  /** How many pixels one unit takes; at a zoom of 1 the whole plane is seen. */
  get scale() {
    return Math.max((Math.min(this.width, this.height) / 2 - EDGE_PX) * this.zoom, 1);
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

  /** Move what is seen by so many pixels, as a hand that drags it does. */
  pan(right, down) {
    this.#look(this.x - right / this.scale, this.y + down / this.scale);
  }

  /** Zoom by a factor; the place under this pixel stays under it. */
  zoomBy(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toPlane(left, top);
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), MOST_ZOOM);
    const [nowX, nowY] = this.toPlane(left, top);
    this.#look(this.x + x - nowX, this.y + y - nowY);
  }

  /** See all again. */
  reset() {
    Object.assign(this, { x: 0, y: 0, zoom: 1 });
  }

  /** Move no further than needed to see a place. */
  reveal(x, y) {
    const [left, top] = this.toScreen(x, y);
    this.pan(inwards(left, this.width), inwards(top, this.height));
  }

  /** The part of the plane that is seen: `{left, right, bottom, top}`. */
  get seen() {
    const [left, top] = this.toPlane(0, 0);
    const [right, bottom] = this.toPlane(this.width, this.height);
    return { left, right, bottom, top };
  }

  /** What is seen, in a word for the address: nothing where that is all of it. */
  toString() {
    if (this.zoom === 1 && this.x === 0 && this.y === 0) return "";
    return [this.x.toFixed(3), this.y.toFixed(3), this.zoom.toFixed(2)].join(",");
  }

  /** See what such a word says; anything else shows all. */
  look(word) {
    const [x, y, zoom] = (word ?? "").split(",").map(Number);
    this.reset();
    if (![x, y, zoom].every(Number.isFinite)) return;
    this.zoom = Math.min(Math.max(zoom, 1), MOST_ZOOM);
    this.#look(x, y);
  }

  #look(x, y) {
    this.x = Math.min(Math.max(x, -1), 1); // so that nobody drags it all away
    this.y = Math.min(Math.max(y, -1), 1);
  }
}

function inwards(at, size) {
  if (at < EDGE_PX) return EDGE_PX - at;
  return at > size - EDGE_PX ? size - EDGE_PX - at : 0;
}

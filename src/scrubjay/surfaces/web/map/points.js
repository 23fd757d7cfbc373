// Spatial index of the points in a grid: the nearest point, the next in a direction, the points in a box.

const ASIDE = 1e-9; // offset per index, so that arrow keys reach every point of a pile
const CELLS = 64; // per side: with 10,000 points a cell has few

/** Index of points `{x, y, …}` in -1..1; only points for which `shown(index)` is true are found. */
export class PointIndex {
  #cells = new Map();
  /** @type {(index: number) => boolean} */
  shown = () => true;

  constructor(points) {
    this.points = points;
    points.forEach((point, index) => {
      const key = cellOf(point.x) * CELLS + cellOf(point.y);
      if (this.#cells.has(key)) this.#cells.get(key).push(index);
      else this.#cells.set(key, [index]);
    });
  }

  /** Return the index of the nearest point within `reach`, or -1. */
  near(x, y, reach) {
    let best = -1;
    let bestSquare = reach * reach;
    for (const index of this.within({ left: x - reach, right: x + reach, bottom: y - reach, top: y + reach })) {
      const square = (this.points[index].x - x) ** 2 + (this.points[index].y - y) ** 2;
      if (square <= bestSquare) [best, bestSquare] = [index, square];
    }
    return best;
  }

  /** Return the indexes of the points in a box `{left, right, bottom, top}`, sorted. */
  within({ left, right, bottom, top }) {
    const found = [];
    for (let column = cellOf(left); column <= cellOf(right); column += 1) {
      for (let row = cellOf(bottom); row <= cellOf(top); row += 1) {
        for (const index of this.#cells.get(column * CELLS + row) ?? []) {
          const { x, y } = this.points[index];
          if (x >= left && x <= right && y >= bottom && y <= top && this.shown(index)) found.push(index);
        }
      }
    }
    return found.sort((a, b) => a - b);
  }

  /** Return the index of the next point in a direction: right is (1, 0), up is (0, 1); -1 if there is none. */
  towards(from, right, up) {
    const apart = ({ x, y }, index) => ({ index, x: x + index * ASIDE, y: y + index * ASIDE });
    const places = this.points.map(apart).filter(({ index }) => this.shown(index));
    return nextInDirection(places, apart(this.points[from], from), right, up)?.index ?? -1;
  }
}

/** Return the next of some places `{x, y}` in a direction: near, and ahead rather than beside. */
export function nextInDirection(places, from, right, up) {
  let best = null;
  let bestCost = Infinity;
  for (const place of places) {
    const ahead = (place.x - from.x) * right + (place.y - from.y) * up;
    const beside = Math.abs((place.x - from.x) * up) + Math.abs((place.y - from.y) * right);
    if (ahead <= 0 || ahead < beside / 2) continue;
    const cost = ahead + 2 * beside;
    if (cost < bestCost) [best, bestCost] = [place, cost];
  }
  return best;
}

function cellOf(side) {
  return Math.min(Math.max(Math.floor(((side + 1) / 2) * CELLS), 0), CELLS - 1);
}

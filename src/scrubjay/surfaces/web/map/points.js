// The points of a map, in a grid: which is under the pointer, which is next in a direction, which are in view.

const ASIDE = 1e-9; // as if those on one spot lay in a row, so that each can be reached
const CELLS = 64; // along each side: with 10,000 points a cell has few

/** Points `{x, y, …}` in -1..1, found by their place. `shown(index)` says which take part. */
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

  /** The number of the nearest point that is no further off than `reach`, or -1. */
  near(x, y, reach) {
    let best = -1;
    let bestSquare = reach * reach;
    for (const index of this.within({ left: x - reach, right: x + reach, bottom: y - reach, top: y + reach })) {
      const square = (this.points[index].x - x) ** 2 + (this.points[index].y - y) ** 2;
      if (square <= bestSquare) [best, bestSquare] = [index, square];
    }
    return best;
  }

  /** The numbers of the points in a box `{left, right, bottom, top}`, in their order. */
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

  /** The number of the next point from one, to the right (1, 0), up (0, 1) and so on; -1 where there is none. */
  towards(from, right, up) {
    const apart = ({ x, y }, index) => ({ index, x: x + index * ASIDE, y: y + index * ASIDE });
    const places = this.points.map(apart).filter(({ index }) => this.shown(index));
    return nextInDirection(places, apart(this.points[from], from), right, up)?.index ?? -1;
  }
}

/** Of some `{x, y}`, the next from one in a direction: near, and rather ahead than beside. */
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

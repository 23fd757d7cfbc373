// Fast drawing of thousands of small marks: a browser draws 10,000 images slower than one array of pixels.

/** Pixels of a canvas for stamps; other drawing goes on top, after `flush`. */
export class Raster {
  #image = null;
  #pixels = null;

  constructor(context) {
    this.context = context;
  }

  /** Start an image of this size, filled with one pixel value. */
  begin(width, height, ground) {
    if (this.#image?.width !== width || this.#image.height !== height) {
      this.#image = this.context.createImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    }
    this.#pixels.fill(ground);
  }

  /** Put a stamp centred at a position, clipped at the edges. */
  put(stamp, x, y) {
    const { width, height } = this.#image;
    const [left, top] = [Math.round(x - stamp.size / 2), Math.round(y - stamp.size / 2)];
    if (left <= -stamp.size || top <= -stamp.size || left >= width || top >= height) return;
    const whole = left >= 0 && top >= 0 && left + stamp.size <= width && top + stamp.size <= height;
    const { across, down, pixels } = stamp;
    for (let index = 0; index < pixels.length; index += 1) {
      const column = left + across[index];
      const row = top + down[index];
      if (!whole && (column < 0 || row < 0 || column >= width || row >= height)) continue;
      const at = row * width + column;
      const pixel = pixels[index];
      this.#pixels[at] = pixel >>> 24 === 255 ? pixel : over(pixel, this.#pixels[at]);
    }
  }

  flush() {
    this.context.putImageData(this.#image, 0, 0);
  }
}

/** Make a stamp: `draw(context)` draws it around 0, 0. */
export function stampOf(size, draw) {
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.translate(size / 2, size / 2);
  draw(context);
  const all = new Uint32Array(context.getImageData(0, 0, size, size).data.buffer);
  const used = [...all.keys()].filter((index) => all[index] >>> 24);
  return {
    size,
    across: Uint8Array.from(used, (index) => index % size),
    down: Uint8Array.from(used, (index) => Math.floor(index / size)),
    pixels: Uint32Array.from(used, (index) => all[index]),
  };
}

/** Return a colour as one pixel value. */
export function pixelOf(colour) {
  return stampOf(1, (context) => {
    context.fillStyle = colour;
    context.fillRect(-1, -1, 2, 2);
  }).pixels[0];
}

// Blends a pixel over an opaque one, two of the four bytes at a time.
function over(above, below) {
  const share = above >>> 24;
  const rest = 255 - share;
  const even = ((above & 0xff00ff) * share + (below & 0xff00ff) * rest) / 256;
  const odd = ((above >>> 8) & 0xff) * share + ((below >>> 8) & 0xff) * rest;
  return (0xff000000 | (even & 0xff00ff) | (odd & 0xff00)) >>> 0;
}

// Text of one memory: documents in a fixed-width font, scrolled to the passage that a search found.

import { h, put } from "../app/dom.js";
import { count } from "../app/format.js";
import { longText } from "../app/stored_text.js";

const SLICE_CHARS = 10_000; // one block of `longText`, with immediate layout: the passage must not move after scrolling to it
const MORE_SLICES = 10;

/** Return the node of a text; `lines` are the first and last line of the passage to mark and scroll to. */
export function memoryText({ type, text }, forms, lines) {
  const node = h("div", { class: type === "document" ? "fixed-width" : null });
  const [start, stop] = lines ? linesToOffsets(text, lines) : [0, text.length];
  if (start === 0 && stop === text.length) return put(node, longText(text, forms));
  const label = lines[0] === lines[1] ? `Line ${lines[0]}` : `Lines ${lines[0]}–${lines[1]}`;
  return put(
    node,
    start > 0 && textBefore(text.slice(0, start), forms),
    h(
      "div",
      { class: "passage", role: "group", "aria-label": "Passage found by the search" },
      h("p", { class: "hint" }, `${label}: found here`),
      longText(text.slice(start, stop), forms),
    ),
    stop < text.length && longText(text.slice(stop), forms),
  );
}

/** Show the text before a passage, from its end backwards: it may be most of a megabyte. */
function textBefore(text, forms) {
  const shown = h("div", {});
  const more = h("p", { class: "actions" });
  let from = text.length;
  const grow = (slices) => {
    for (let left = slices; left > 0 && from > 0; left -= 1) {
      const stop = from;
      from = sliceStart(text, stop);
      shown.prepend(longText(text.slice(from, stop), forms));
    }
    if (from === 0) return more.remove();
    const earlier = h("button", { type: "button", onclick: () => grow(MORE_SLICES) }, "Show earlier text");
    return put(more, earlier, h("span", { class: "hint" }, `${count(from)} more characters`));
  };
  const node = h("div", {}, more, shown);
  grow(1);
  return node;
}

/** Return the start of the slice that ends at `stop`: at a line start if there is one. */
function sliceStart(text, stop) {
  const least = Math.max(0, stop - SLICE_CHARS);
  const line = least === 0 ? 0 : text.indexOf("\n", least) + 1;
  return line > 0 && line < stop ? line : least;
}

function linesToOffsets(text, [first, last]) {
  const start = afterLines(text, 0, first - 1);
  return [start, afterLines(text, start, last - first + 1)];
}

function afterLines(text, from, lines) {
  let at = from;
  for (let left = lines; left > 0 && at < text.length; left -= 1) at = text.indexOf("\n", at) + 1 || text.length;
  return at;
}

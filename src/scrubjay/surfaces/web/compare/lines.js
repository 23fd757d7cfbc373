// Lines between the two ranks of a memory; redrawn after every change of size.

import { put, s } from "../app/dom.js";

const THINNEST = 1.5;
const THICKEST = 6;
const ARROW = 5;

/** Draw a line from each hit on the left to the same memory on the right. */
export function drawLines(root) {
  const svg = root.querySelector(".between svg");
  if (!svg || !root.querySelector(".sides.both")) return;
  const box = svg.getBoundingClientRect();
  if (!box.width) return; // a phone shows one list without lines
  svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const right = new Map([...root.querySelectorAll('.hit[data-side="b"]')].map((hit) => [hit.dataset.id, hit]));
  const twins = [...root.querySelectorAll('.hit[data-side="a"]')].filter((hit) => right.has(hit.dataset.id));
  put(
    svg,
    twins.map((hit) => line(hit, right.get(hit.dataset.id), box)),
  );
}

function line(from, to, box) {
  const [y1, y2] = [from, to].map((hit) => middle(hit) - box.top);
  const moved = Math.abs(from.dataset.rank - to.dataset.rank);
  const width = Math.min(THICKEST, THINNEST + moved / 2);
  const end = box.width - ARROW;
  const bend = box.width / 2;
  const kind = to.classList.contains("up") ? "up" : to.classList.contains("down") ? "down" : "same";
  return s(
    "g",
    { class: `line ${kind}`, "data-id": from.dataset.id },
    s("path", { d: `M0 ${y1} C${bend} ${y1} ${bend} ${y2} ${end} ${y2}`, "stroke-width": width }),
    s("polygon", { points: `${end - 2},${y2 - ARROW} ${box.width},${y2} ${end - 2},${y2 + ARROW}` }),
  );
}

function middle(node) {
  const { top, height } = node.getBoundingClientRect();
  return top + height / 2;
}

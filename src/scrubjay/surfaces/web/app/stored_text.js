// Display of stored text: with query words highlighted, and long texts in parts.

import { h, put } from "./dom.js";
import { count } from "./format.js";

const FIRST_CHARS = 20_000; // the layout of a megabyte at once would block the browser
const NEXT_CHARS = 100_000;
const BLOCK_CHARS = 10_000; // a block that is not on the screen needs no layout
const MOST_MARKS = 2_000;
const MOST_FORMS = 200;

/** Replace control characters by visible ones, one for one, so that the offsets of marks stay valid. */
export function visible(text) {
  return text.replace(/(?![\t\n\r])\p{Cc}/gu, pictureOf);
}

function pictureOf(control) {
  const code = control.charCodeAt(0);
  if (code === 0x7f) return "␡";
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "�";
}

/** Return a text as nodes, with the ranges of `marks` (as in search results) highlighted. */
export function highlight(text, marks = []) {
  const shown = visible(text);
  const nodes = [];
  let at = 0;
  for (const [start, stop] of marks) {
    nodes.push(shown.slice(at, start), h("mark", {}, shown.slice(start, stop)));
    at = stop;
  }
  return [...nodes, shown.slice(at)].filter((part) => part !== "");
}

/** Return the words that are marked in a hit, as written there, to highlight them in its whole text. */
export function markedWords(hit) {
  const marks = hit.marks ?? {};
  const words = ["title", "snippet"].flatMap((field) =>
    (marks[field] ?? []).map(([start, stop]) => hit[field].slice(start, stop)),
  );
  return [...new Set(words.map((word) => word.toLowerCase()))].slice(0, MOST_FORMS);
}

/** Return the ranges of words in a text: whole words, in any case. */
function findWords(text, forms) {
  if (!forms.length) return [];
  const any = [...forms]
    .sort((a, b) => b.length - a.length)
    .map(patternOf)
    .join("|");
  return [...text.matchAll(new RegExp(any, "giu"))].map((match) => [match.index, match.index + match[0].length]);
}

/** Return the pattern of a word: in scripts with spaces it does not match inside another word. */
function patternOf(form) {
  const escaped = form.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"); // only these: with the u flag escaping any other is an error
  const isApart = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]/u.test(form);
  return isApart ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped;
}

/** Return a node that shows a text of any length: its beginning, and a button for more. */
export function longText(text, forms = []) {
  const shown = h("div", { class: "whole" });
  const more = h("p", { class: "actions" });
  let at = 0;
  let marksLeft = MOST_MARKS;
  const block = () => {
    const part = text.slice(at, blockEnd(text, at, BLOCK_CHARS));
    const places = findWords(part, marksLeft ? forms : []).slice(0, marksLeft);
    shown.append(h("div", { class: "stored", dir: "auto" }, highlight(part, places)));
    marksLeft -= places.length;
    at += part.length;
  };
  const grow = (length) => {
    const stop = at + length;
    do block();
    while (at < Math.min(stop, text.length));
    if (at >= text.length) return more.remove();
    const left = h("button", { type: "button", onclick: () => grow(NEXT_CHARS) }, "Show more");
    put(more, left, h("span", { class: "hint" }, `${count(at)} of ${count(text.length)} characters`));
  };
  const node = h("div", {}, shown, more);
  grow(FIRST_CHARS);
  return node;
}

/** Return the end of a block of at most `length` characters: after a line if possible, else after a word. */
function blockEnd(text, from, length) {
  const most = cutOffset(text, from + length);
  if (most === text.length) return most;
  const after = ["\n", " "].map((sign) => text.lastIndexOf(sign, most - 1) + 1).find((at) => at > from + length / 2);
  return after ?? most;
}

/** Return the first `most` characters of a text, and whether that is all. */
export function excerpt(text, most) {
  const stop = cutOffset(text, most);
  return { text: stop < text.length ? `${text.slice(0, stop).trimEnd()}…` : text, all: stop >= text.length };
}

/** Return a one-line name of a memory or hit: its title, or the beginning of its text. */
export function displayName({ title, text }, most = 60) {
  return visible(excerpt((title || text).trim().replaceAll(/\s+/g, " "), most).text);
}

function cutOffset(text, at) {
  if (at >= text.length) return text.length;
  const halves = text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff; // inside a surrogate pair
  return halves ? at + 1 : at;
}

// DOM helpers: elements without any HTML parsing, so that stored text always stays text.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: `h("button", {class: "quiet", onclick: go}, "Go")`. Children that are null, undefined or false are skipped. */
export function h(tag, props = {}, ...children) {
  return setUp(document.createElement(tag), props, children);
}

/** Make an SVG element. */
export function s(tag, props = {}, ...children) {
  return setUp(document.createElementNS(SVG, tag), props, children);
}

function setUp(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style")
      Object.assign(node.style, value); // the content security policy forbids style attributes
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Replace the children of a node. */
export function put(node, ...children) {
  node.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/**
 * Return the elements of a node that match a selector, as an array.
 * @returns {HTMLElement[]}
 */
export const elements = (node, selector) => [...node.querySelectorAll(selector)];

/**
 * Return the element that has the focus; with a selector, its nearest ancestor that matches, or null.
 * @returns {HTMLElement | null}
 */
export const focused = (selector = "*") => document.activeElement?.closest(selector) ?? null;

let last = 0;

/** Return a unique element id. */
export function uniqueId(prefix) {
  last += 1;
  return `${prefix}-${last}`;
}

/** Delay an action until there was no call for `waitMs` milliseconds. `.cancel()` drops the waiting call. */
export function debounce(waitMs, action) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), waitMs);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Return the action as one that does nothing, and returns undefined, while an earlier call is running. */
export function exclusive(action) {
  let isRunning = false;
  return async (...given) => {
    if (isRunning) return undefined;
    isRunning = true;
    try {
      return await action(...given);
    } finally {
      isRunning = false;
    }
  };
}

/** Leave an input on Escape. Its text stays, which the browser would delete, and single keys work again. */
export function leaveOnEscape(event) {
  if (event.key !== "Escape" || event.isComposing) return;
  event.preventDefault();
  event.target.blur();
}

// Versions of one memory: what it was before, since when, and Undo.

import { h } from "../app/dom.js";
import { visible } from "../app/stored_text.js";
import { timeElement } from "./details.js";

const MAX_SHOWN_CHARS = 2000; // of each earlier text

/**
 * Return what is shown of each version, newest first: when and how the memory became so, the fields that were changed, and
 * the text where the next version has another one. The present text is shown above.
 * @param {{text: string, changed_at: string, by: string, what: string, changed: Object<string, unknown>}[]} versions
 */
export function versionRows(versions) {
  return versions.map((version, at) => {
    const older = versions[at + 1];
    return {
      at: version.changed_at,
      what: version.by ? `${version.what} by ${version.by}` : version.what,
      fields: Object.entries(version.changed).map(
        ([name, value]) => `${name.replaceAll("_", " ")}: ${valueText(value)}`,
      ),
      text: at > 0 && versions[at - 1].text !== version.text ? shortened(version.text) : "",
      hasNewText: older !== undefined && older.text !== version.text,
    };
  });
}

function valueText(value) {
  if (value === null || value === "" || (Array.isArray(value) && !value.length)) return "none";
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const shortened = (text) => (text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text);

/** True where `undo` can take something back, as far as the versions tell. */
export function canUndo(versions) {
  const changes = versions.filter(({ what }) => what !== "created");
  return changes.filter(({ what }) => what !== "undo").length > changes.filter(({ what }) => what === "undo").length;
}

/** Return the table of versions, newest first; `undo` is called by its button, which is there if it is given. */
export function versionTable(versions, undo) {
  const rows = versionRows(versions).map(({ at, what, fields, text, hasNewText }) =>
    h(
      "tr",
      {},
      h("td", {}, timeElement(at)),
      h("td", { dir: "auto" }, visible(what)),
      h(
        "td",
        { dir: "auto" },
        [hasNewText && "new text", ...fields.map(visible)].filter(Boolean).join("; "),
        text && h("pre", { class: "version" }, visible(text)),
      ),
    ),
  );
  const head = h(
    "tr",
    {},
    ["When", "What", "Change"].map((title) => h("th", { scope: "col" }, title)),
  );
  return [
    h("h3", {}, "History"),
    undo &&
      canUndo(versions) &&
      h("p", { class: "actions" }, h("button", { type: "button", onclick: undo }, "Undo the last change")),
    h(
      "div",
      {
        class: "scroll",
        tabindex: "0",
        role: "region",
        "aria-label": "History",
      },
      h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
    ),
  ];
}

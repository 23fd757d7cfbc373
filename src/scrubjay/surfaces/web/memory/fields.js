// Fields of the form of a memory: their labels, and conversion from and to the values of the API.

import { h, uniqueId } from "../app/dom.js";

const SEVERITIES = ["", "critical", "warning", "suggestion"];
const TYPES = ["fact", "preference", "decision", "task", "summary", "result", "event"];

/**
 * @typedef {{name: string, label: string, kind?: string, rows?: number, list?: string, fresh?: string, rare?: boolean}} Field
 */

/** Fields in the order of the form; `rare` ones are under “More”. */
export const FIELDS = /** @type {Field[]} */ ([
  { name: "text", label: "Text", kind: "long", rows: 7 },
  { name: "title", label: "Title" },
  { name: "type", label: "Type", list: "types", fresh: "fact" },
  { name: "topics", label: "Topics, one per line", kind: "lines" },
  { name: "collection", label: "Collection", list: "collections" },
  { name: "namespace", label: "Namespace", list: "namespaces", rare: true },
  { name: "source", label: "Source: where it comes from", rare: true },
  { name: "context", label: "Context: background information", kind: "long", rows: 2, rare: true },
  { name: "severity", label: "Severity", kind: "choice", rare: true },
  { name: "domain", label: "Domain", rare: true },
  { name: "event_time", label: "Event time, from (default: found in the text)", kind: "time", rare: true },
  { name: "event_until", label: "Event time, until", kind: "time", rare: true },
  { name: "valid_from", label: "Valid from", kind: "time", rare: true },
  { name: "valid_until", label: "Valid until", kind: "time", rare: true },
  { name: "session", label: "Session", rare: true },
  { name: "role", label: "Said by", rare: true },
  { name: "owner", label: "Owner", rare: true },
  { name: "agent", label: "Agent", rare: true },
]);

/** Return the initial values of the form: of a memory, or of a new one. */
export function formValues(memory) {
  return Object.fromEntries(
    FIELDS.map((field) => [field.name, memory ? formValue(field.kind, memory[field.name]) : (field.fresh ?? "")]),
  );
}

function formValue(kind, value) {
  if (value === null) return "";
  if (kind === "lines") return value.join("\n");
  return kind === "time" ? localTime(value) : value;
}

/** Return the values that differ from the initial ones, as the API needs them. */
export function changedValues(values, before) {
  const changed = FIELDS.filter(({ name }) => values[name] !== before[name]);
  return Object.fromEntries(changed.map(({ name, kind }) => [name, requestValue(kind, values[name])]));
}

function requestValue(kind, value) {
  if (kind === "lines")
    return value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  return kind === "time" && value ? new Date(value).toISOString() : value;
}

/** An ISO time → "2026-11-16T09:30", in the browser's time zone, as an input of type datetime-local needs it. */
function localTime(iso) {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/**
 * Make the control of a field; `known` has the suggestions: `{types, collections, namespaces}`.
 * @param {Field} field
 */
export function makeControl({ name, label, kind, rows, list }, value, known) {
  const id = uniqueId(`field-${name}`);
  const words =
    list &&
    h(
      "datalist",
      { id: `${id}-list` },
      suggestions(list, known).map((word) => h("option", { value: word })),
    );
  const props = { id, name, dir: "auto", autocomplete: "off" };
  let input;
  if (kind === "long" || kind === "lines") input = h("textarea", { ...props, rows: rows ?? 2 });
  else if (kind === "choice")
    input = h(
      "select",
      { id, name },
      SEVERITIES.map((severity) => h("option", { value: severity }, severity || "none")),
    );
  else
    input = h("input", {
      ...props,
      type: kind === "time" ? "datetime-local" : "text",
      list: words ? `${id}-list` : null,
    });
  input.value = value;
  return { name, input, node: h("label", { class: "field", for: id }, label, input, words) };
}

const suggestions = (list, known) => [...new Set([...(list === "types" ? TYPES : []), ...known[list]])];

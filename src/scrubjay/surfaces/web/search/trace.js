// The trace of a search as data to draw: start and duration of each stage, and its numbers as text.

import { duration } from "../app/format.js";

/** Return all stages in the order they ran, with their depth: `[{step, depth}]`. */
export function flatten(steps, depth = 0) {
  return steps.flatMap((step) => [{ step, depth }, ...flatten(step.branches, depth + 1)]);
}

/** Place the stages on one axis: `{lengthMs, stages, betweenMs}`, each stage `{step, beganMs, inner}`. */
export function timeline(results) {
  const start = results.trace[0]?.at_us ?? 0;
  const stages = results.trace.map((step) => timelineEntry(step, start));
  const lastMs = Math.max(0, ...flatten(results.trace).map(({ step }) => startMs(step, start) + step.took_ms));
  const busyMs = results.trace.reduce((all, step) => all + step.took_ms, 0);
  return { lengthMs: Math.max(lastMs, results.took_ms), stages, betweenMs: Math.max(0, results.took_ms - busyMs) };
}

const startMs = (step, start) => Math.max(0, (step.at_us - start) / 1000);

function timelineEntry(step, start) {
  return { step, beganMs: startMs(step, start), inner: step.branches.map((branch) => timelineEntry(branch, start)) };
}

/** Format a duration with enough digits to differ from 0: 0.0033 → "3 µs". */
export const preciseDuration = (ms) => (ms < 0.01 ? `${Math.round(ms * 1000)} µs` : duration(ms));

/** Return round values for the marks of an axis, about five: 311 → [0, 100, 200, 300]. */
export function axisMarks(length) {
  const rough = length / 5;
  const ten = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * ten).find((candidate) => candidate >= rough) ?? ten;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}

/** Format a value of a stage: `{title: 1, topics: 0.5}`, `[a, b]`, `0.333333`. */
export function formatValue(value) {
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (value && typeof value === "object") {
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}: ${formatValue(item)}`)
      .join(", ")}}`;
  }
  return value === null ? "none" : String(value);
}

/** Format the plain numbers of a stage in one line: `k 60, depth 64`; mappings are left out. */
export function formatNumbers(numbers) {
  return Object.entries(numbers)
    .filter(([, value]) => value !== null && typeof value !== "object")
    .map(([key, value]) => `${key} ${formatValue(value)}`)
    .join(", ");
}

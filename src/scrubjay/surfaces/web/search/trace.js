// The stages of an answer as numbers to draw: when each began, how wide it is, what it says in short.

import { duration } from "../app/format.js";

/** Every stage in the order they ran, with how deep it is in others: `[{step, depth}]`. */
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

/** A time with enough figures to tell it from none: 0.0033 → "3 µs". */
export const preciseDuration = (ms) => (ms < 0.01 ? `${Math.round(ms * 1000)} µs` : duration(ms));

/** Round places for the marks of an axis, five at most: 311 → [0, 100, 200, 300]. */
export function axisMarks(length) {
  const rough = length / 5;
  const ten = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * ten).find((candidate) => candidate >= rough) ?? ten;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}

/** A value of a stage as short as it stays readable: `{title: 1, topics: 0.5}`, `[a, b]`, `0.333333`. */
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

/** The plain numbers of a stage in a line: `k 60, depth 64`; mappings wait until they are asked for. */
export function formatNumbers(numbers) {
  return Object.entries(numbers)
    .filter(([, value]) => value !== null && typeof value !== "object")
    .map(([key, value]) => `${key} ${formatValue(value)}`)
    .join(", ");
}

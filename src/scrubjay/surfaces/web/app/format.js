// Formatting of numbers, times and sizes.

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["year", 31557600],
  ["month", 2629800],
  ["week", 604800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en");
const number = new Intl.NumberFormat("en");

/** 12345 → "12,345" */
export const count = (value) => number.format(value);

/** (1, "memory", "memories") → "1 memory" */
export const plural = (value, singular, several) => `${count(value)} ${value === 1 ? singular : several}`;

/** An ISO time → "3 weeks ago", "in 2 days", "just now": whole units that have passed, as in the CLI */
export function age(iso, now = Date.now()) {
  const seconds = (Date.parse(iso) - now) / 1000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  return unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : "just now";
}

/** An ISO time → "16 Nov 2026, 09:30", in the browser's time zone */
export const moment = (iso) => new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** 0.0421 → "0.042", 3 → "3", 1e-9 → "1e-9": enough digits to distinguish two scores */
export function figure(value, digits = 3) {
  if (value === 0 || Number.isInteger(value)) return String(value);
  return Math.abs(value) < 0.5 * 10 ** -digits ? value.toExponential(0) : value.toFixed(digits);
}

/** 0.29 → 29, 0.2999 → 29: of 100 and cut, so that it is in the band of its score; 100 * 0.29 is below 29 */
export const points = (score) => Math.floor(Math.round(1e6 * score) / 1e4);

/** 12.3456 → "12.3 ms", 1234 → "1.23 s" */
export const duration = (ms) =>
  ms < 1000 ? `${ms < 10 ? ms.toFixed(2) : ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`;

/** 1536 → "1.5 kB" */
export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let index = 0;
  let left = bytes;
  while (left >= 1000 && index < units.length - 1) {
    left /= 1000;
    index += 1;
  }
  return `${index ? left.toFixed(1) : left} ${units[index]}`;
}

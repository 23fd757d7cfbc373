// Bars of a time span in the browser's time zone, filled with the hours that the server counts.

const HOUR_MS = 3600_000;

/** Time spans: number of bars, and hours per bar. */
export const SPANS = {
  "24h": { says: "24 hours", bars: 24, hours: 1 },
  "7d": { says: "7 days", bars: 28, hours: 6 },
  "30d": { says: "30 days", bars: 30, hours: 24 },
};

/**
 * Return the bars of a span, oldest first: `{from, until, now}` in milliseconds; `now` is true for the current bar.
 * Hours without a search have a bar, too.
 */
export function bars(span, now = Date.now()) {
  const { bars: wanted, hours } = SPANS[span];
  const last = barStart(now, hours);
  const made = [];
  for (let back = wanted - 1; back >= 0; back -= 1) {
    made.push({ from: addBars(last, -back, hours), until: addBars(last, 1 - back, hours), now: back === 0 });
  }
  return made;
}

/** Return the start of the first bar of a span as an ISO time. */
export const since = (span, now = Date.now()) => new Date(bars(span, now)[0].from).toISOString();

/** Group entries `{at, …}` by bar: one list for each bar. Entries outside the span are left out. */
export function groupByBar(made, counted) {
  const rows = made.map(() => []);
  for (const hour of counted) {
    const at = Date.parse(hour.at);
    const index = made.findIndex((bar) => bar.from <= at && at < bar.until);
    if (index >= 0) rows[index].push(hour);
  }
  return rows;
}

/** Return the label of a bar: "Mon 16 Nov, 09:00–10:00", or the day alone; with "so far" for the current bar. */
export function barLabel(bar) {
  const day = new Date(bar.from).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short" });
  const time = bar.until - bar.from > 20 * HOUR_MS ? day : `${day}, ${clock(bar.from)}–${clock(bar.until)}`;
  return bar.now ? `${time} so far` : time;
}

/** Return the label of a bar on the axis: the day at midnight, otherwise the hour, or nothing. */
export function axisLabel(bar, span) {
  const at = new Date(bar.from);
  const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  if (span === "30d") return day;
  const weekday = at.toLocaleDateString("en-GB", { weekday: "short", day: "numeric" });
  if (at.getHours() === 0) return span === "7d" ? weekday : day;
  return span === "24h" && at.getHours() % 3 === 0 ? clock(bar.from) : "";
}

/** A time → "09:03" in the browser's time zone */
export const clock = (at) => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

function barStart(at, hours) {
  const day = new Date(at);
  if (hours === 1) return at - (at % 60_000) - day.getMinutes() * 60_000;
  return new Date(
    day.getFullYear(),
    day.getMonth(),
    day.getDate(),
    Math.floor(day.getHours() / hours) * hours,
  ).getTime();
}

// Days and quarters of days follow the calendar: a day may have 23 or 25 hours. Hours follow the clock: the hour that
// occurs twice when daylight saving time ends has two bars.
function addBars(from, count, hours) {
  if (hours === 1) return from + count * HOUR_MS;
  const at = new Date(from);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate(), at.getHours() + count * hours).getTime();
}

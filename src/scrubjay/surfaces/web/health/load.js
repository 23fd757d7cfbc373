// Load of the whole server: searches per hour and times of stages, the same figures as in /metrics.

import { h, put, s } from "../app/dom.js";
import { count, duration, moment, plural } from "../app/format.js";
import { axisLabel, barLabel, bars, clock, groupByBar } from "./buckets.js";
import { legend, stackedChart } from "./charts.js";
import { hint, redrawOnChange, table } from "./panels.js";

const WHOLE = "search"; // the server's name for the time of all stages
const MOST_STAGES = 10;
const MISSING_PARTS = {
  embed_query: "the query's vector",
  vector: "vectors",
  graph: "links",
  rerank: "the reranker",
  other: "something else",
};
const SERIES = [
  { name: "complete", tone: 0 },
  { name: "degraded", tone: "warn" },
];

/** Return the searches and degraded searches of each hour of the last day; hours before the server's start are unknown. */
export function perHour(figures, now = Date.now()) {
  const made = bars("24h", now);
  const began = Date.parse(figures.since);
  return groupByBar(made, figures.hours).map((inside, index) => {
    const searches = inside.reduce((all, hour) => all + hour.searches, 0);
    const degraded = inside.reduce((all, hour) => all + hour.degraded, 0);
    return { ...made[index], searches, degraded, without: sumMissing(inside), unknown: made[index].until <= began };
  });
}

/** Add up the parts that were missing in searches: `{stage: searches}`. */
export function sumMissing(hours) {
  const all = {};
  for (const { without } of hours)
    for (const [name, some] of Object.entries(without)) all[name] = (all[name] ?? 0) + some;
  return all;
}

/** Return the missing parts as text, the most frequent first: "vectors (3), links (1)". */
export function missingText(without) {
  const most = Object.entries(without).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return most.map(([name, some]) => `${MISSING_PARTS[name] ?? name} (${count(some)})`).join(", ");
}

/** Return the panel with the searches per hour, `{node, show(figures)}`. */
export function queriesPanel() {
  const chart = stackedChart();
  const key = h("div");
  const before = h("p", { class: "hint" });
  const less = h("p", { class: "hint" });
  const rows = h("div");
  const listed = redrawOnChange(rows, queriesTable);
  const node = h("div", {}, key, chart.node, less, before, h("details", {}, h("summary", {}, "As a table"), rows));
  const show = (figures) => {
    const hours = perHour(figures);
    const degradedOnes = figures.searches ? `, ${count(figures.degraded)} of them degraded` : "";
    const whole = `${plural(figures.searches, "search", "searches")} since ${moment(figures.since)}${degradedOnes}`;
    chart.show({
      title: "Queries per hour, the last 24 hours",
      unit: "hour",
      series: SERIES,
      bars: hours.map((bar) => {
        const parts = [bar.searches - bar.degraded, bar.degraded];
        return { tick: axisLabel(bar, "24h"), says: barLabel(bar), parts, now: bar.now, unknown: bar.unknown };
      }),
      whole,
      unknown: "before the server started",
    });
    const degraded = hours.reduce((all, bar) => all + bar.degraded, 0);
    const all = hours.reduce((sum, bar) => sum + bar.searches, 0);
    put(key, legend(SERIES, [all - degraded, degraded]));
    put(
      less,
      `Missing in degraded searches: ${missingText(sumMissing(hours))}. A search shows the reason above its hits.`,
    );
    less.hidden = !degraded;
    put(before, `Shaded: before this server started at ${clock(Date.parse(figures.since))}.`);
    before.hidden = !hours.some((bar) => bar.unknown);
    listed(hours.filter((bar) => !bar.unknown));
  };
  return { node, show };
}

function queriesTable(hours) {
  const lines = hours.map((bar) => [barLabel(bar), count(bar.searches), count(bar.degraded), missingText(bar.without)]);
  const columns = [["Hour"], ["Searches", true], ["Degraded", true], ["Missing"]];
  return table("Queries per hour", columns, lines.reverse());
}

/** Sort the stages: the whole search first, then the slowest. */
function bySlowest(stages) {
  const longest = stages
    .filter((timing) => timing.stage !== WHOLE)
    .sort((a, b) => b.p95_ms - a.p95_ms || b.p50_ms - a.p50_ms);
  return [...stages.filter((timing) => timing.stage === WHOLE), ...longest];
}

/** Draw the times of stages: a bar up to p50 and a line up to p95 on one scale, with the numbers as text. */
export function stageTimes({ stages }) {
  if (!stages.length) return hint("No search since the server started. The first search adds its stages here.");
  const ordered = bySlowest(stages);
  const most = Math.max(...stages.map((timing) => timing.p95_ms)) || 1;
  const rest = ordered.slice(MOST_STAGES);
  const summary = h("summary", { data: { keep: "rest" } }, plural(rest.length, "faster stage", "faster stages"));
  return [
    timingTable("Times of the stages", ordered.slice(0, MOST_STAGES), most),
    hint(
      `Of the last ${plural(ordered[0].searches, "search", "searches")}: the bar ends at p50, the line at p95. `,
      `All bars have one scale of ${duration(most)}; the time of a stage includes its nested stages.`,
    ),
    rest.length > 0 && h("details", {}, summary, timingTable("Times of the faster stages", rest, most)),
  ];
}

function timingTable(caption, stages, most) {
  const name = (timing) => (timing.stage === WHOLE ? h("b", {}, "whole search") : timing.stage);
  const figures = (timing) => [duration(timing.p50_ms), duration(timing.p95_ms), count(timing.searches)];
  const rows = stages.map((timing) => [name(timing), timingBar(timing, most), ...figures(timing)]);
  const made = table(caption, [["Stage"], ["Time"], ["p50", true], ["p95", true], ["Searches", true]], rows);
  made.classList.add("stages");
  return made;
}

function timingBar(timing, most) {
  const share = (ms) => (100 * ms) / most;
  const whisker = { class: "whisker", "vector-effect": "non-scaling-stroke" };
  return s(
    "svg",
    { class: "times", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" }, // the table has the numbers
    s("rect", { class: "tone-0", x: 0, y: 3, width: Math.max(0.4, share(timing.p50_ms)), height: 10 }),
    s("path", { ...whisker, d: `M${share(timing.p50_ms)} 8H${share(timing.p95_ms)}M${share(timing.p95_ms)} 4V12` }),
  );
}

/** Draw the tenants of a server: number of memories and pending work. */
export function tenantTable({ tenants }) {
  const behind = (entry) => Object.values(entry.behind ?? {}).reduce((all, left) => all + left, 0);
  const rows = [...tenants]
    .sort((a, b) => (a.tenant ?? "").localeCompare(b.tenant ?? ""))
    .map((entry) => [
      entry.tenant ?? "without a tenant",
      count(entry.memories),
      count(entry.pending),
      count(behind(entry)),
    ]);
  return table("Tenants", [["Tenant"], ["Memories", true], ["Pending", true], ["Behind", true]], rows);
}

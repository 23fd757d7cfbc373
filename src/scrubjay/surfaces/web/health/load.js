// How busy the server is and how long each stage takes: the figures that /metrics counts, of the whole server.

import { h, put, s } from "../app/dom.js";
import { count, duration, many, moment } from "../app/format.js";
import { bars, clock, named, sorted, tick } from "./buckets.js";
import { legend, stacked } from "./charts.js";
import { hint, steady, table } from "./panels.js";

const WHOLE = "search"; // the name under which the server has the time of all stages
const MOST_STAGES = 10;
const LACKS = {
  embed_query: "the query's vector",
  vector: "vectors",
  graph: "links",
  rerank: "the reranker",
  other: "something else",
};
const SERIES = [
  { name: "whole", tone: 0 },
  { name: "degraded", tone: "warn" },
];

/** Return the searches of each hour of the last day, those that were degraded apart; before the start nothing is known. */
export function perHour(figures, now = Date.now()) {
  const made = bars("24h", now);
  const began = Date.parse(figures.since);
  return sorted(made, figures.hours).map((inside, index) => {
    const searches = inside.reduce((all, one) => all + one.searches, 0);
    const degraded = inside.reduce((all, one) => all + one.degraded, 0);
    return { ...made[index], searches, degraded, without: summed(inside), unknown: made[index].until <= began };
  });
}

/** Add up what the searches of some hours were without: `{stage: searches}`. */
export function summed(hours) {
  const all = {};
  for (const { without } of hours)
    for (const [name, some] of Object.entries(without)) all[name] = (all[name] ?? 0) + some;
  return all;
}

/** Say what searches were without, the most first: "vectors (3), links (1)"; a stage without a word of its own by its name. */
export function lacked(without) {
  const most = Object.entries(without).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return most.map(([name, some]) => `${LACKS[name] ?? name} (${count(some)})`).join(", ");
}

/** Return the part with the searches of each hour, `{node, show(figures)}`. */
export function queriesPart() {
  const chart = stacked();
  const key = h("div");
  const before = h("p", { class: "hint" });
  const less = h("p", { class: "hint" });
  const rows = h("div");
  const listed = steady(rows, tabled);
  const node = h("div", {}, key, chart.node, less, before, h("details", {}, h("summary", {}, "As a table"), rows));
  const show = (figures) => {
    const hours = perHour(figures);
    const degradedOnes = figures.searches ? `, ${count(figures.degraded)} of them degraded` : "";
    const whole = `${many(figures.searches, "search", "searches")} since ${moment(figures.since)}${degradedOnes}`;
    chart.show({
      title: "Queries per hour, the last 24 hours",
      unit: "hour",
      series: SERIES,
      bars: hours.map((bar) => {
        const parts = [bar.searches - bar.degraded, bar.degraded];
        return { tick: tick(bar, "24h"), says: named(bar), parts, now: bar.now, unknown: bar.unknown };
      }),
      whole,
      unknown: "before the server was started",
    });
    const degraded = hours.reduce((all, bar) => all + bar.degraded, 0);
    const all = hours.reduce((sum, bar) => sum + bar.searches, 0);
    put(key, legend(SERIES, [all - degraded, degraded]));
    put(less, `The degraded ones were without: ${lacked(summed(hours))}. A search says why, above its hits.`);
    less.hidden = !degraded;
    put(before, `Shaded: before this server was started, at ${clock(Date.parse(figures.since))}.`);
    before.hidden = !hours.some((bar) => bar.unknown);
    listed(hours.filter((bar) => !bar.unknown));
  };
  return { node, show };
}

function tabled(hours) {
  const lines = hours.map((bar) => [named(bar), count(bar.searches), count(bar.degraded), lacked(bar.without)]);
  const columns = [["Hour"], ["Searches", true], ["Degraded", true], ["Without"]];
  return table("Queries per hour", columns, lines.reverse());
}

/** Return the stages as they are shown: the whole search first, then those that take longest. */
function slowest(stages) {
  const longest = stages
    .filter((one) => one.stage !== WHOLE)
    .sort((a, b) => b.p95_ms - a.p95_ms || b.p50_ms - a.p50_ms);
  return [...stages.filter((one) => one.stage === WHOLE), ...longest];
}

/** Return tables of stages: a bar up to p50, a whisker up to p95, all on one scale, and the figures as text. */
export function stageTimes({ stages }) {
  if (!stages.length) return hint("No search since the server was started. Its stages appear here with the first.");
  const ordered = slowest(stages);
  const most = Math.max(...stages.map((one) => one.p95_ms)) || 1;
  const rest = ordered.slice(MOST_STAGES);
  const summary = h("summary", { data: { keep: "rest" } }, many(rest.length, "quicker stage", "quicker stages"));
  return [
    timed("Times of the stages", ordered.slice(0, MOST_STAGES), most),
    hint(
      `Of the last ${many(ordered[0].searches, "search", "searches")}: the bar ends at p50, the line at p95. `,
      `One scale for all, ${duration(most)} wide; a stage holds the time of those inside it.`,
    ),
    rest.length > 0 && h("details", {}, summary, timed("Times of the quicker stages", rest, most)),
  ];
}

function timed(caption, stages, most) {
  const name = (one) => (one.stage === WHOLE ? h("b", {}, "whole search") : one.stage);
  const said = (one) => [duration(one.p50_ms), duration(one.p95_ms), count(one.searches)];
  const rows = stages.map((one) => [name(one), times(one, most), ...said(one)]);
  const made = table(caption, [["Stage"], ["Time"], ["p50", true], ["p95", true], ["Searches", true]], rows);
  made.classList.add("stages");
  return made;
}

function times(one, most) {
  const share = (ms) => (100 * ms) / most;
  const whisker = { class: "whisker", "vector-effect": "non-scaling-stroke" };
  return s(
    "svg",
    { class: "times", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" }, // figures are beside it
    s("rect", { class: "tone-0", x: 0, y: 3, width: Math.max(0.4, share(one.p50_ms)), height: 10 }),
    s("path", { ...whisker, d: `M${share(one.p50_ms)} 8H${share(one.p95_ms)}M${share(one.p95_ms)} 4V12` }),
  );
}

/** Return the tenants of a server that has several: how much each holds, and what waits. */
export function tenantsPart({ tenants }) {
  const behind = (one) => Object.values(one.behind ?? {}).reduce((all, left) => all + left, 0);
  const rows = [...tenants]
    .sort((a, b) => (a.tenant ?? "").localeCompare(b.tenant ?? ""))
    .map((one) => [one.tenant ?? "without a tenant", count(one.memories), count(one.pending), count(behind(one))]);
  return table("Tenants", [["Tenant"], ["Memories", true], ["Pending", true], ["Behind", true]], rows);
}

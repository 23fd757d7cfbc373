// Hits per source over time (NM-7), for the own store or for a tenant.

import { h, put } from "../app/dom.js";
import { count, plural } from "../app/format.js";
import { axisLabel, barLabel, bars, groupByBar, SPANS } from "./buckets.js";
import { legend, stackedChart } from "./charts.js";
import { hint, redrawOnChange, table } from "./panels.js";

const NONE = "No hits in this time. After a search, the chart shows how many hits each source found.";
const TENANT_DAYS = 7; // limit of /v1/figures
// Fixed colours for the sources of nearly every search.
const FIRST_SOURCES = ["keyword", "vector", "graph", "lexical", "semantic"];

/** Return the sources with hits, in the order of stacking and colours. */
function sourcesOf(hours) {
  const names = new Set(hours.flatMap((hour) => Object.keys(hour.tiers)));
  const others = [...names].filter((name) => !FIRST_SOURCES.includes(name)).sort();
  return [...FIRST_SOURCES.filter((name) => names.has(name)), ...others];
}

/** Return the hours of a tenant, `[{at, tiers}]`, from rows of hour, source and count; without numbers of searches. */
export function hoursOf(rows) {
  const hours = new Map();
  for (const { hour, tier, count: found } of rows) {
    const entry = hours.get(hour) ?? { at: hour, tiers: {} };
    entry.tiers[tier] = found;
    hours.set(hour, entry);
  }
  return [...hours.values()];
}

/** Return the data of the chart: a bar for every hour, quarter of a day, or day of the span. */
function chartData(hours, span, now = Date.now()) {
  const made = bars(span, now);
  const inside = groupByBar(made, hours);
  const names = sourcesOf(inside.flat());
  const rows = inside.map((some) => ({
    searches: some.reduce((all, hour) => all + (hour.searches ?? 0), 0),
    parts: names.map((name) => some.reduce((all, hour) => all + (hour.tiers[name] ?? 0), 0)),
  }));
  const totals = names.map((_, index) => rows.reduce((all, row) => all + row.parts[index], 0));
  const hasSearches = hours.every((hour) => hour.searches !== undefined);
  const searches = hasSearches ? rows.reduce((all, row) => all + row.searches, 0) : null;
  return { made, names, rows, totals, searches };
}

/** Return the panel, `{node, show(hours, {span, tenant, tenants})}`; calls `choose` with another span or tenant. */
export function hitsPanel(choose) {
  const button = ([span, option]) =>
    h("button", { type: "button", data: { span }, onclick: () => choose({ span }) }, option.says);
  const spans = h("div", { class: "segments", role: "group", "aria-label": "Span" }, Object.entries(SPANS).map(button));
  const picker = h("select", {
    "aria-label": "Tenant",
    hidden: true,
    onchange: () => choose({ tenant: picker.value }),
  });
  const chart = stackedChart();
  const key = h("div");
  const rows = h("div");
  const limits = h("p", { class: "hint" });
  const node = h(
    "div",
    {},
    h("div", { class: "choices" }, spans, picker),
    key,
    chart.node,
    hint(
      "A source finds candidates: keyword by words, vector by meaning, graph by links. ",
      "A hit that two sources found counts for both. The bar in a dashed frame is still growing.",
    ),
    limits,
    h("details", {}, h("summary", {}, "As a table"), rows),
  );
  const listed = redrawOnChange(rows, hitsTable);
  const show = (hours, { span, tenant, tenants }) => {
    for (const control of spans.children) control.setAttribute("aria-pressed", String(control.dataset.span === span));
    fillPicker(picker, tenants, tenant);
    const found = chartData(hours, span);
    const series = found.names.map((name, tone) => ({ name, tone: tone % 8 }));
    put(limits, limitNote(span, tenant, tenants));
    put(key, found.totals.some(Boolean) ? legend(series, found.totals) : hint(NONE));
    chart.show(chartInput(found, series, span));
    listed({ ...found, span });
  };
  return { node, show };
}

function limitNote(span, tenant, tenants) {
  if (!tenant) return "";
  if (!isKnown(tenant, tenants))
    return `The store of ${tenant} is not open on this server: the chart shows your own store.`;
  return span === "30d" ? `The server reports the hits of tenants for the last ${TENANT_DAYS} days.` : "";
}

const isKnown = (tenant, tenants) => tenants.some((entry) => entry.tenant === tenant);

function hitsTable({ made, names, rows, searches, span }) {
  const ifCounted = (cell) => (searches === null ? [] : [cell]);
  const columns = [["Time"], ...ifCounted(["Searches", true]), ...names.map((name) => [name, true])];
  const cells = (row) => [...ifCounted(row.searches), ...row.parts].map(count);
  const lines = made.map((bar, index) => [barLabel(bar), ...cells(rows[index])]);
  return table(`Hits per source, ${SPANS[span].says}`, columns, lines.reverse());
}

function chartInput(found, series, span) {
  const totals = found.names.map((name, index) => `${name} ${count(found.totals[index])}`).join(" · ") || "nothing";
  const searched = (searches) => (found.searches === null ? "" : `, ${plural(searches, "search", "searches")}`);
  return {
    title: `Hits per source, the last ${SPANS[span].says}`,
    unit: { "24h": "hour", "7d": "quarter of a day", "30d": "day" }[span],
    series,
    bars: found.made.map((bar, index) => {
      const { parts, searches } = found.rows[index];
      return { tick: axisLabel(bar, span), says: barLabel(bar) + searched(searches), parts, now: bar.now };
    }),
    whole: `The last ${SPANS[span].says}${searched(found.searches)}: ${totals}`,
  };
}

function fillPicker(picker, tenants, chosen) {
  const names = tenants.map((entry) => entry.tenant ?? "").sort();
  picker.hidden = names.length < 2;
  if (names.join("\n") !== picker.dataset.names) {
    picker.dataset.names = names.join("\n");
    const option = (name) => h("option", { value: name }, name ? `Tenant ${name}` : "My store");
    put(picker, ["", ...names.filter(Boolean)].map(option));
  }
  picker.value = isKnown(chosen, tenants) ? chosen : "";
}

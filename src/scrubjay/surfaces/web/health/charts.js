// Stacked bar chart over time: full width, with patterns besides colours, readable with arrow keys.

import { h, put, s, uniqueId } from "../app/dom.js";
import { count } from "../app/format.js";

const HIGH = 190;
const EDGE = { left: 46, right: 8, top: 12, bottom: 24 };
const LABEL_PX = 52; // width of a label of the axis
const HATCHES = ["", "M0 0V6", "M3 3h.01", "M0 3H6", "M0 0L6 6M0 6L6 0", "M0 0V6M3 0V6", "M0 0h3v3H0z", "M0 3H6M3 0V6"];
const TURNS = [0, 45, 0, 0, 0, -45, 0, 0];

/**
 * Return a chart of stacked bars, `{node, show(data)}`. `data` is
 * `{title, unit, series: [{name, tone}], bars: [{tick, says, parts, now, unknown}], whole}`: `parts` has a number
 * for each series, `whole` is the text while no bar is selected.
 */
export function stackedChart() {
  const id = uniqueId("chart");
  const plot = h("div", { class: "plot", role: "slider", tabindex: "0", "aria-valuemin": "1" });
  const readout = h("p", { class: "readout", "aria-hidden": "true" }); // screen readers get the same text from the slider
  const node = h("div", { class: "chart" }, plot, readout);
  const state = { data: null, at: -1 };
  const draw = () => state.data && plot.clientWidth > 0 && drawChart(id, plot, readout, state);
  const choose = (at) => {
    if (at === state.at) return;
    state.at = at;
    draw();
  };
  listen(plot, state, choose);
  new ResizeObserver(draw).observe(plot);
  const show = (data) => {
    if (state.data && data.bars.length !== state.data.bars.length) state.at = -1;
    state.data = data;
    draw();
  };
  return { node, show };
}

/** Return the legend of the series with their totals. */
export function legend(series, totals) {
  const id = uniqueId("legend");
  return h(
    "ul",
    { class: "legend" },
    series.map((item, index) =>
      h("li", {}, swatch(id, item), h("span", {}, item.name), " ", h("b", {}, count(totals[index]))),
    ),
  );
}

/** Return marks for an axis from 0 to at least `most`, in whole steps: 7 → [0, 2, 4, 6, 8]. */
function axisMarks(most) {
  const rough = Math.max(1, most / 4);
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * ten).find((candidate) => candidate >= rough);
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, index) => index * step);
}

function swatch(id, item) {
  const box = s("rect", { width: 14, height: 14, rx: 2, fill: paint(id, item.tone) });
  return s("svg", { class: "swatch", width: 14, height: 14, "aria-hidden": "true" }, pattern(id, item.tone), box);
}

function listen(plot, state, choose) {
  const most = () => state.data.bars.length - 1;
  const moves = {
    ArrowRight: () => Math.min(most(), state.at + 1),
    ArrowLeft: () => (state.at < 0 ? most() : Math.max(0, state.at - 1)),
    Home: () => 0,
    End: () => most(),
    Escape: () => -1,
  };
  plot.addEventListener("keydown", (event) => {
    if (!state.data || !moves[event.key]) return;
    event.preventDefault();
    choose(moves[event.key]());
  });
  const point = (event) => {
    if (!state.data) return;
    const { left, width } = plot.getBoundingClientRect();
    const share = (event.clientX - left - EDGE.left) / (width - EDGE.left - EDGE.right);
    if (share >= 0 && share < 1) choose(Math.floor(share * state.data.bars.length));
  };
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  // Lifting a finger is a pointerleave, too; its selection stays until the next touch.
  plot.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse" && document.activeElement !== plot) choose(-1);
  });
  plot.addEventListener("blur", () => choose(-1));
}

function drawChart(id, plot, readout, { data, at }) {
  const width = plot.clientWidth;
  const across = (width - EDGE.left - EDGE.right) / data.bars.length;
  const scale = axisMarks(Math.max(...data.bars.map((bar) => sum(bar.parts))));
  const y = (value) => HIGH - EDGE.bottom - (value / scale.at(-1)) * (HIGH - EDGE.top - EDGE.bottom);
  const x = (index) => EDGE.left + index * across;
  const full = (name, index) =>
    s("rect", { class: name, x: x(index), y: EDGE.top, width: across, height: y(0) - EDGE.top });
  const title = uniqueId("title");
  const tones = [...new Set(data.series.map((item) => item.tone))];
  put(
    plot,
    s(
      "svg",
      { width, height: HIGH, role: "img", "aria-labelledby": title },
      s("title", { id: title }, `${data.title}: ${data.whole}`),
      tones.map((tone) => pattern(id, tone)),
      scale.map((value) => gridline(value, y(value), width)),
      data.bars.map((bar, index) => bar.unknown && full("unknown", index)),
      at >= 0 && full("chosen", at),
      data.bars.map((bar, index) => column(id, data, bar, x(index), across, y)),
      // The current bar has a dashed frame of full height: it may still grow.
      data.bars.map((bar, index) => bar.now && full("open", index)),
      s("line", { class: "ground", x1: EDGE.left, x2: width - EDGE.right, y1: y(0) + 0.5, y2: y(0) + 0.5 }),
      ticks(data.bars, x, across),
    ),
  );
  readOut(plot, readout, data, at);
}

function gridline(value, y, width) {
  return [
    s("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y, y2: y }),
    s("text", { class: "mark", x: EDGE.left - 6, y: y + 4, "text-anchor": "end" }, count(value)),
  ];
}

function column(id, data, bar, left, across, y) {
  const space = Math.min(4, across * 0.2);
  const [x, width] = [left + space / 2, across - space];
  let under = 0;
  return bar.parts.map((value, index) => {
    const top = y(under + value);
    const height = y(under) - top;
    under += value;
    return (
      value > 0 && s("rect", { class: "part", x, y: top, width, height, fill: paint(id, data.series[index].tone) })
    );
  });
}

// A label is skipped if it would overlap the one before; the last bar is "now".
function ticks(bars, x, across) {
  const end = x(bars.length - 1) + across;
  let free = 0;
  const made = [];
  for (const [index, bar] of bars.entries()) {
    const middle = x(index) + across / 2;
    if (!bar.tick || middle < free || middle > end - LABEL_PX) continue;
    free = middle + LABEL_PX;
    made.push(s("text", { class: "mark", x: middle, y: HIGH - 6, "text-anchor": "middle" }, bar.tick));
  }
  return [made, s("text", { class: "mark", x: end, y: HIGH - 6, "text-anchor": "end" }, "now")];
}

function readOut(plot, readout, data, at) {
  const bar = data.bars[at];
  const text = bar ? `${bar.says}: ${bar.unknown ? data.unknown : partsText(data, bar)}` : data.whole;
  put(readout, text);
  plot.setAttribute("aria-label", `${data.title}, by ${data.unit}`);
  plot.setAttribute("aria-valuemax", data.bars.length);
  plot.setAttribute("aria-valuenow", at < 0 ? data.bars.length : at + 1);
  plot.setAttribute("aria-valuetext", text);
}

function partsText(data, bar) {
  const some = data.series.map((item, index) => [item.name, bar.parts[index]]).filter(([, value]) => value > 0);
  return some.length ? some.map(([name, value]) => `${name} ${count(value)}`).join(" · ") : "nothing";
}

function pattern(id, tone) {
  const kind = tone === "warn" ? 1 : tone;
  const hatch = HATCHES[kind];
  const patternTransform = `rotate(${TURNS[kind]})`;
  return s(
    "pattern",
    { id: `${id}-${tone}`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform },
    s("rect", { class: `tone-${tone}`, width: 6, height: 6 }),
    hatch && s("path", { class: "hatch", d: hatch }),
  );
}

const paint = (id, tone) => `url(#${id}-${tone})`;
const sum = (values) => values.reduce((all, value) => all + value, 0);

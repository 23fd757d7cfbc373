// The stages of a search as bars on one axis of time, with what went in and came out of each.

import { h, put, s } from "../app/dom.js";
import { count, many } from "../app/format.js";
import { brief, marks, placed, shown, took, walked } from "./trace.js";

const LEAST_PX = 3; // a stage of no time at all is still seen; its figure says how short it was
const FUNNEL = { width: 44, height: 18 };

/** Draw the stages of a search, `results` as `search` with `explain` answers it. */
export function waterfall(results) {
  const root = h("div", { class: "waterfall" });
  if (!results.trace?.length) return put(root, h("p", { class: "hint" }, "This answer came without its stages."));
  const { lengthMs, stages, betweenMs } = placed(results);
  const most = Math.max(1, ...walked(results.trace).flatMap(({ step }) => [step.went_in, step.came_out]));
  const drawing = { lengthMs, most, marks: marks(lengthMs) };
  return put(
    root,
    losses(results.degraded),
    heading(drawing, root),
    h(
      "ol",
      { class: "stages" },
      stages.map((one) => stage(one, 0, drawing)),
    ),
    total(results, betweenMs),
  );
}

/** The sign before what is not as it should be; the words beside it say what. */
export const warning = () => h("span", { class: "alert", "aria-hidden": "true" }, "⚠ ");

function losses(degraded) {
  return degraded.map((why) => h("p", { class: "said" }, warning(), `Less than it could be: ${why}`));
}

function heading({ lengthMs, marks: ticks }, root) {
  const every = h("button", { type: "button", class: "quiet every", onclick: () => openAll(root, every) }, "Open all");
  return h(
    "div",
    { class: "row scale" },
    h("span", { class: "name" }, "Stage ", every),
    h("span", { class: "flow", "aria-hidden": "true" }, "in → out"),
    h(
      "span",
      { class: "track", "aria-hidden": "true" },
      ticks.map((ms) => tick(ms, lengthMs)),
    ),
    h("span", { class: "took", "aria-hidden": "true" }, "time"),
  );
}

function openAll(root, button) {
  const all = [...root.querySelectorAll("details")];
  const open = all.some((one) => !one.open);
  for (const one of all) one.open = open;
  put(button, open ? "Close all" : "Open all");
}

function stage({ step, beganMs, inner }, depth, drawing) {
  const kind = step.lost ? "row lost" : idle(step) ? "row idle" : "row";
  return h(
    "li",
    { class: depth ? "branch" : "" },
    h(
      "details",
      { data: { stage: step.stage } },
      h(
        "summary",
        { class: kind },
        named(step, depth),
        flow(step, drawing.most),
        track(step, beganMs, depth, drawing),
        h("span", { class: "took" }, took(step.took_ms)),
      ),
      more(step, beganMs, drawing.lengthMs),
    ),
    step.lost && h("p", { class: "loss" }, warning(), `Lost: ${step.lost}`),
    inner.length > 0 &&
      within(
        step,
        inner.map((one) => stage(one, depth + 1, drawing)),
      ),
  );
}

const within = (step, rows) => h("ol", { "aria-label": `Within ${step.stage}` }, rows);

function named(step, depth) {
  const short = h("span", { class: "brief" }, brief(step.numbers));
  return h("span", { class: "name", style: { paddingLeft: `${depth * 1.1}rem` } }, h("b", {}, step.stage), " ", short);
}

function track(step, beganMs, depth, drawing) {
  const drawn = bar(step, beganMs, drawing.lengthMs, depth);
  return h("span", { class: "track", "aria-hidden": "true", style: grid(drawing) }, drawn);
}

/** A stage that asks whether to do something, was told no, and did nothing. */
const idle = (step) => step.notes.held === false && !step.branches.length;

const share = (part, whole) => `${((100 * part) / (whole || 1)).toFixed(3)}%`;

/** A mark of the axis; one near its end has its figure at the left, where there is room. */
function tick(ms, lengthMs) {
  const text = ms < 1000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1000).toPrecision(3))} s`;
  return h("span", { class: ms > 0.9 * lengthMs ? "tick late" : "tick", style: { left: share(ms, lengthMs) } }, text);
}

function grid({ lengthMs, marks: ticks }) {
  return ticks.length > 1 ? { backgroundSize: `${share(ticks[1], lengthMs)} 100%` } : {};
}

function bar(step, beganMs, lengthMs, depth) {
  return h("span", {
    class: depth ? "bar inner" : "bar",
    style: {
      left: `min(${share(beganMs, lengthMs)}, 100% - ${LEAST_PX}px)`,
      width: `max(${share(step.took_ms, lengthMs)}, ${LEAST_PX}px)`,
    },
  });
}

function flow(step, most) {
  const none = !step.went_in && !step.came_out;
  const [into, out] = [count(step.went_in), count(step.came_out)];
  return h(
    "span",
    { class: none ? "flow none" : "flow" },
    h("span", { "aria-hidden": "true" }, funnel(step, most), none ? "–" : `${into} → ${out}`),
    h("span", { class: "hushed" }, none ? "no candidates yet" : `${into} in, ${out} out`),
  );
}

/** A shape as high at its left as many went in, and at its right as came out. */
function funnel(step, most) {
  const { width, height } = FUNNEL;
  const half = (amount) => (amount ? Math.max(1, (amount / most) * height) / 2 : 0.25);
  const [left, right, middle] = [half(step.went_in), half(step.came_out), height / 2];
  const points = [
    [0, middle - left],
    [width, middle - right],
    [width, middle + right],
    [0, middle + left],
  ];
  const shape = s("polygon", { points: points.join(" ") });
  return s("svg", { class: "funnel", width, height, viewBox: `0 0 ${width} ${height}` }, shape);
}

function more(step, beganMs, lengthMs) {
  const part = Math.round((100 * step.took_ms) / (lengthMs || 1));
  return h(
    "div",
    { class: "more" },
    h("p", { class: "hint" }, `Began at ${took(beganMs)}, took ${took(step.took_ms)}: ${part} % of the whole.`),
    pairs("Numbers", step.numbers),
    pairs("Notes", step.notes),
  );
}

function pairs(title, values) {
  const entries = Object.entries(values);
  if (!entries.length) return null;
  const rows = entries.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, shown(value))));
  return [h("h4", {}, title), h("dl", {}, rows)];
}

function total(results, betweenMs) {
  const stages = many(walked(results.trace).length, "stage", "stages");
  const more = h("span", { class: "hint" }, ` · ${stages}, ${took(betweenMs)} between them`);
  return h("p", { class: "total" }, h("b", {}, "Total ", took(results.took_ms)), more);
}

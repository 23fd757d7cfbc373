// Waterfall chart: the stages of a search as bars on a time axis, with candidates in and out.

import { h, put, s } from "../app/dom.js";
import { count, plural } from "../app/format.js";
import { axisMarks, flatten, formatNumbers, formatValue, preciseDuration, timeline } from "./trace.js";

const LEAST_PX = 3; // so that a very short stage stays visible
const FUNNEL = { width: 44, height: 18 };

/** Draw the stages of a search; `results` are those of `search` with `explain`. */
export function waterfall(results) {
  const root = h("div", { class: "waterfall" });
  if (!results.trace?.length) return put(root, h("p", { class: "hint" }, "These results contain no trace."));
  const { lengthMs, stages, betweenMs } = timeline(results);
  const most = Math.max(1, ...flatten(results.trace).flatMap(({ step }) => [step.went_in, step.came_out]));
  const drawing = { lengthMs, most, marks: axisMarks(lengthMs) };
  return put(
    root,
    degradedNotes(results.degraded),
    headerRow(drawing, root),
    h(
      "ol",
      { class: "stages" },
      stages.map((entry) => stageRow(entry, 0, drawing)),
    ),
    totalLine(results, betweenMs),
  );
}

/** Return the warning sign; the text beside it gives the reason. */
export const warning = () => h("span", { class: "alert", "aria-hidden": "true" }, "⚠ ");

function degradedNotes(degraded) {
  return degraded.map((why) => h("p", { class: "notice" }, warning(), `Incomplete: ${why}`));
}

function headerRow({ lengthMs, marks: ticks }, root) {
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
  const open = all.some((details) => !details.open);
  for (const details of all) details.open = open;
  put(button, open ? "Close all" : "Open all");
}

function stageRow({ step, beganMs, inner }, depth, drawing) {
  const kind = step.lost ? "row lost" : wasSkipped(step) ? "row idle" : "row";
  return h(
    "li",
    { class: depth ? "branch" : "" },
    h(
      "details",
      { data: { stage: step.stage } },
      h(
        "summary",
        { class: kind },
        stageName(step, depth),
        candidateFlow(step, drawing.most),
        track(step, beganMs, depth, drawing),
        h("span", { class: "took" }, preciseDuration(step.took_ms)),
      ),
      stageDetails(step, beganMs, drawing.lengthMs),
    ),
    step.lost && h("p", { class: "loss" }, warning(), `Failed: ${step.lost}`),
    inner.length > 0 &&
      branchList(
        step,
        inner.map((entry) => stageRow(entry, depth + 1, drawing)),
      ),
  );
}

const branchList = (step, rows) => h("ol", { "aria-label": `Within ${step.stage}` }, rows);

function stageName(step, depth) {
  const short = h("span", { class: "brief" }, formatNumbers(step.numbers));
  return h("span", { class: "name", style: { paddingLeft: `${depth * 1.1}rem` } }, h("b", {}, step.stage), " ", short);
}

function track(step, beganMs, depth, drawing) {
  const drawn = bar(step, beganMs, drawing.lengthMs, depth);
  return h("span", { class: "track", "aria-hidden": "true", style: grid(drawing) }, drawn);
}

/** True for a conditional stage whose condition was false. */
const wasSkipped = (step) => step.notes.held === false && !step.branches.length;

const share = (part, whole) => `${((100 * part) / (whole || 1)).toFixed(3)}%`;

/** Draw a mark of the axis; near the end its label is on the left, where there is room. */
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

function candidateFlow(step, most) {
  const none = !step.went_in && !step.came_out;
  const [into, out] = [count(step.went_in), count(step.came_out)];
  return h(
    "span",
    { class: none ? "flow none" : "flow" },
    h("span", { "aria-hidden": "true" }, funnel(step, most), none ? "–" : `${into} → ${out}`),
    h("span", { class: "visually-hidden" }, none ? "no candidates yet" : `${into} in, ${out} out`),
  );
}

/** Draw a funnel: its left edge is the number of candidates in, its right edge the number out. */
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

function stageDetails(step, beganMs, lengthMs) {
  const part = Math.round((100 * step.took_ms) / (lengthMs || 1));
  return h(
    "div",
    { class: "more" },
    h(
      "p",
      { class: "hint" },
      `Started at ${preciseDuration(beganMs)}, took ${preciseDuration(step.took_ms)}: ${part} % of the total.`,
    ),
    valueList("Numbers", step.numbers),
    valueList("Notes", step.notes),
  );
}

function valueList(title, values) {
  const entries = Object.entries(values);
  if (!entries.length) return null;
  const rows = entries.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, formatValue(value))));
  return [h("h4", {}, title), h("dl", {}, rows)];
}

function totalLine(results, betweenMs) {
  const stages = plural(flatten(results.trace).length, "stage", "stages");
  const more = h("span", { class: "hint" }, ` · ${stages}, ${preciseDuration(betweenMs)} between them`);
  return h("p", { class: "total" }, h("b", {}, "Total ", preciseDuration(results.took_ms)), more);
}

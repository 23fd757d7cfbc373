// Doctor panel: the findings of `doctor`, with the command that fixes each.

import { call } from "../app/api.js";
import { commandBlock, message } from "../app/command.js";
import { h, put } from "../app/dom.js";
import { count } from "../app/format.js";
import { clock } from "./buckets.js";
import { keepFocus, state } from "./panels.js";

/**
 * Return the panel, `{node, run(), stop(), findings()}`; it calls `examined` when there are findings. The examination
 * reads the whole store, so it does not run with every refresh.
 */
export function doctorPanel(examined) {
  let findings = null;
  let running = null;
  const status = h("p", { class: "hint", role: "status" }, "Not examined yet.");
  const list = h("div", { "aria-busy": "false" });
  const button = h("button", { type: "button", onclick: () => run() }, "Examine now");
  const node = h("div", {}, h("div", { class: "actions" }, button, status), list);

  async function run() {
    if (running) return;
    running = new AbortController();
    list.setAttribute("aria-busy", "true");
    button.setAttribute("aria-disabled", "true"); // not `disabled`, which would remove the focus
    put(status, "Examining…");
    try {
      const answer = await call("doctor", {}, { signal: running.signal });
      findings = answer.findings;
      put(status, `${verdict(findings)} Examined at ${clock(Date.now())}.`);
      keepFocus(list, () => put(list, findingLists(findings)));
      examined();
    } catch (error) {
      if (error.name !== "AbortError" && !error.kind) throw error;
      put(status, error.name === "AbortError" ? "Examination cancelled." : error.detail);
    } finally {
      running = null;
      list.setAttribute("aria-busy", "false");
      button.removeAttribute("aria-disabled");
    }
  }
  return { node, run, stop: () => running?.abort(), findings: () => findings };
}

function verdict(findings) {
  const wrong = findings.filter((finding) => finding.state !== "ok").length;
  const all = count(findings.length);
  return wrong ? `${count(wrong)} of ${all} checks found a problem.` : `All ${all} checks passed.`;
}

function findingLists(findings) {
  const wrong = findings.filter((finding) => finding.state !== "ok");
  const fine = findings.filter((finding) => finding.state === "ok");
  const all = (some) => h("ul", { class: "findings" }, groupByFix(some).map(findingGroup));
  const summary = h("summary", { data: { keep: "fine" } }, `${count(fine.length)} passed`);
  return [wrong.length > 0 && all(wrong), fine.length > 0 && h("details", {}, summary, all(fine))];
}

/** Group findings that one command fixes: they have one cause. */
export function groupByFix(findings) {
  const groups = new Map();
  findings.forEach((finding, index) => {
    const key = finding.fix || index;
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  });
  return [...groups.values()];
}

function findingGroup(findings) {
  const { state: how, fix } = worst(findings);
  const details = findings.map((finding) => h("div", {}, h("b", {}, finding.component), " ", message(finding.detail)));
  return h("li", {}, state(how), h("div", {}, details, fix && commandBlock(fix)));
}

/** Return the worst finding; the first of several equal ones. */
export function worst(findings) {
  return (
    ["failed", "missing", "degraded"].map((how) => findings.find((finding) => finding.state === how)).find(Boolean) ??
    findings[0]
  );
}

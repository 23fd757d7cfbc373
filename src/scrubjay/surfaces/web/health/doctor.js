// doctor: what is examined, how it is, and the command that would fix it.

import { call } from "../app/api.js";
import { commandBlock, message } from "../app/command.js";
import { h, put } from "../app/dom.js";
import { count } from "../app/format.js";
import { clock } from "./buckets.js";
import { keepFocus, state } from "./panels.js";

/**
 * Return the part, `{node, run(), stop(), findings()}`; `examined` is called when there are findings. To examine a store
 * reads all of it, so it is done when asked for and not with every look.
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
    button.setAttribute("aria-disabled", "true"); // not `disabled`, which would take the focus away
    put(status, "Examining…");
    try {
      const answer = await call("doctor", {}, { signal: running.signal });
      findings = answer.findings;
      put(status, `${verdict(findings)} Examined at ${clock(Date.now())}.`);
      keepFocus(list, () => put(list, findingLists(findings)));
      examined();
    } catch (error) {
      if (error.name !== "AbortError" && !error.kind) throw error;
      put(status, error.name === "AbortError" ? "Not examined to the end." : error.detail);
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
  return wrong ? `${count(wrong)} of ${all} checks found something.` : `All ${all} checks are fine.`;
}

function findingLists(findings) {
  const wrong = findings.filter((finding) => finding.state !== "ok");
  const fine = findings.filter((finding) => finding.state === "ok");
  const all = (some) => h("ul", { class: "findings" }, groupByFix(some).map(findingGroup));
  const summary = h("summary", { data: { keep: "fine" } }, `${count(fine.length)} that are fine`);
  return [wrong.length > 0 && all(wrong), fine.length > 0 && h("details", {}, summary, all(fine))];
}

/** Put together what one command mends: it has one cause. */
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

/** Return the finding that is worst; of several as bad, the first. */
export function worst(findings) {
  return (
    ["failed", "missing", "degraded"].map((how) => findings.find((finding) => finding.state === how)).find(Boolean) ??
    findings[0]
  );
}

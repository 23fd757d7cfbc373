// A command to type elsewhere, with a button that copies it.

import { h, put, uniqueId } from "./dom.js";

const SHOWN_MS = 2500;

const COMMAND_AT_END = /^(.*?[:;]) ((?:SCRUBJAY_\w+=\S+ )?scrubjay [a-z].*|(?:export|set) SCRUBJAY_\w+=.*)$/s;

/**
 * Return a sentence; the command at its end, where there is one, gets a block of its own, to copy. `better` is the same
 * command as somebody else says it who knows which store it is about.
 */
export function message(text, better = "") {
  const [, sentence, line] = COMMAND_AT_END.exec(text) ?? [];
  return line ? [h("span", { dir: "auto" }, sentence), commandBlock(better || line)] : h("span", { dir: "auto" }, text);
}

/** Return a command in a block of its own; where it begins with what to do first, that stands before it. */
export function commandBlock(fix) {
  const [, first, line] = /^(.*, then: )?(.*)$/s.exec(fix);
  const code = h("code", { id: uniqueId("command") }, line);
  const label = h("span", {}, "Copy");
  const about = { "aria-describedby": code.id, data: { keep: `copy ${line}` } };
  const copy = h("button", { type: "button", class: "quiet", ...about }, label);
  const status = h("span", { class: "hushed", role: "status" });
  let timer = 0;
  copy.addEventListener("click", async () => {
    const done = (await copyText(line)) || selectAndCopy(code);
    const words = done ? "Copied" : "Selected: copy it with your keys";
    put(label, words);
    put(status, words);
    clearTimeout(timer);
    timer = setTimeout(() => {
      put(label, "Copy");
      put(status);
    }, SHOWN_MS);
  });
  return h("div", { class: "command" }, first && h("p", {}, first), h("pre", {}, code), copy, status);
}

// A browser may not let a page write to the clipboard: away from localhost without TLS, or where it was forbidden.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Select what stands in a node, and copy it the old way; false where only the selection is left to the reader. */
function selectAndCopy(node) {
  getSelection().selectAllChildren(node);
  return document.execCommand("copy");
}

// Shell commands in messages, each with a button that copies it.

import { h, put, uniqueId } from "./dom.js";

const SHOWN_MS = 2500;

const COMMAND_AT_END = /^(.*?[:;]) ((?:SCRUBJAY_\w+=\S+ )?scrubjay [a-z].*|(?:export|set) SCRUBJAY_\w+=.*)$/s;

/**
 * Return a message as nodes. A command at its end becomes a block with a Copy button. `better`, if given, replaces that
 * command: it is the same command with the path of the store.
 */
export function message(text, better = "") {
  const [, sentence, line] = COMMAND_AT_END.exec(text) ?? [];
  return line ? [h("span", { dir: "auto" }, sentence), commandBlock(better || line)] : h("span", { dir: "auto" }, text);
}

/** Return a command as a block with a Copy button; a first step (“…, then: ”) is shown above it. */
export function commandBlock(fix) {
  const [, first, line] = /^(.*, then: )?(.*)$/s.exec(fix);
  const code = h("code", { id: uniqueId("command") }, line);
  const label = h("span", {}, "Copy");
  const about = { "aria-describedby": code.id, data: { keep: `copy ${line}` } };
  const copy = h("button", { type: "button", class: "quiet", ...about }, label);
  const status = h("span", { class: "visually-hidden", role: "status" });
  let timer = 0;
  copy.addEventListener("click", async () => {
    const done = (await copyText(line)) || selectAndCopy(code);
    const words = done ? "Copied" : "Selected: press Ctrl+C to copy";
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

// A browser may refuse access to the clipboard: without TLS away from localhost, or where the user denied it.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Select the text of a node and copy it with execCommand; false if the user has to copy the selection. */
function selectAndCopy(node) {
  getSelection().selectAllChildren(node);
  return document.execCommand("copy");
}

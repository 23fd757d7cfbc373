// Messages before and after a message of a conversation.

import { h } from "../app/dom.js";
import { link } from "../app/route.js";
import { excerpt, visible } from "../app/stored_text.js";

export const TURNS = 3; // messages on each side
const BEGINS_CHARS = 300;

/** Return the messages around a message, including itself; `follow(id)` opens another. */
export function conversationAround(memory, around, follow) {
  const row = (turn) => {
    const text = visible(excerpt(turn.text, BEGINS_CHARS).text);
    const isThis = turn.id === memory.id;
    return h(
      "li",
      { "aria-current": isThis && "true" },
      h("span", { class: "hint" }, visible(turn.role ?? "unknown speaker"), isThis && " (this message)"),
      isThis
        ? h("p", { class: "stored", dir: "auto" }, text)
        : h("button", { type: "button", class: "linked", dir: "auto", onclick: () => follow(turn.id) }, text),
    );
  };
  return [
    h("h3", {}, "Conversation"),
    h("ol", { class: "turns" }, around.map(row)),
    h("p", {}, h("a", { href: link("search", { session: memory.session }) }, "The whole conversation")),
  ];
}

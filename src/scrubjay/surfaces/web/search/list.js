// List of stored memories, page by page: newest first, or a conversation in order, with its end first.

import { call } from "../app/api.js";
import { exclusive, h, put } from "../app/dom.js";
import { attempt } from "../app/toast.js";
import { card } from "./hit.js";
import { listBody } from "./query.js";

const PAGE = 20;
const PAGE_SAID = 50; // messages are short and are read in sequence

/** Load the first part of a list; returns `{isEmpty, nodes}`: the cards, and a button that loads more. */
export async function storedList(request, of, signal) {
  const isTalk = Boolean(request.session);
  const page = isTalk ? PAGE_SAID : PAGE;
  const list = h("ol", { class: "cards" });
  const more = h("p", { class: "actions" });
  const fetch = (offset) => call("ls", { ...listBody(request), limit: page + 1, offset }, { signal });
  const add = ({ memories }) => {
    const rows = (isTalk ? memories.slice(-page) : memories.slice(0, page)).map((memory) =>
      h("li", {}, card(memory, 0, of)),
    );
    if (isTalk) list.prepend(...rows);
    else list.append(...rows);
    put(more, memories.length > page && h("button", { type: "button", onclick: next }, isTalk ? "Earlier" : "More"));
    return rows;
  };
  const next = exclusive(async () => {
    const answer = await attempt(() => fetch(list.children.length));
    const rows = answer ? add(answer) : [];
    rows.at(isTalk ? -1 : 0)?.firstElementChild.focus(); // the button may have been removed
  });
  const rows = add(await fetch(0));
  return { isEmpty: !rows.length, nodes: isTalk ? [more, list] : [list, more] };
}

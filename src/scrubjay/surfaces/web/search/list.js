// A list of what is stored, a part at a time: newest first, or a conversation as it was said, whose end is shown first.

import { call } from "../app/api.js";
import { exclusive, h, put } from "../app/dom.js";
import { attempt } from "../app/toast.js";
import { card } from "./hit.js";
import { listBody } from "./query.js";

const PAGE = 20;
const PAGE_SAID = 50; // messages are short, and read one after the other

/** Ask for the beginning of a list; gives `{isEmpty, nodes}`: the cards, and a button for more at the end that has more. */
export async function storedList(asked, of, signal) {
  const isTalk = Boolean(asked.session);
  const page = isTalk ? PAGE_SAID : PAGE;
  const list = h("ol", { class: "cards" });
  const more = h("p", { class: "actions" });
  const fetch = (offset) => call("ls", { ...listBody(asked), limit: page + 1, offset }, { signal });
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
    rows.at(isTalk ? -1 : 0)?.firstElementChild.focus(); // the button may be gone
  });
  const rows = add(await fetch(0));
  return { isEmpty: !rows.length, nodes: isTalk ? [more, list] : [list, more] };
}

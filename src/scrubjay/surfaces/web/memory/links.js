// Links of one memory: follow, add and remove them, with Undo.

import { call } from "../app/api.js";
import { exclusive, h } from "../app/dom.js";
import { count, figure } from "../app/format.js";
import { link as address } from "../app/route.js";
import { displayName } from "../app/stored_text.js";
import { attempt, toast } from "../app/toast.js";
import { openConnectDialog } from "./connect.js";

const MOST = 50; // a memory may have thousands of links; the graph shows more
const BY_LIKENESS = "related"; // the kind of links that the store adds automatically

/** Load the links of a memory, strongest first, with the name of each target: `{to, kind, strength, name}`. */
export async function loadLinks({ links }) {
  const shown = links.slice(0, MOST);
  if (!shown.length) return [];
  const { memories } = await call("get_many", { ids: [...new Set(shown.map(({ to }) => to))] });
  const names = new Map(memories.map((memory) => [memory.id, displayName(memory)]));
  return shown.map((link) => ({ ...link, name: names.get(link.to) ?? link.to }));
}

/** Draw links; `of` is `{write, follow(id), changed()}`; `changed` is called after each change and each Undo. */
export function linkList(memory, links, of) {
  if (!links.length && !of.write) return null;
  const left = memory.links.length - links.length;
  return h(
    "section",
    {},
    h("h3", {}, "Links"),
    h(
      "ul",
      { class: "plain links" },
      links.map((link) => row(memory, link, of)),
    ),
    left > 0 && h("p", {}, h("a", { href: address("graph", { id: memory.id }) }, `${count(left)} more in the graph`)),
    of.write &&
      h(
        "p",
        { class: "actions" },
        h("button", { type: "button", onclick: () => connect(memory, of.changed) }, "Link…"),
      ),
  );
}

function row(memory, link, { write, follow, changed }) {
  const away = { type: "button", class: "quiet small", "aria-label": `Unlink ${link.name}, ${link.kind}` };
  return h(
    "li",
    {},
    h("button", { type: "button", class: "linked", dir: "auto", onclick: () => follow(link.to) }, link.name),
    h("span", { class: "hint" }, `${link.kind}, ${figure(link.strength, 2)}`),
    write && h("button", { ...away, onclick: () => unlink(memory, link, changed) }, "Unlink"),
  );
}

const addLink = (a, { to: b, kind, strength }) => call("link", { a, b, kind, strength });
const removeLink = (a, { to: b, kind }) => call("unlink", { a, b, kind });

const connect = exclusive(async ({ id, links }, changed) => {
  const made = await openConnectDialog(id, links);
  if (!made) return;
  const former = links.find(({ to, kind }) => to === made.to && kind === made.kind);
  changed();
  offerUndo(
    former ? "Strength of the link changed." : `Linked to “${made.name}”.`,
    id,
    () => (former ? addLink(id, former) : removeLink(id, made)),
    changed,
  );
});

const unlink = exclusive(async ({ id }, link, changed) => {
  if (!(await attempt(() => removeLink(id, link)))) return;
  changed();
  const lasting = link.kind === BY_LIKENESS ? " They will not be linked by similarity again." : "";
  offerUndo(`Unlinked.${lasting}`, id, () => addLink(id, link), changed);
});

function offerUndo(text, id, back, changed) {
  const act = async () => {
    if (!(await attempt(back))) return;
    toast("Link restored.", { about: `links of ${id}` });
    changed();
  };
  toast(text, { action: "Undo", act, about: `links of ${id}` });
}

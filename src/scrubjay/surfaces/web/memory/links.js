// The links of one memory: followed, made and taken away, with a way back.

import { ask } from "../app/api.js";
import { h } from "../app/dom.js";
import { count, figure } from "../app/format.js";
import { alone } from "../app/once.js";
import { link as address } from "../app/route.js";
import { nameOf } from "../app/stored_text.js";
import { saying, toast } from "../app/toast.js";
import { connection } from "./connect.js";

const MOST = 50; // a memory that everything links to has thousands; the graph shows those
const BY_LIKENESS = "related"; // the kind that the store makes by itself, too

/** Return the links of a memory, strongest first, with what each leads to is called: `{to, kind, strength, name}`. */
export async function linksOf({ links }) {
  const shown = links.slice(0, MOST);
  if (!shown.length) return [];
  const { memories } = await ask("get_many", { ids: [...new Set(shown.map(({ to }) => to))] });
  const names = new Map(memories.map((one) => [one.id, nameOf(one)]));
  return shown.map((one) => ({ ...one, name: names.get(one.to) ?? one.to }));
}

/** Draw them; `of` is `{write, follow(id), changed()}`, where `changed` is called after each change and its undoing. */
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
      links.map((one) => row(memory, one, of)),
    ),
    left > 0 && h("p", {}, h("a", { href: address("graph", { id: memory.id }) }, `${count(left)} more in the graph`)),
    of.write &&
      h(
        "p",
        { class: "actions" },
        h("button", { type: "button", onclick: () => connect(memory, of.changed) }, "Connect…"),
      ),
  );
}

function row(memory, one, { write, follow, changed }) {
  const away = { type: "button", class: "quiet small", "aria-label": `Unlink ${one.name}, ${one.kind}` };
  return h(
    "li",
    {},
    h("button", { type: "button", class: "linked", dir: "auto", onclick: () => follow(one.to) }, one.name),
    h("span", { class: "hint" }, `${one.kind}, ${figure(one.strength, 2)}`),
    write && h("button", { ...away, onclick: () => part(memory, one, changed) }, "Unlink"),
  );
}

const tie = (a, { to: b, kind, strength }) => ask("link", { a, b, kind, strength });
const untie = (a, { to: b, kind }) => ask("unlink", { a, b, kind });

const connect = alone(async ({ id, links }, changed) => {
  const made = await connection(id, links);
  if (!made) return;
  const former = links.find(({ to, kind }) => to === made.to && kind === made.kind);
  changed();
  offerUndo(
    former ? "The link has another strength now." : `Connected with “${made.name}”.`,
    id,
    () => (former ? tie(id, former) : untie(id, made)),
    changed,
  );
});

const part = alone(async ({ id }, one, changed) => {
  if (!(await saying(() => untie(id, one)))) return;
  changed();
  const lasting = one.kind === BY_LIKENESS ? " They are not linked by likeness again, either." : "";
  offerUndo(`Unlinked.${lasting}`, id, () => tie(id, one), changed);
});

function offerUndo(text, id, back, changed) {
  const act = async () => {
    if (!(await saying(back))) return;
    toast("Linked as before.", { about: `links of ${id}` });
    changed();
  };
  toast(text, { action: "Undo", act, about: `links of ${id}` });
}

// The form of a memory, new or old. What is typed is kept in the tab until it is stored or thrown away.

import { ask } from "../app/api.js";
import { confirmed, opened } from "../app/dialog.js";
import { h, put } from "../app/dom.js";
import { who } from "../app/login.js";
import { alone } from "../app/once.js";
import { toast } from "../app/toast.js";
import { changesOf, controlOf, FIELDS, valuesOf } from "./fields.js";
import { fieldOrText } from "./large_text.js";
import { tellAdded, tellEdited } from "./notice.js";

const DRAFT = "scrubjay.draft.";
const NOTHING = { types: [], collections: [], namespaces: [] };

/** Let somebody write a memory; gives what was stored, or undefined. */
export function added() {
  return filledIn(
    "New memory",
    null,
    "",
    (changes) => ask("add", { type: "fact", ...changes }),
    (_, result) => tellAdded(result),
  );
}

/** Let somebody change a memory; gives it as it is then, or undefined. `undone` is called if they put it back after. */
export function edited(memory, undone = () => {}) {
  const store = (changes) => ask("update", { id: memory.id, ...changes });
  return filledIn("Edit", memory, memory.id, store, (changes, result) => tellEdited(memory, changes, result, undone));
}

const filledIn = alone(async (title, memory, id, store, tell) => {
  const [known, draft] = await Promise.all([words(), draftOf(id)]);
  const result = await opened(title, (body, close) => formIn(body, close, { memory, known, draft, store }), {
    wide: true,
  });
  if (result?.stored) {
    draft.drop();
    tell(result.changes, result.stored);
    return result.stored.memory;
  }
  if (result === undefined && draft.read()) toast("Not stored. It is kept as a draft: open the form again to go on.");
  return undefined;
});

function formIn(body, close, { memory, known, draft, store }) {
  const stored = valuesOf(memory);
  const controls = FIELDS.map((field) => controlOf(field, stored[field.name], known));
  const [text] = controls;
  const nodes = (rare) =>
    FIELDS.flatMap((field, at) => (at > 0 && Boolean(field.rare) === rare ? [controls[at].node] : []));
  const values = () => Object.fromEntries(controls.map(({ name, input }) => [name, input.value]));
  const before = values(); // as the browser has them, which ends each line its own way
  const kept = draft.read();
  for (const { name, input } of controls) input.value = kept?.[name] ?? before[name];
  const isChanged = () => Object.keys(changesOf(values(), before)).length > 0;
  const more = h(
    "details",
    { open: FIELDS.some(({ name, rare }) => rare && kept?.[name]) },
    h("summary", {}, "More"),
    h("div", { class: "field-columns" }, nodes(true)),
  );
  const said = h("p", { class: "said bad", role: "alert", hidden: true });
  const submit = h("button", { type: "submit", class: "main", title: "Ctrl+Enter" }, "Store");
  const writing = kept || !memory ? text.node : fieldOrText(text, memory.text);
  const form = h(
    "form",
    { class: "edit", novalidate: true },
    kept &&
      restored(() => {
        draft.drop();
        put(body);
        formIn(body, close, { memory, known, draft, store });
      }),
    memory?.type === "document" &&
      h(
        "p",
        { class: "said" },
        "This is read from a file, which stays as it is. When the file changes, it is read anew and replaces what you store here.",
      ),
    writing,
    h("div", { class: "field-columns" }, nodes(false)),
    more,
    said,
    h(
      "p",
      { class: "actions" },
      submit,
      h("button", { type: "button", onclick: leave }, "Cancel"),
      h("span", { class: "hint by-keys" }, "Ctrl+Enter stores"),
    ),
  );
  async function leave() {
    if (isChanged() && !(await confirmed("Throw away what you wrote?", "Throw away"))) return;
    draft.drop();
    close("left");
  }
  async function send(event) {
    event.preventDefault();
    submit.disabled = true;
    try {
      const changes = changesOf(values(), before);
      close({ changes, stored: await store(changes) });
    } catch (error) {
      if (!error.kind) throw error;
      refuse(error);
    } finally {
      submit.disabled = false;
    }
  }
  function refuse({ kind, detail }) {
    put(said, kind === "away" ? "The server does not answer. What you wrote stays here." : detail);
    said.hidden = false;
    const named = controls.find(({ name }) => new RegExp(`\\b${name}\\b`).test(detail));
    for (const { input } of controls) input.toggleAttribute("aria-invalid", input === named?.input);
    if (named && more.contains(named.input)) more.open = true;
    (named?.input ?? submit).focus();
  }
  form.addEventListener("submit", send);
  form.addEventListener("input", () => draft.write(isChanged() ? values() : null));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  put(body, form);
  const first = writing === text.node ? text.input : controls[1].input;
  first.autofocus = true; // the dialog looks for it when it is shown
  first.focus(); // and this is for when it is shown already
}

function restored(discard) {
  return h(
    "p",
    { class: "said" },
    "What you had written and not stored is here again. ",
    h("button", { type: "button", onclick: discard }, "Start over"),
  );
}

/** What is typed, kept in this tab for who typed it: a reload, or a dialog closed too soon, loses nothing. */
async function draftOf(id) {
  const { name, tenant, user } = await who();
  const key = DRAFT + JSON.stringify([tenant, user, name, id]);
  const drop = () => sessionStorage.removeItem(key);
  return {
    read: () => JSON.parse(sessionStorage.getItem(key) ?? "null"),
    drop,
    write: (values) => {
      if (!values) return drop();
      try {
        sessionStorage.setItem(key, JSON.stringify(values));
      } catch (error) {
        if (error.name !== "QuotaExceededError") throw error; // a text of megabytes has no room there
      }
    },
  };
}

async function words() {
  try {
    const { types, collections, namespaces } = await ask("status");
    return { types: Object.keys(types), collections: Object.keys(collections), namespaces: Object.keys(namespaces) };
  } catch (error) {
    if (!error.kind) throw error;
    return NOTHING; // the form says it when it cannot store, either
  }
}

// Dialog that adds or edits a memory. Typed text is stored as a draft in the tab until it is saved or discarded.

import { call } from "../app/api.js";
import { confirm, openDialog } from "../app/dialog.js";
import { exclusive, h, put } from "../app/dom.js";
import { currentLogin } from "../app/login.js";
import { toast } from "../app/toast.js";
import { changedValues, FIELDS, formValues, makeControl } from "./fields.js";
import { fieldOrPreview } from "./large_text.js";
import { notifyAdded, notifyEdited } from "./notice.js";

const DRAFT = "scrubjay.draft.";
const NO_SUGGESTIONS = { types: [], collections: [], namespaces: [] };

/** Open the form for a new memory; returns the stored memory, or undefined. */
export function openAddDialog() {
  return openForm(
    "New memory",
    null,
    "",
    (changes) => call("add", { type: "fact", ...changes }),
    (_, result) => notifyAdded(result),
  );
}

/** Open the form for a memory; returns the changed memory, or undefined. Calls `undone` after an Undo. */
export function openEditDialog(memory, undone = () => {}) {
  const store = (changes) => call("update", { id: memory.id, ...changes });
  return openForm("Edit", memory, memory.id, store, (changes, result) => notifyEdited(memory, changes, result, undone));
}

const openForm = exclusive(async (title, memory, id, store, tell) => {
  const [known, draft] = await Promise.all([loadSuggestions(), draftStore(id)]);
  const result = await openDialog(title, (body, close) => drawForm(body, close, { memory, known, draft, store }), {
    wide: true,
  });
  if (result?.stored) {
    draft.drop();
    tell(result.changes, result.stored);
    return result.stored.memory;
  }
  if (result === undefined && draft.read()) toast("Not stored. The draft is kept: open the form again to continue.");
  return undefined;
});

function drawForm(body, close, { memory, known, draft, store }) {
  const stored = formValues(memory);
  const controls = FIELDS.map((field) => makeControl(field, stored[field.name], known));
  const [text] = controls;
  const nodes = (rare) =>
    FIELDS.flatMap((field, at) => (at > 0 && Boolean(field.rare) === rare ? [controls[at].node] : []));
  const values = () => Object.fromEntries(controls.map(({ name, input }) => [name, input.value]));
  const before = values(); // as the browser reports them: it normalizes line ends
  const draftValues = draft.read();
  for (const { name, input } of controls) input.value = draftValues?.[name] ?? before[name];
  const isChanged = () => Object.keys(changedValues(values(), before)).length > 0;
  const more = h(
    "details",
    { open: FIELDS.some(({ name, rare }) => rare && draftValues?.[name]) },
    h("summary", {}, "More"),
    h("div", { class: "field-columns" }, nodes(true)),
  );
  const message = h("p", { class: "notice bad", role: "alert", hidden: true });
  const submit = h("button", { type: "submit", class: "main", title: "Ctrl+Enter" }, "Store");
  const writing = draftValues || !memory ? text.node : fieldOrPreview(text, memory.text);
  const form = h(
    "form",
    { class: "edit", novalidate: true },
    draftValues &&
      draftNotice(() => {
        draft.drop();
        put(body);
        drawForm(body, close, { memory, known, draft, store });
      }),
    memory?.type === "document" &&
      h(
        "p",
        { class: "notice" },
        "This text comes from a file, which is not changed. When the file changes, the next ingest replaces what you store here.",
      ),
    writing,
    h("div", { class: "field-columns" }, nodes(false)),
    more,
    message,
    h(
      "p",
      { class: "actions" },
      submit,
      h("button", { type: "button", onclick: leave }, "Cancel"),
      h("span", { class: "hint by-keys" }, "Ctrl+Enter stores"),
    ),
  );
  async function leave() {
    if (isChanged() && !(await confirm("Discard your changes?", "Discard"))) return;
    draft.drop();
    close("left");
  }
  async function send(event) {
    event.preventDefault();
    submit.disabled = true;
    try {
      const changes = changedValues(values(), before);
      close({ changes, stored: await store(changes) });
    } catch (error) {
      if (!error.kind) throw error;
      refuse(error);
    } finally {
      submit.disabled = false;
    }
  }
  function refuse({ kind, detail }) {
    put(message, kind === "away" ? "The server does not answer. Your text is kept as a draft." : detail);
    message.hidden = false;
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
  first.autofocus = true; // for a dialog that is not open yet
  first.focus(); // for one that is open already
}

function draftNotice(discard) {
  return h(
    "p",
    { class: "notice" },
    "Your draft was restored. ",
    h("button", { type: "button", onclick: discard }, "Start over"),
  );
}

/** Draft of one memory, stored per tab and user: it survives a reload and a dialog closed by accident. */
async function draftStore(id) {
  const { name, tenant, user } = await currentLogin();
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
        if (error.name !== "QuotaExceededError") throw error; // the text exceeds the browser's quota
      }
    },
  };
}

async function loadSuggestions() {
  try {
    const { types, collections, namespaces } = await call("status");
    return { types: Object.keys(types), collections: Object.keys(collections), namespaces: Object.keys(namespaces) };
  } catch (error) {
    if (!error.kind) throw error;
    return NO_SUGGESTIONS; // the form reports the error on submit
  }
}

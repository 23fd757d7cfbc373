// Input fields of the filters, with stored values as suggestions; Enter adds a value to a filter that takes several.

import { call } from "../app/api.js";
import { h, put, uniqueId } from "../app/dom.js";
import { splitSettings } from "../app/settings.js";
import { attempt } from "../app/toast.js";
import { FILTERS } from "./query.js";

const MOST = 500; // names that a list offers

/** Make the fields: `{nodes, read(), write(request), offer()}`. The form shows the values of filters that take several as chips. */
export function filterFields() {
  const fields = FILTERS.map(fieldOf);
  return {
    nodes: fields.map(({ node }) => node),
    read: () => Object.fromEntries(fields.map(({ name, get }) => [name, get()])),
    write: (request) => {
      for (const { name, set } of fields) set(request[name]);
    },
    offer: () => attempt(() => loadSuggestions(fields)),
  };
}

/** @param {import("./query.js").Filter} filter */
function fieldOf({ name, label, several, type = "text", hint }) {
  const id = uniqueId(name);
  const list = h("datalist", { id: uniqueId("known") });
  const isNumber = type === "number";
  const field = h("input", {
    id,
    type,
    dir: "auto",
    autocomplete: "off",
    placeholder: hint ?? (several ? "Enter adds one" : null),
    list: type === "text" ? list.id : null,
    step: isNumber ? "any" : null,
    min: isNumber ? 0 : null,
  });
  let before = []; // values of a filter that takes several
  const split = name === "overrides" ? splitSettings : (text) => [text.trim()].filter(Boolean); // a topic may have a comma
  return {
    name,
    node: h("label", { class: "field", for: id }, label, field, list),
    get: () => (several ? [...new Set([...before, ...split(field.value)])] : field.value.trim()),
    set: (value) => {
      if (!several) {
        if (document.activeElement !== field || field.value.trim() !== value) field.value = value;
        return;
      }
      before = value;
      if (split(field.value).every((item) => value.includes(item))) field.value = ""; // it is a chip now
    },
    know: (names) =>
      put(
        list,
        names.map((item) => h("option", { value: item })),
      ),
  };
}

/** Load stored values as suggestions. Settings of stages have none here: they belong to the profile. */
async function loadSuggestions(fields) {
  const [status, { topics }, { sessions }] = await Promise.all([
    call("status"),
    call("topics", { limit: MOST }),
    call("sessions", { limit: MOST }),
  ]);
  const known = {
    types: Object.keys(status.types),
    topics: topics.map(({ topic }) => topic),
    collection: Object.keys(status.collections),
    namespace: Object.keys(status.namespaces),
    session: sessions.map(({ session }) => session),
    owner: [...new Set(sessions.flatMap(({ owners }) => owners))],
  };
  for (const { name, know } of fields) know(known[name] ?? []);
}

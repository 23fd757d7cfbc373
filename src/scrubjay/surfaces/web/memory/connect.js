// Dialog that links a memory to another.

import { call } from "../app/api.js";
import { openDialog } from "../app/dialog.js";
import { h, put, uniqueId } from "../app/dom.js";
import { link as address } from "../app/route.js";
import { displayName } from "../app/stored_text.js";
import { finder } from "./finder.js";

const KINDS = ["related", "supersedes", "superseded by"]; // suggestions; any other word is valid, too

/** Open the dialog; returns `{to, kind, strength, name}` of the new link, or undefined. */
export function openConnectDialog(id, links) {
  return openDialog("Link to another memory", (body, close) => {
    let other = null;
    const list = uniqueId("kinds");
    const kind = h("input", { list, value: KINDS[0], autocomplete: "off", autocapitalize: "none" });
    const strength = h("input", { type: "number", min: "0.05", max: "1", step: "0.05", value: "1" });
    const chosen = h("p", { class: "chosen", role: "status" });
    const message = h("p", { class: "notice bad", role: "alert", hidden: true });
    const submit = h("button", { type: "submit", class: "main", disabled: true }, "Link");
    const find = finder("Find the other memory", (otherId) => address("search", { id: otherId }), choose);
    find.box.autofocus = true;

    function choose(hit) {
      other = hit.id === id ? null : hit;
      put(
        chosen,
        other
          ? ["Link to: ", h("strong", { dir: "auto" }, displayName(hit))]
          : "A memory cannot be linked to itself: choose another.",
      );
      submit.disabled = !other;
      (other ? kind : find.box).focus();
    }
    async function send(event) {
      event.preventDefault();
      const made = { to: other.id, kind: kind.value.trim(), strength: Number(strength.value) };
      submit.disabled = true;
      try {
        await call("link", { a: id, b: made.to, kind: made.kind, strength: made.strength });
        close({ ...made, name: displayName(other) });
      } catch (error) {
        if (!error.kind) throw error;
        put(message, error.detail);
        message.hidden = false;
      } finally {
        submit.disabled = false;
      }
    }
    body.append(
      h(
        "form",
        { class: "connect", novalidate: true, onsubmit: send },
        find.node,
        chosen,
        h("label", { class: "field" }, "Kind of link, seen from this memory", kind),
        h(
          "datalist",
          { id: list },
          [...new Set([...KINDS, ...links.map((link) => link.kind)])].map((linkKind) =>
            h("option", { value: linkKind }),
          ),
        ),
        h("label", { class: "field" }, "Strength, greater than 0, maximum 1", strength),
        message,
        h("p", { class: "actions" }, submit, h("button", { type: "button", onclick: () => close() }, "Cancel")),
      ),
    );
  });
}

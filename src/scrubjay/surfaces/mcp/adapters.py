"""Verbs that tools offer in another form: one tool stores one or many, and nothing is replaced by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import Given
from scrubjay.surfaces.verbs.kinds import NON_EMPTY
from scrubjay.surfaces.verbs.table import VERBS

if TYPE_CHECKING:
    from scrubjay.store import Store


def _store(store: Store, given: Given) -> Json:
    """Remember one text with its fields, or several at once, each with its own."""
    if "memories" not in given:
        if "text" not in given:
            raise InvalidInput("memory_store needs text, or several as memories")
        _refuse_to_replace(store, [given])
        return VERBS["add"].call(store, given)
    if others := [name for name in given if name != "memories"]:
        raise InvalidInput(f"{others[0]} goes into each of memories, or without memories")
    _refuse_to_replace(store, given["memories"])
    return VERBS["add_many"].call(store, given)


def _refuse_to_replace(store: Store, drafts: Sequence[Given]) -> None:
    """Keep what is stored from being overwritten by a tool that is said only to add."""
    for one in drafts:
        if "id" in one and store.holds(one["id"].strip()):
            raise InvalidInput(
                f"a memory has the id {one['id']!r} already; memory_update changes it, and without an id"
                " this one gets its own; nothing was stored"
            )


_ADD, _ADD_MANY = VERBS["add"], VERBS["add_many"]
_SAID = _ADD.params[0]
_TEXT = _SAID._replace(
    kind=_SAID.kind._replace(right=f"{NON_EMPTY.right}; several go into memories")
)
STORE = _ADD._replace(
    params=(
        *(one._replace(required=False) for one in (_TEXT, *_ADD.params[1:])),
        _ADD_MANY.params[0]._replace(required=False),
    ),
    run=_store,
    aliases={**_ADD_MANY.aliases, **_ADD.aliases},
)


def _forget(store: Store, given: Given) -> Json:
    return VERBS["forget"].call(store, {"id": given["ids"]})


_FORGET = VERBS["forget"]
FORGET = _FORGET._replace(
    params=(_FORGET.params[0]._replace(name="ids"),),
    run=_forget,
    aliases={**dict.fromkeys(_FORGET.aliases, "ids"), "id": "ids"},
)

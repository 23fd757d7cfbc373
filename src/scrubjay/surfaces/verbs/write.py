"""The verbs of writing: remember, change, mark, connect, forget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs import WRITE, Given, Param, Verb, schema_of
from scrubjay.surfaces.verbs.fields import (
    ADD_ALIASES,
    ADD_PARAMS,
    FIELDS,
    ID,
    LINK_PARAMS,
    THE_ID,
    THE_TEXT,
    changeable,
    inside,
)
from scrubjay.surfaces.verbs.kinds import MOST_IDS, NAME, SAID, TEXT, objects, texts

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

MOST_ENTRIES = 10_000


def add(store: Store, given: Given) -> Json:
    """Remember a text; it is durable when this returns, and nobody waits for its vectors."""
    from scrubjay.surfaces.render.json_memories import added

    kept = store.add_many([given])
    return added(kept[0], store.unembedded(), store.why_unembedded(), kept.known)


def add_many(store: Store, given: Given) -> Json:
    """Remember many texts, all of them checked before the first is stored."""
    from scrubjay.surfaces.render.json_memories import added_many

    memories = store.add_many(given["memories"])
    return added_many(memories, store.unembedded(), store.why_unembedded())


def update(store: Store, given: Given) -> Json:
    """Change fields of a memory; an empty text takes a field away, as at the shell."""
    from scrubjay.surfaces.render.json_memories import added

    changes = {
        name: None if value == "" else value for name, value in given.items() if name != "id"
    }
    if not changes:
        raise InvalidInput("nothing to change was given; name it, such as text or valid_until")
    for name in ("text", "type"):
        if name in changes and changes[name] is None:
            raise InvalidInput(f"{name} is empty; every memory has one")
    memory = store.update(given["id"], **changes)
    return added(memory, store.unembedded(), store.why_unembedded())


def forget(store: Store, given: Given) -> Json:
    """Forget memories by id; one that is not there is named, and is gone as it was asked to be."""
    from scrubjay.surfaces.render.json_memories import forgotten

    ids = list(dict.fromkeys(given["id"]))
    found = store.get_many(ids)
    known = [one.id for one in found]
    drawn = store.only_of(known)
    count = store.forget(known)
    return forgotten(found, drawn, found.missing, count, done=True)


def done(store: Store, given: Given) -> Json:
    """Mark a memory as done."""
    from scrubjay.surfaces.render.json_memories import marked

    return marked([store.get(given["id"])], [store.done(given["id"])], ())


def undone(store: Store, given: Given) -> Json:
    """Take the mark away."""
    from scrubjay.surfaces.render.json_memories import marked

    return marked([store.get(given["id"])], [store.undone(given["id"])], ())


def link(store: Store, given: Given) -> Json:
    """Connect two memories."""
    from scrubjay.surfaces.render.json_memories import linked

    store.link(**given)
    return linked(given["a"], given["b"], "linked")


def unlink(store: Store, given: Given) -> Json:
    """Take a connection away."""
    from scrubjay.surfaces.render.json_memories import linked

    store.unlink(**given)
    return linked(given["a"], given["b"], "unlinked")


def _entries(name: str, value: list[Any]) -> list[dict[str, Any]]:
    return [
        inside(
            f"{name}[{n}]", ADD_PARAMS, ADD_ALIASES, {"text": one} if isinstance(one, str) else one
        )
        for n, one in enumerate(value)
    ]


_ONE_OR_MANY = texts(NAME, 1, MOST_IDS, "an id, or a list of ids", between="")
_ONE_OR_MANY = _ONE_OR_MANY._replace(
    schema={"anyOf": [NAME.schema, _ONE_OR_MANY.schema]}, listed=_ONE_OR_MANY.listed
)
_ENDS = (
    Param("a", NAME, "the id of a memory", required=True),
    Param("b", NAME, "the id of the other", required=True),
)
_ENDS_ALIASES = {"id": "a", "other": "b", "from": "a", "to": "b", "source": "a", "target": "b"}

ADD = Verb(
    "add",
    "Remember a text; it is durable and found by word when this answers.",
    WRITE,
    ADD_PARAMS,
    "added",
    add,
    ADD_ALIASES,
)
_ENTRIES = objects("objects with the fields of add", schema_of(ADD_PARAMS), MOST_ENTRIES, _entries)
_ENTRIES = _ENTRIES._replace(
    right=f"a list of at most {MOST_ENTRIES} texts, or objects with the fields of add",
    schema={**_ENTRIES.schema, "items": {"anyOf": [SAID.schema, schema_of(ADD_PARAMS)]}},
    accepts=lambda value: (
        isinstance(value, list)
        and 1 <= len(value) <= MOST_ENTRIES
        and all(isinstance(one, str | Mapping) for one in value)
    ),
)
ADD_MANY = Verb(
    "add_many",
    "Remember many texts; they are checked before any is stored.",
    WRITE,
    (
        Param(
            "memories",
            _ENTRIES,
            "texts, or objects with the fields of add",
            required=True,
        ),
    ),
    "added_many",
    add_many,
    {"entries": "memories", "items": "memories", "texts": "memories"},
)
UPDATE = Verb(
    "update",
    "Change fields of a memory; the rest stays, and an empty text takes a field away.",
    WRITE,
    (THE_ID, *map(changeable, (THE_TEXT._replace(kind=TEXT, required=False), *FIELDS))),
    "added",
    update,
    ADD_ALIASES,
)
FORGET = Verb(
    "forget",
    "Remove memories for good, with their vectors, links and copies.",
    WRITE,
    (Param("id", _ONE_OR_MANY, "an id, or a list of ids", required=True),),
    "forgotten",
    forget,
    ID | {"ids": "id", "memory_ids": "id"},
)
DONE = Verb("done", "Mark a memory as done.", WRITE, (THE_ID,), "marked", done, ID)
UNDONE = Verb("undone", "Take the mark away.", WRITE, (THE_ID,), "marked", undone, ID)
LINK = Verb(
    "link",
    "Connect two memories.",
    WRITE,
    (*_ENDS, *LINK_PARAMS[1:]),
    "links",
    link,
    _ENDS_ALIASES | {"weight": "strength", "relation": "kind", "type": "kind"},
)
UNLINK = Verb(
    "unlink",
    "Take the connection of two memories away.",
    WRITE,
    (*_ENDS, Param("kind", NAME, "only of this kind; all by itself")),
    "links",
    unlink,
    _ENDS_ALIASES | {"relation": "kind", "type": "kind"},
)

"""The verbs of writing: remember, change, mark, connect, forget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs import WRITE, Given, Param, Verb, checked, schema_of
from scrubjay.surfaces.verbs.finding import WHERE
from scrubjay.surfaces.verbs.kinds import (
    MAPPING,
    MOST_IDS,
    MOST_NAMES,
    NAME,
    NAME_OR_NOTHING,
    SAID,
    TEXT,
    TEXTS,
    TIME,
    TIME_OR_NOTHING,
    Kind,
    choice,
    from_json,
    number,
    objects,
    texts,
)
from scrubjay.types import SEVERITIES

if TYPE_CHECKING:
    from scrubjay.service import Store
    from scrubjay.surfaces.shapes import Json

MOST_ENTRIES = 10_000
ID = {"memory_id": "id", "docid": "id", "uuid": "id"}
_STRENGTH = number(
    "a number above 0 and at most 1",
    {"exclusiveMinimum": 0, "maximum": 1},
    lambda value: 0 < value <= 1,
)
_LINK = (
    Param("to", NAME, "the id of a memory", required=True),
    Param("strength", _STRENGTH, "above 0 and at most 1 (1)"),
    Param("kind", NAME, "what connects them (related)"),
)


_LINK_ALIASES = {"id": "to", "memory_id": "to", "target": "to", "weight": "strength"} | {
    "relation": "kind",
    "type": "kind",
}


def _links(name: str, value: list[Any]) -> list[Any]:
    """Return links as the store takes them: ids, or objects that were looked into."""
    return [
        NAME.take(f"{name}[{n}]", one)
        if isinstance(one, str)
        else _inside(f"{name}[{n}]", _LINK, _LINK_ALIASES, one)
        for n, one in enumerate(value)
    ]


_LINKS = Kind(
    f"a list of at most {MOST_NAMES} ids, or of objects such as {{'to': ID, 'strength': 0.5}}",
    {
        "type": "array",
        "maxItems": MOST_NAMES,
        "items": {"anyOf": [NAME.schema, schema_of(_LINK)]},
    },
    lambda value: (
        isinstance(value, list)
        and len(value) <= MOST_NAMES
        and all(isinstance(one, str | Mapping) for one in value)
    ),
    from_json,
    made=_links,
)
_ONE_TEXT = SAID._replace(right=f"{SAID.right}; several go into add_many, as memories")
_TEXT = Param("text", _ONE_TEXT, "what to remember, kept as it is given", required=True)
_FIELDS = (
    Param("title", TEXT, "a heading"),
    Param("type", NAME, "what it is: fact, preference, decision, task, … (fact)"),
    Param("topics", TEXTS, "words to find it by"),
    Param("namespace", NAME, "where it belongs, such as project/notes"),
    Param("collection", NAME, "of which collection; one that is shared is read by its people"),
    Param("session", NAME, "in which conversation it came up"),
    Param("role", NAME, "who said it, as in chats"),
    Param("owner", NAME, "whose it is"),
    Param("agent", NAME, "of which agent"),
    Param("severity", choice(*SEVERITIES), "how much it matters"),
    Param("domain", NAME, "the field it is of"),
    Param("context", TEXT, "what helps to understand it"),
    Param("created_at", TIME, "when it was written (now)"),
    Param("updated_at", TIME, "when it was last changed"),
    Param("event_time", TIME, "when what it speaks of happened, or begins"),
    Param("event_until", TIME, "when that is over"),
    Param("valid_from", TIME, "not found before"),
    Param("valid_until", TIME, "no longer found after"),
    Param("source", TEXT, "where it is from"),
    Param("metadata", MAPPING, "anything else, kept as it is"),
    Param("links", _LINKS, "ids of memories to connect it with"),
)
ADD_PARAMS = (
    _TEXT,
    Param("id", NAME, "replaces what has this id; made from the text by itself"),
    *_FIELDS,
)
ADD_ALIASES = (
    WHERE
    | ID
    | {"content": "text", "memory": "text", "data": "text", "note": "text", "body": "text"}
    | {"tags": "topics", "tag": "topics", "topic": "topics", "categories": "topics"}
    | {"category": "topics"}
    | {"memory_type": "type", "kind": "type", "timestamp": "created_at"}
    | {"expires_at": "valid_until", "expiration_date": "valid_until", "url": "source"}
)


def _inside(
    place: str, params: tuple[Param, ...], aliases: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Check one object of a list, and say in which place something is wrong."""
    try:
        return checked("it", params, aliases, given)
    except InvalidInput as wrong:
        raise InvalidInput(f"{place}: {wrong}; nothing was stored") from wrong


def add(store: Store, given: Given) -> Json:
    """Remember a text; it is durable when this returns, and nobody waits for its vectors."""
    from scrubjay.surfaces.shapes_stored import added

    kept = store.add_many([given])
    return added(kept[0], store.unembedded(), store.why_unembedded(), kept.known)


def add_many(store: Store, given: Given) -> Json:
    """Remember many texts, all of them checked before the first is stored."""
    from scrubjay.surfaces.shapes_stored import added_many

    memories = store.add_many(given["memories"])
    return added_many(memories, store.unembedded(), store.why_unembedded())


def update(store: Store, given: Given) -> Json:
    """Change fields of a memory; an empty text takes a field away, as at the shell."""
    from scrubjay.surfaces.shapes_stored import added

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
    from scrubjay.surfaces.shapes_stored import forgotten

    ids = list(dict.fromkeys(given["id"]))
    found = store.get_many(ids)
    known = [one.id for one in found]
    drawn = store.only_of(known)
    count = store.forget(known)
    return forgotten(found, drawn, found.missing, count, done=True)


def done(store: Store, given: Given) -> Json:
    """Mark a memory as done."""
    from scrubjay.surfaces.shapes_stored import marked

    return marked([store.get(given["id"])], [store.done(given["id"])], ())


def undone(store: Store, given: Given) -> Json:
    """Take the mark away."""
    from scrubjay.surfaces.shapes_stored import marked

    return marked([store.get(given["id"])], [store.undone(given["id"])], ())


def link(store: Store, given: Given) -> Json:
    """Connect two memories."""
    from scrubjay.surfaces.shapes_stored import linked

    store.link(**given)
    return linked(given["a"], given["b"], "linked")


def unlink(store: Store, given: Given) -> Json:
    """Take a connection away."""
    from scrubjay.surfaces.shapes_stored import linked

    store.unlink(**given)
    return linked(given["a"], given["b"], "unlinked")


def _entries(name: str, value: list[Any]) -> list[dict[str, Any]]:
    return [
        _inside(
            f"{name}[{n}]", ADD_PARAMS, ADD_ALIASES, {"text": one} if isinstance(one, str) else one
        )
        for n, one in enumerate(value)
    ]


def _changeable(field: Param) -> Param:
    """Return a field as `update` takes it, where an empty text takes it away."""
    if field.name == "severity":
        return field._replace(kind=choice(*SEVERITIES, ""))
    if field.kind is NAME or field.kind is TIME:
        return field._replace(kind=NAME_OR_NOTHING if field.kind is NAME else TIME_OR_NOTHING)
    return field


THE_ID = Param("id", NAME, "the id of a memory", required=True)
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
    (THE_ID, *map(_changeable, (_TEXT._replace(kind=TEXT, required=False), *_FIELDS))),
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
    (*_ENDS, *_LINK[1:]),
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

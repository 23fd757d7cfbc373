"""The fields of a memory as a verb takes them: to remember one, or to change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs import Param, checked, schema_of
from scrubjay.surfaces.verbs.kinds import (
    MAPPING,
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
)
from scrubjay.surfaces.verbs.search import WHERE
from scrubjay.types import SEVERITIES

ID = {"memory_id": "id", "docid": "id", "uuid": "id"}
THE_ID = Param("id", NAME, "the id of a memory", required=True)
_STRENGTH = number(
    "a number above 0 and at most 1",
    {"exclusiveMinimum": 0, "maximum": 1},
    lambda value: 0 < value <= 1,
)
LINK_PARAMS = (
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
        else inside(f"{name}[{n}]", LINK_PARAMS, _LINK_ALIASES, one)
        for n, one in enumerate(value)
    ]


_LINKS = Kind(
    f"a list of at most {MOST_NAMES} ids, or of objects such as {{'to': ID, 'strength': 0.5}}",
    {
        "type": "array",
        "maxItems": MOST_NAMES,
        "items": {"anyOf": [NAME.schema, schema_of(LINK_PARAMS)]},
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
THE_TEXT = Param("text", _ONE_TEXT, "what to remember, kept as it is given", required=True)
FIELDS = (
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
    THE_TEXT,
    Param("id", NAME, "replaces what has this id; made from the text by itself"),
    *FIELDS,
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


def inside(
    place: str, params: tuple[Param, ...], aliases: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Check one object of a list, and say in which place something is wrong."""
    try:
        return checked("it", params, aliases, given)
    except InvalidInput as wrong:
        raise InvalidInput(f"{place}: {wrong}; nothing was stored") from wrong


def changeable(field: Param) -> Param:
    """Return a field as `update` takes it, where an empty text takes it away."""
    if field.name == "severity":
        return field._replace(kind=choice(*SEVERITIES, ""))
    if field.kind is NAME or field.kind is TIME:
        return field._replace(kind=NAME_OR_NOTHING if field.kind is NAME else TIME_OR_NOTHING)
    return field

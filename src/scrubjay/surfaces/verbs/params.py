"""Parameters that several verbs share: the filters of a search, ids, pages, and the fields of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs import Param, checked, schema_of
from scrubjay.surfaces.verbs.kinds import (
    BOUND,
    FLAG,
    LIMIT,
    MAPPING,
    MOST_NAMES,
    NAME,
    NAME_OR_EMPTY,
    NON_EMPTY,
    OFFSET,
    TEXT,
    TEXTS,
    TIME,
    TIME_OR_EMPTY,
    Kind,
    choice,
    number,
    objects,
)
from scrubjay.types import SEVERITIES

# Names that people know from other memory stores.
ID_ALIASES = {"memory_id": "id", "docid": "id", "uuid": "id"}
LIMIT_ALIASES = dict.fromkeys(("k", "top_k", "n", "max_results", "page_size"), "limit")
OWNER_ALIASES = {"user_id": "owner", "user": "owner", "agent_id": "agent", "project": "namespace"}
SESSION_ALIASES = dict.fromkeys(("session_id", "run_id", "thread_id"), "session")
SCOPE_ALIASES = OWNER_ALIASES | SESSION_ALIASES
FILTER_ALIASES = (
    SCOPE_ALIASES
    | {"type": "types", "topic": "topics", "container_tag": "namespace"}
    | {"category": "topics", "categories": "topics"}
    | {"after": "since", "before": "until", "date_from": "since", "date_to": "until"}
    | {"dateStart": "since", "dateEnd": "until", "includeNamespaces": "namespaces"}
)

_FILTERS = {
    param.name: param
    for param in (
        Param("namespace", NAME, "only this namespace; `project/` includes all below it"),
        Param("namespaces", TEXTS, "only these namespaces"),
        Param("collection", NAME, "only this collection"),
        Param("topics", TEXTS, "any of these topics", usage="--topic TOPIC"),
        Param("types", TEXTS, "any of these types, such as fact", usage="--type TYPE"),
        Param("owner", NAME, "only memories of this person", usage="--owner NAME"),
        Param("agent", NAME, "only memories of this agent", usage="--agent NAME"),
        Param(
            "since",
            BOUND,
            "stored or said on or after this: a date, a time, or words such as yesterday",
            usage="--since TIME",
        ),
        Param(
            "until",
            BOUND,
            "stored or said on or before this: a date, a time, or words such as last week",
            usage="--until TIME",
        ),
        Param("session", NAME, "only this session (cognis: this session first)"),
        Param("only_domain", NAME, "only this domain", usage="--only-domain DOMAIN"),
        Param("include_expired", FLAG, "also memories that are not valid now"),
        Param(
            "as_of",
            BOUND,
            "what was stored and valid at this time: a date, a time, or words such as last week",
            usage="--as-of TIME",
        ),
        Param("history", FLAG, "also memories that were superseded, or are not valid now"),
    )
}


FILTER_NAMES = tuple(_FILTERS)


def filters(names: str) -> tuple[Param, ...]:
    return tuple(_FILTERS[name] for name in names.split())


FILTERS = filters("namespace namespaces collection topics types owner agent since until session")
NAMESPACE = _FILTERS["namespace"]
YES = Param("yes", FLAG, "do not ask for confirmation")
NO_EMBED = Param("no_embed", FLAG, "embed later; until then only keyword search finds it")
TIERS = Param(
    "tiers",
    TEXTS,
    "also search this database: agent, project, team, or a vault NAME=FILE@PRIORITY",
    usage="--tier NAME=FILE",
)
SETS = Param(
    "sets", TEXTS, "change a number of a stage, such as rrf.k=30", usage="--set STAGE.NUMBER=VALUE"
)


def limit(default: int | None = None, kind: Kind = LIMIT, help: str = "") -> Param:
    return Param(
        "limit", kind, help or "maximum number of results", default=default, usage="-n --limit N"
    )


SKIP = Param("offset", OFFSET, "number of results to skip", default=0, usage="--offset N")
SKIP_ALIASES = {"skip": "offset"}

THE_ID = Param("id", NAME, "the id of a memory", required=True, usage="id")
PREFIXES = "ids of memories, or the first four or more characters of them"

_STRENGTH = number(
    "a number above 0 and at most 1",
    {"exclusiveMinimum": 0, "maximum": 1},
    lambda value: 0 < value <= 1,
)
LINK_PARAMS = (
    Param("to", NAME, "the id of a memory", required=True),
    Param("strength", _STRENGTH, "above 0 and at most 1", default=1.0, usage="--strength N"),
    Param("kind", NAME, "the kind of the link", default="related"),
)
_LINK_ALIASES = {"id": "to", "memory_id": "to", "target": "to", "weight": "strength"}
_LINK_ALIASES |= {"relation": "kind", "type": "kind"}


def _links(name: str, value: list[Any]) -> list[Any]:
    """Return links as the store takes them: ids, or checked objects."""
    return [
        NAME.take(f"{name}[{n}]", link)
        if isinstance(link, str)
        else checked_item(f"{name}[{n}]", LINK_PARAMS, _LINK_ALIASES, link)
        for n, link in enumerate(value)
    ]


_LINKS = objects(
    "ids, or of objects such as {'to': ID, 'strength': 0.5}",
    schema_of(LINK_PARAMS),
    MOST_NAMES,
    _links,
    least=0,
    or_text=NAME,
)
_ONE_TEXT = NON_EMPTY._replace(right=f"{NON_EMPTY.right}; several go into add_many, as memories")
THE_TEXT = Param("text", _ONE_TEXT, "the text to remember; it is stored unchanged", required=True)
FIELDS = (
    Param("title", TEXT, "a heading"),
    Param("type", NAME, "fact, preference, decision, task, … (default: fact)"),
    Param("topics", TEXTS, "topics to find it by", usage="--topic --tag TOPIC"),
    Param("namespace", NAME, "the namespace to store it in, such as project/notes"),
    Param("collection", NAME, "the collection to store it in; members read a shared one"),
    Param("session", NAME, "the session in which it came up"),
    Param("role", NAME, "who said it, as in chats"),
    Param("owner", NAME, "the person it belongs to"),
    Param("agent", NAME, "the agent it belongs to"),
    Param("severity", choice(*SEVERITIES), "how much it matters", usage="--severity LEVEL"),
    Param("domain", NAME, "the field it belongs to"),
    Param("context", TEXT, "text that helps to understand it"),
    Param("created_at", TIME, "when it was written (default: now)", usage="--at TIME"),
    Param("updated_at", TIME, "when it was last changed"),
    Param("event_time", TIME, "when the event it describes happened or begins"),
    Param("event_until", TIME, "when that event ends"),
    Param("valid_from", TIME, "searches leave it out before", usage="--valid-from TIME"),
    Param("valid_until", TIME, "searches leave it out after", usage="--valid-until TIME"),
    Param("source", TEXT, "where it comes from"),
    Param("metadata", MAPPING, "any other data, stored unchanged"),
    Param("links", _LINKS, "ids of memories to link it with"),
)
ADD_PARAMS = (
    THE_TEXT,
    Param("id", NAME, "replace the memory with this id (default: made from the text)"),
    *FIELDS,
)
ADD_ALIASES = (
    SCOPE_ALIASES
    | ID_ALIASES
    | {"content": "text", "memory": "text", "data": "text", "note": "text", "body": "text"}
    | {"tags": "topics", "tag": "topics", "topic": "topics", "categories": "topics"}
    | {"category": "topics"}
    | {"memory_type": "type", "kind": "type", "timestamp": "created_at"}
    | {"expires_at": "valid_until", "expiration_date": "valid_until", "url": "source"}
)


def fields(names: str) -> tuple[Param, ...]:
    known = {param.name: param for param in ADD_PARAMS}
    return tuple(known[name] for name in names.split())


def checked_item(
    place: str, params: tuple[Param, ...], aliases: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Check one object of a list; an error names its place."""
    try:
        return checked("it", params, aliases, given)
    except InvalidInput as wrong:
        raise InvalidInput(f"{place}: {wrong}; nothing was stored") from wrong


def changeable(field: Param) -> Param:
    """Return a field as `update` takes it, where an empty text removes the value."""
    field = field._replace(default=None)
    if field.name == "severity":
        return field._replace(kind=choice(*SEVERITIES, ""))
    if field.kind is NAME or field.kind is TIME:
        return field._replace(kind=NAME_OR_EMPTY if field.kind is NAME else TIME_OR_EMPTY)
    return field

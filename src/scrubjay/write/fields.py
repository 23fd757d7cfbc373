"""Fields of a memory: validate and normalise what a caller gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.storage.sql.scope import PRIVATE_PREFIXES
from scrubjay.text.analysis import fold_label, hash_of, normalize
from scrubjay.text.validation import MAX_NAME_CHARS, check_name, check_text
from scrubjay.times import parse, parse_zoned
from scrubjay.types import DONE_SUFFIX, SEVERITIES, Link, Memory
from scrubjay.types.files import FILE

DERIVED = ("content_hash", "language")
_TIMES = ("updated_at", "event_time", "event_until", "valid_from", "valid_until")
_TEXTS = (
    "text id title type namespace collection session role owner agent severity domain context source"
).split()


def draft(given: Mapping[str, Any]) -> Memory:
    """Validate the fields that a caller gives and return a memory; the id may still be missing.
    `created_at` stays in its time zone: "yesterday" in the text is relative to it."""
    unknown = [key for key in given if key not in Memory._fields]
    if unknown:
        fields = ", ".join(name for name in Memory._fields if name not in DERIVED)
        raise InvalidInput(f"a memory has no field {unknown[0]!r}; its fields are {fields}")
    values = {k: v for k, v in given.items() if v is not None and k not in DERIVED}
    values.setdefault("metadata", {})
    for name in _TEXTS:
        if name in values:
            check_text(name, values[name])
    for name in _TIMES:
        if name in values:  # "valid until a day" includes that day
            values[name] = parse(values[name], name, end_of_day=name == "valid_until")
    for name, read in _READERS.items():
        if name in values:
            values[name] = read(values[name])
    normalized = normalize(values.get("text", ""))
    if not normalized and values.get("type") != FILE:
        raise InvalidInput("text is empty; give the sentence or document to remember")
    begins, ends = values.get("valid_from"), values.get("valid_until")
    if begins and ends and ends <= begins:
        raise InvalidInput(
            f"valid_until is {ends.isoformat()}, which is not after valid_from,"
            f" {begins.isoformat()}; swap them, or leave one out"
        )
    return Memory(**values, content_hash=hash_of(normalized))


def _severity(given: str) -> str | None:
    severity = given.strip().casefold()
    if severity and severity not in SEVERITIES:
        raise InvalidInput(f"severity is {given!r}; it must be one of {', '.join(SEVERITIES)}")
    return severity or None


def _namespace(given: str) -> str:
    namespace = check_name("namespace", given)
    if namespace.endswith("/") and not namespace.startswith(PRIVATE_PREFIXES):
        raise InvalidInput(
            f"namespace is {namespace!r}, which means all namespaces of a project; write into one"
            f" of them, such as {namespace + 'notes'!r}"
        )
    return namespace


def topics_of(given: object, name: str = "topics") -> tuple[str, ...]:
    """Return topics in the form in which they are stored: lower case, single spaces, no duplicates."""
    if isinstance(given, str):
        given = given.split(",")
    if not isinstance(given, Iterable):
        raise InvalidInput(f"{name} is {given!r}; give a list of texts")
    topics: dict[str, None] = {}
    singular = name.removesuffix("s")
    for topic in given:
        if normalize(check_text(singular, topic)):
            topics[check_name(singular, fold_label(topic), "python")] = None
    return tuple(topics)


def valid_topics(given: Iterable[str]) -> list[str]:
    """Return the topics that can be stored: an invalid one is no reason to leave a text out."""
    valid: list[str] = []
    for topic in given:
        with suppress(InvalidInput):
            valid.extend(topics_of([topic]))
    return valid


def _links(given: object) -> tuple[Link, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InvalidInput(f"links is {given!r}; give a list of ids or of (id, strength) pairs")
    return tuple(map(_link, given))


def _link(given: object) -> Link:
    if isinstance(given, Link):
        link = given
    elif isinstance(given, str):
        link = Link(given)
    elif isinstance(given, Mapping) and {"to"} <= given.keys() <= {"to", "strength", "kind"}:
        link = Link(**given)
    elif isinstance(given, Sequence) and 2 <= len(given) <= 3:
        link = Link(*given)
    else:
        raise InvalidInput(f"link {given!r} is neither an id nor an (id, strength) pair")
    check_strength(link.strength)
    check_text("link", link.to)
    check_name("kind", link.kind)
    return link


def check_strength(strength: object) -> None:
    """Refuse a strength outside 0..1."""
    is_number = isinstance(strength, int | float) and not isinstance(strength, bool)
    if not is_number or not 0 < strength <= 1:  # type: ignore[operator]
        raise InvalidInput(f"strength is {strength!r}; it must be above 0 and at most 1")


def _metadata(given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"metadata is {given!r}; give a mapping")
    try:
        text = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"metadata cannot be written as JSON: {error}") from error
    return dict(json.loads(check_text("metadata", text)))


def _short(name: str, value: str) -> str:
    if len(value) > MAX_NAME_CHARS:
        raise InvalidInput(f"{name} has {len(value)} characters; at most {MAX_NAME_CHARS}")
    return value


def _type(given: str) -> str:
    type_ = check_name("type", given)
    if not open_type(type_):
        raise InvalidInput(f"type is {DONE_SUFFIX!r}; name the task, such as 'task{DONE_SUFFIX}'")
    return type_


# A task that is done has a type that ends in `_done`: a `task` becomes a `task_done`.


def done_type(type_: str) -> str:
    return open_type(type_) + DONE_SUFFIX


def open_type(type_: str) -> str:
    return type_.removesuffix(DONE_SUFFIX)


# What is made of a field that is given and that is neither a plain text nor a time in UTC.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "created_at": lambda given: parse_zoned(given, "created_at"),
    "severity": _severity,
    "domain": lambda given: given.strip() or None,  # with a space it would be a different domain
    "collection": lambda given: check_name("collection", given, "notes"),
    "type": _type,
    "namespace": _namespace,
    "id": lambda given: _short("id", given.strip()),
    "session": lambda given: _short("session", given),
    "owner": lambda given: _short("owner", given),
    "agent": lambda given: _short("agent", given),
    "topics": topics_of,
    "links": _links,
    "metadata": _metadata,
}

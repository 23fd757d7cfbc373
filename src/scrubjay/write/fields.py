"""Fields of a memory: validate and normalise what a caller gives."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.storage.sql.scope import PRIVATE_PREFIXES
from scrubjay.text.analysis import content_hash, fold_label, normalize
from scrubjay.text.validation import MAX_NAME_CHARS, check_name, check_text
from scrubjay.times import parse, parse_zoned
from scrubjay.types import DEFAULT_NAMESPACE, DONE_SUFFIX, SEVERITIES, Link, Memory
from scrubjay.types.files import FILE

DERIVED = ("content_hash", "language")
_TIMES = ("updated_at", "event_time", "event_until", "valid_from", "valid_until")
_TEXTS = (
    "id title type namespace collection session role owner agent severity domain context source"
).split()


def draft(given: Mapping[str, Any]) -> Memory:
    """Validate the fields that a caller gives and return a memory; the id may still be missing.
    `created_at` stays in its time zone: "yesterday" in the text is relative to it."""
    unknown = [key for key in given if key not in Memory._fields]
    if unknown:
        fields = ", ".join(name for name in Memory._fields if name not in DERIVED)
        raise InvalidInput(f"a memory has no field {unknown[0]!r}; its fields are {fields}")
    values = {k: v for k, v in given.items() if v is not None and k not in DERIVED}
    for name in ("text", *_TEXTS):
        check_text(name, values.get(name, ""))
    for name in _TIMES:
        # "valid until a day" includes that day.
        values[name] = parse(values.get(name), name, end_of_day=name == "valid_until")
    values["created_at"] = parse_zoned(values.get("created_at"), "created_at")
    if "severity" in values:
        values["severity"] = _severity(values["severity"])
    if "domain" in values:  # with a space around it, it would be a different domain
        values["domain"] = values["domain"].strip() or None
    if not normalize(values.get("text", "")) and values.get("type") != FILE:
        raise InvalidInput("text is empty; give the sentence or document to remember")
    if "collection" in values:
        values["collection"] = check_name("collection", values["collection"], "notes")
    values["type"] = check_name("type", values.get("type", "fact"))
    if not open_type(values["type"]):
        raise InvalidInput(f"type is {DONE_SUFFIX!r}; name the task, such as 'task{DONE_SUFFIX}'")
    values["namespace"] = _namespace(values.get("namespace", DEFAULT_NAMESPACE))
    values["id"] = values.get("id", "").strip()
    for name in ("id", "session", "owner", "agent"):
        if (length := len(values.get(name, ""))) > MAX_NAME_CHARS:
            raise InvalidInput(f"{name} has {length} characters; at most {MAX_NAME_CHARS}")
    values["topics"] = topics_of(values.get("topics", ()))
    values["links"] = _links(values.get("links", ()))
    values["metadata"] = _metadata(values.get("metadata", {}))
    values["content_hash"] = content_hash(values["text"])
    begins, ends = values["valid_from"], values["valid_until"]
    if begins and ends and ends <= begins:
        raise InvalidInput(
            f"valid_until is {ends.isoformat()}, which is not after valid_from,"
            f" {begins.isoformat()}; swap them, or leave one out"
        )
    return Memory(**values)


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


# A task that is done has a type that ends in `_done`: a `task` becomes a `task_done`.


def done_type(type_: str) -> str:
    return open_type(type_) + DONE_SUFFIX


def open_type(type_: str) -> str:
    return type_.removesuffix(DONE_SUFFIX)

"""Front matter of a document: YAML, TOML or plain lines, as plain values and as the fields of an entry."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.markdown import front_matter
from scrubjay.text.validation import MAX_NAME_CHARS
from scrubjay.times import parse
from scrubjay.types import SEVERITIES

MAX_CHARS = 64 * 1024
MAX_FIELD_CHARS = 2000  # every passage that a model reads begins with the context
_MAX_DEPTH = 32
_MAX_INT = 2**63
_TOPIC_KEYS = ("tags", "tag", "topics", "keywords", "categories")
_ENTRY_KEYS = ("severity", "domain", "context", "valid_from", "valid_until")
CREATED_KEYS = ("date", "created", "created_at")
UPDATED_KEYS = ("updated", "modified", "updated_at", "lastmod")
_KNOWN_KEYS = frozenset(("id", "title", *_ENTRY_KEYS, *_TOPIC_KEYS, *CREATED_KEYS, *UPDATED_KEYS))
_SIMILARITY = 0.88  # severty and validuntil are misspelled; content is not a misspelled context
_MAX_MISSPELLED_CHARS = 20


def parse_front_matter(text: str) -> dict[str, Any]:
    """Return the front matter of a text as values that JSON can hold, keys as written; {} without any."""
    block, _ = front_matter(text)
    if not block.strip() or len(block) > MAX_CHARS:
        return {}
    is_toml = text.lstrip("\ufeff").startswith("+++")
    values = _toml(block) if is_toml else _yaml(block)
    if values is None:
        values = dict(_plain_lines(block, "=" if is_toml else ":"))
    return {valid_unicode(str(key)): _json_value(value, 0) for key, value in values.items()}


def title_in(front: Mapping[str, Any]) -> str:
    value = first_value(front, ("title",))
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def id_in(front: Mapping[str, Any]) -> str:
    """Return the id, or "" where the value cannot be one."""
    value = first_value(front, ("id",))
    if not isinstance(value, str | int) or isinstance(value, bool):
        return ""
    given = str(value).strip()
    return given if given.isprintable() and len(given) <= MAX_NAME_CHARS else ""


def topics_in(front: Mapping[str, Any]) -> Iterator[str]:
    for key in _TOPIC_KEYS:
        yield from split_topics(first_value(front, (key,)))


def split_topics(value: object) -> Iterator[str]:
    """Yield the topics of one value: a list, or a text separated by commas, semicolons or spaces."""
    if isinstance(value, str):
        inner = value.strip().strip("[]")
        value = re.split("[,;]", inner) if re.search("[,;]", inner) else inner.split()
    for item in value if isinstance(value, list) else ():
        topic = " ".join((_scalar(item) or "").strip().strip("\"'").lstrip("#").split())
        if topic:
            yield topic


def parse_date(value: object, *, end_of_day: bool = False) -> datetime | None:
    """Read an ISO date or time, naive as UTC; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        return parse(value, "date", end_of_day=end_of_day)
    except InvalidInput:
        return None


def first_value(front: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the first value under one of these keys, in whatever case they are written."""
    lowered = {key.lower(): value for key, value in front.items()}
    return next((lowered[key] for key in keys if lowered.get(key) is not None), None)


def entry_fields(front: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of an entry, and a note for each invalid value: those are ignored, not an error."""
    fields: dict[str, Any] = {}
    notes: list[str] = []
    for name in _ENTRY_KEYS:
        value = first_value(front, (name,))
        if value in (None, ""):
            continue
        field, expected = _entry_field(name, value)
        if field is None:
            notes.append(_note(name, value, expected))
        elif isinstance(field, str) and len(field) > MAX_FIELD_CHARS:
            field = field[:MAX_FIELD_CHARS]
            notes.append(f"{name} is long; only its first {MAX_FIELD_CHARS:,} characters are used")
        fields |= {} if field is None else {name: field}
    begins, ends = (fields.get(name) for name in ("valid_from", "valid_until"))
    if begins and ends and ends <= begins:
        del fields["valid_from"], fields["valid_until"]
        notes.append("valid_until is not after valid_from; both are ignored")
    notes += _misspelled(front)
    return fields, notes


def other_words(front: Mapping[str, Any]) -> Iterator[str]:
    for key, value in front.items():
        if key.lower() not in _KNOWN_KEYS:
            yield from _leaves(value)


def is_safe_yaml(block: str, loader: Any) -> bool:
    """True without aliases, which can grow without bound, without tags, and without deep nesting."""
    import yaml

    depth = 0
    for event in yaml.parse(block, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            return False
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            return False
    return True


def _entry_field(name: str, value: object) -> tuple[str | datetime | None, str]:
    """Return the value of a field, None if it is invalid, and what it should be."""
    if name == "severity":
        is_known = isinstance(value, str) and value.strip().casefold() in SEVERITIES
        return str(value) if is_known else None, f"one of {', '.join(SEVERITIES)}"
    if name.startswith("valid"):  # "valid until 3 May" includes that day
        moment = parse_date(value, end_of_day=name == "valid_until")
        return moment, "an ISO date such as 2026-05-03"
    return _scalar(value), "a text"


def _scalar(value: object) -> str | None:
    is_scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_scalar else None


def _toml(block: str) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads(block.replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        return None


def _yaml(block: str) -> Mapping[Any, Any] | None:
    """Return the mapping, {} for any other value, None for YAML that is invalid or not safe."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if not is_safe_yaml(block, loader):
            return None
        value = yaml.load(block, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else {}


def _plain_lines(block: str, separator: str) -> Iterator[tuple[str, str]]:
    for line in block.splitlines():
        key, found, value = line.partition(separator)
        if found and key.strip() and not key.startswith((" ", "\t", "#", "-")):
            yield key.strip(), value.strip(" \t\"'")


def _json_value(value: object, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {valid_unicode(str(key)): _json_value(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item, depth + 1) for item in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, int) and abs(value) >= _MAX_INT:
        return f"{value:#x}"  # Python refuses to print a very large number in decimal
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | None) else valid_unicode(str(value))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif (leaf := _scalar(value)) is not None:
        yield leaf


def _misspelled(front: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note for each key that is nearly that of an entry field."""
    from difflib import get_close_matches

    for key in front:
        name = key.lower()
        # The first letter of a misspelled word is usually right: most keys need no closer check.
        is_candidate = name[:1] in "sdcv" and len(name) <= _MAX_MISSPELLED_CHARS
        if name in _ENTRY_KEYS or not is_candidate:
            continue
        for similar in get_close_matches(name, _ENTRY_KEYS, 1, _SIMILARITY):
            shown = key if key.isprintable() else repr(key)
            yield f"{shown} is not a field of an entry; did you mean {similar}?"


def _note(name: str, value: object, expected: str) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    return f"{name} is {shown}, not {expected}; ignored"

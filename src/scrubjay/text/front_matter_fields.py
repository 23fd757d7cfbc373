"""What front matter says of a document as an entry: severity, domain, context, when it is valid.

Other people's files may say anything: what makes no sense is left out, and noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.front_matter import DATE_KEYS, TOPIC_KEYS, first_of
from scrubjay.text.validation import MOST_NAME_CHARS
from scrubjay.times import parse
from scrubjay.types import SEVERITIES

MOST_CHARS = 2000  # a context stands in front of every passage that a model reads
_NEAR = 0.88  # severty and validuntil are; content is not near context
_MOST_NAME_CHARS = 20
_TEXTS = ("domain", "context")
_TIMES = ("valid_from", "valid_until")
_FIELDS = frozenset(("id", "title", "severity", *_TEXTS, *_TIMES, *TOPIC_KEYS, *DATE_KEYS))


def entry_fields_in(front: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields that front matter gives, and a note for each that it gives in vain."""
    fields: dict[str, Any] = {}
    notes: list[str] = []
    severity = first_of(front, ("severity",))
    if isinstance(severity, str) and severity.strip().casefold() in SEVERITIES:
        fields["severity"] = severity
    elif severity not in (None, ""):
        notes.append(_note("severity", severity, f"one of {', '.join(SEVERITIES)}"))
    for name in _TEXTS:
        value = first_of(front, (name,))
        if value in (None, ""):
            continue
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            fields[name] = str(value)[:MOST_CHARS]
            if len(str(value)) > MOST_CHARS:
                notes.append(f"{name} is long; its first {MOST_CHARS:,} characters are read")
        else:
            notes.append(_note(name, value, "a text"))
    for name in _TIMES:
        value = first_of(front, (name,))
        moment = _moment(value, name)
        if moment is not None:
            fields[name] = moment
        elif value not in (None, ""):
            notes.append(_note(name, value, "an ISO date such as 2026-05-03"))
    begins, ends = (fields.get(name) for name in _TIMES)
    if begins and ends and ends <= begins:
        del fields["valid_from"], fields["valid_until"]
        notes.append("valid_until is not after valid_from; read without both")
    notes += _misspelt(front)
    return fields, notes


def id_in(front: Mapping[str, Any]) -> str:
    """Return the id that front matter asks for; nothing where it could not be one."""
    value = first_of(front, ("id",))
    if not isinstance(value, str | int) or isinstance(value, bool):
        return ""
    given = str(value).strip()
    return given if given.isprintable() and len(given) <= MOST_NAME_CHARS else ""


def words_in(front: Mapping[str, Any]) -> Iterator[str]:
    """Yield what front matter says beyond the fields of a memory: its values, not its names."""
    for key, value in front.items():
        if key.lower() not in _FIELDS:
            yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _misspelt(front: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note for each name that is nearly that of a field; `content` is a word of its own."""
    from difflib import get_close_matches

    names = ("severity", *_TEXTS, *_TIMES)
    for key in front:
        name = key.lower()
        # Who mistypes a word has its first letter right: most names need no closer look.
        if name in names or name[:1] not in "sdcv" or len(name) > _MOST_NAME_CHARS:
            continue
        for near in get_close_matches(name, names, 1, _NEAR):
            shown = key if key.isprintable() else repr(key)
            yield f"{shown} is no field of an entry; did you mean {near}?"


def _moment(value: object, name: str) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        # Who says that something holds until a day means that day, too.
        return parse(value, name, end_of_day=name == "valid_until")
    except InvalidInput:
        return None


def _note(name: str, value: object, right: str) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    return f"{name} is {shown}, not {right}; read without it"

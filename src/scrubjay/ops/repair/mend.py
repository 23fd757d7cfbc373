"""Make a memory of a damaged row: what can be read stays, the rest gets a default."""

from __future__ import annotations

import json
from typing import Any

from scrubjay.storage.codec import UNREADABLE, topics_in
from scrubjay.text.analysis import content_hash, fold_label, normalize
from scrubjay.times import moment

# A memory whose namespace is unknown may be private: it does not join the others.
NAMESPACE = "rescued"
_LABELS = ("collection", "session", "role", "owner", "agent", "severity", "domain")
_OTHER_TIMES = ("event_us", "event_until_us", "valid_from_us", "valid_until_us")

Row = dict[str, Any]


def mend(n: int, stored: Row) -> tuple[Row, list[str]] | None:
    """Return the row of a memory and the fields that were damaged; None where it has no text."""
    damaged: list[str] = []

    def kept(field: str, value: Any, default: Any) -> Any:
        if value is None:
            damaged.append(field)
            return default
        return value

    text = _text(stored.get("text"))
    if text is None or not normalize(text):
        return None
    if text != stored["text"]:
        damaged.append("text")
    row: Row = {"text": text, "content_hash": content_hash(text)}
    row["id"] = kept("id", _label(stored.get("id")) or None, f"rescued-{n}")
    row["namespace"] = kept("namespace", _label(stored.get("namespace")), NAMESPACE)
    row["type"] = kept("type", _label(stored.get("type")) or None, "fact")
    row["language"] = kept("language", _label(stored.get("language")), "")
    for field in ("title", "context"):
        found = _text(stored.get(field))
        if found != stored.get(field):
            damaged.append(field)
        row[field] = found or ""
    row["topics"] = kept("topics", _topics(stored.get("topics")), "[]")
    row["metadata"] = kept("metadata", _metadata(stored.get("metadata")), "{}")
    for field in (*_LABELS, "source"):
        value = stored.get(field)
        row[field] = None if value is None else kept(field, _label(value), None)
    row["domain_label"] = None if row["domain"] is None else fold_label(row["domain"])
    created, updated = _time(stored.get("created_us")), _time(stored.get("updated_us"))
    known = next((time for time in (created, updated) if time is not None), 0)
    row["created_us"] = kept("created", created, known)
    row["updated_us"] = kept("updated", updated, known)
    for field in _OTHER_TIMES:
        value = stored.get(field)
        row[field] = None if value is None else kept(field[:-3], _time(value), None)
    return row, damaged


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else None


def _label(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _topics(value: Any) -> str | None:
    try:
        topics_in(value)
    except UNREADABLE:
        return None
    return str(value)


def _metadata(value: Any) -> str | None:
    try:
        return value if isinstance(json.loads(value), dict) else None
    except UNREADABLE:
        return None


def _time(value: Any) -> int | None:
    if type(value) is not int:
        return None
    try:
        moment(value)
    except OverflowError:
        return None
    return value

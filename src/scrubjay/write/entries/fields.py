"""The fields of an entry as plain values: what is written of a memory, and what may be read for one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.types import DEFAULT_NAMESPACE, Link, Memory

_DERIVED = ("content_hash", "language")
FIELDS = ("id", *(name for name in Memory._fields if name not in ("id", *_DERIVED)))
# In the vault profile a text is the entry's description, and topics are its tags.
ALSO = {"description": "text", "tags": "topics"}
_DEFAULTS = Memory("")._asdict() | {"namespace": DEFAULT_NAMESPACE}


def fields_of(memory: Memory) -> dict[str, Any]:
    """Return what is set in a memory, as JSON knows it; defaults and derived fields are left out."""
    found: dict[str, Any] = {}
    for name in FIELDS:
        value = getattr(memory, name)
        if name in ("text", "id") or value != _DEFAULTS[name]:
            found[name] = _plain(value)
    return found


def given_from(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was read under the names of `add`; refuse a name that none of them has."""
    given: dict[str, Any] = {}
    written: dict[str, str] = {}
    for key, value in found.items():
        name = ALSO.get(key, key)
        if name in _DERIVED:
            continue
        if name not in FIELDS:
            raise InvalidInput(_unknown(key))
        if name in given:
            raise InvalidInput(f"{written[name]} and {key} are the same; keep one of them")
        given[name], written[name] = value, key
    return given


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [one._asdict() if isinstance(one, Link) else one for one in value]
    return dict(value) if isinstance(value, Mapping) else value


def _unknown(key: str) -> str:
    from difflib import get_close_matches

    names = (*FIELDS, *ALSO)
    near = get_close_matches(key.lower(), names, 1)
    meant = f"did you mean {near[0]}?" if near else f"its fields are {', '.join(names)}."
    return f"an entry has no field {key!r}; {meant} What is your own goes under metadata"

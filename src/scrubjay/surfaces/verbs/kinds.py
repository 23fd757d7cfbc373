"""Kinds of values that a verb takes: how each is written as a schema, checked, and read from a URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from scrubjay.surfaces.shapes import Json

_SHOWN_CHARS = 80  # of a wrong value: a megabyte of it would hide what would be right
_TRUE, _FALSE = ("true", "1", "yes", ""), ("false", "0", "no")


class Kind(NamedTuple):
    """A kind of value: `right` says in words what one is, `read` makes one of what a URL says."""

    right: str
    schema: Json
    accepts: Callable[[object], bool]
    read: Callable[[Sequence[str]], object]
    listed: bool = False  # a single text stands for a list, with commas between

    def take(self, name: str, value: object) -> Any:
        """Return a value that is of this kind; refuse any other, saying what would be right."""
        if self.listed and isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not self.accepts(value):
            shown = repr(value)
            shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
            raise InvalidInput(f"{name} is {shown}; it must be {self.right}")
        return value


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and isfinite(value)  # type: ignore[arg-type]


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _last(values: Sequence[str]) -> str:
    return values[-1]


def _whole(values: Sequence[str]) -> object:
    text = _last(values)
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 20 else text


def _number(values: Sequence[str]) -> object:
    try:
        return float(_last(values))
    except ValueError:
        return _last(values)


def _flag(values: Sequence[str]) -> object:
    text = _last(values).lower()
    return True if text in _TRUE else False if text in _FALSE else text


def _several(values: Sequence[str]) -> object:
    return list(values) if len(values) > 1 else _last(values)


def _json(values: Sequence[str]) -> object:
    import json

    try:
        return json.loads(_last(values))
    except (ValueError, RecursionError):
        return _last(values)


def choice(*words: str) -> Kind:
    """Return the kind of value that is one of a few words."""
    return Kind(
        f"one of {', '.join(words)}",
        {"type": "string", "enum": list(words)},
        lambda value: isinstance(value, str) and value in words,
        _last,
    )


TEXT = Kind("a text", {"type": "string"}, lambda value: isinstance(value, str), _last)
WHOLE = Kind("a whole number", {"type": "integer"}, _is_whole, _whole)
NUMBER = Kind("a number", {"type": "number"}, _is_number, _number)
FLAG = Kind("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool), _flag)
TIME = Kind(
    "a date or an ISO time, such as 2026-05-03",
    {"type": "string"},
    lambda value: isinstance(value, str),
    _last,
)
TEXTS = Kind(
    "a list of texts",
    {"type": "array", "items": {"type": "string"}},
    _is_texts,
    _several,
    listed=True,
)
# A text may hold commas: of ids, and of whatever is not a list of short words, none is split.
IDS = TEXTS._replace(listed=False, read=list, right="a list of ids")
MAPPING = Kind("an object", {"type": "object"}, lambda value: isinstance(value, Mapping), _json)
MAPPINGS = Kind(
    "a list of objects",
    {"type": "array", "items": {"type": "object"}},
    lambda value: isinstance(value, list) and all(isinstance(one, Mapping) for one in value),
    _json,
)

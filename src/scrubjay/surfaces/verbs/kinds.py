"""Kinds of values that a verb takes: how each is written as a schema, checked, and read from a URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs.plain_json import is_number, shown
from scrubjay.text.validation import MOST_NAME_CHARS

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json

MOST_HITS = 1000
MOST_SKIPPED = 10_000_000
MOST_NAMES = 100  # of topics, types, namespaces, links in one list
MOST_IDS = 1000
MOST_QUERY_CHARS = (
    20_000  # over a wire: the library takes any text, but whoever may read pays for it
)
_MOST_TIME_CHARS = 100
_TRUE, _FALSE = ("true", "1", "yes", ""), ("false", "0", "no")


def _as_it_is(_: str, value: Any) -> Any:
    return value


class Kind(NamedTuple):
    """A kind of value: `right` says in words what one is, `read` makes one of what a URL says.

    `schema` is what one should give; `also` are other forms that are taken. `made` turns a value that is
    accepted into what the store takes, and may find something wrong inside of it.
    """

    right: str
    schema: Json
    accepts: Callable[[Any], bool]
    read: Callable[[Sequence[str]], object]
    listed: str | None = (
        None  # a single text stands for a list: the sign between its parts, if any
    )
    made: Callable[[str, Any], Any] = _as_it_is

    @property
    def whole_schema(self) -> Json:
        """Every form that is taken."""
        return self.schema if self.listed is None else _or(self.schema, {"type": "string"})

    def take(self, name: str, value: object) -> Any:
        """Return a value that is of this kind; refuse any other, saying what would be right."""
        if self.listed is not None and isinstance(value, str):
            parts = value.split(self.listed) if self.listed else [value]
            value = [part.strip() for part in parts if part.strip()] if self.listed else parts
        if not self.accepts(value):
            raise InvalidInput(f"{name} is {shown(value)}; it must be {self.right}")
        return self.made(name, value)


def _or(*schemas: Json) -> Json:
    return {"anyOf": list(schemas)}


def or_null(schema: Json) -> Json:
    """Return a schema that takes null, too."""
    return _or(schema, {"type": "null"})


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


def from_json(values: Sequence[str]) -> object:
    """Return the value that a text of a URL is in JSON; a text that is none as it is."""
    import json

    try:
        return json.loads(_last(values))
    except (ValueError, RecursionError):
        return _last(values)


def choice(*words: str) -> Kind:
    """Return the kind of value that is one of a few words."""
    return Kind(
        f"one of {', '.join(word or '(nothing)' for word in words)}",
        {"type": "string", "enum": list(words)},
        lambda value: isinstance(value, str) and value in words,
        _last,
    )


def whole(least: int, most: int) -> Kind:
    """Return the kind of whole numbers in a range; 5.0 is one, as JSON has it."""
    return Kind(
        f"a whole number of {least} to {most}",
        {"type": "integer", "minimum": least, "maximum": most},
        lambda value: is_number(value) and value == int(value) and least <= value <= most,
        _whole,
        made=lambda _, value: int(value),
    )


def number(right: str, schema: Json, fits: Callable[[float], bool]) -> Kind:
    """Return a kind of numbers."""
    return Kind(
        right,
        {"type": "number", **schema},
        lambda value: is_number(value) and fits(value),
        _number,
    )


def texts(one: Kind, least: int, most: int, right: str, between: str = ",") -> Kind:
    """Return the kind of lists with so many texts of a kind; a single text has signs between its parts."""
    return Kind(
        f"{right}, {f'{least} to' if least else 'at most'} {most}",
        {"type": "array", "items": one.schema, "minItems": least, "maxItems": most},
        lambda value: (
            isinstance(value, list)
            and least <= len(value) <= most
            and all(one.accepts(part) for part in value)
        ),
        _several,
        listed=between,
    )


def objects(right: str, of_one: Json, most: int, made: Callable[[str, Any], Any]) -> Kind:
    """Return the kind of lists of objects; `made` looks into each."""
    return Kind(
        f"a list of at most {most} {right}",
        {"type": "array", "items": of_one, "minItems": 1, "maxItems": most},
        lambda value: (
            isinstance(value, list)
            and 1 <= len(value) <= most
            and all(isinstance(one, Mapping) for one in value)
        ),
        from_json,
        made=made,
    )


def _short(most: int, *, blank: bool) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, str) and len(value) <= most and (blank or bool(value.strip()))
    )


TEXT = Kind("a text", {"type": "string"}, lambda value: isinstance(value, str), _last)
SAID = Kind(
    "a text that is not empty",
    {"type": "string", "minLength": 1, "pattern": r"\S"},
    lambda value: isinstance(value, str) and bool(value.strip()),
    _last,
)
QUERY = Kind(
    f"a text of at most {MOST_QUERY_CHARS:,} characters",
    {"type": "string", "maxLength": MOST_QUERY_CHARS},
    _short(MOST_QUERY_CHARS, blank=True),
    _last,
)
NAME = Kind(
    f"a text of 1 to {MOST_NAME_CHARS} characters",
    {"type": "string", "minLength": 1, "maxLength": MOST_NAME_CHARS, "pattern": r"\S"},
    _short(MOST_NAME_CHARS, blank=False),
    _last,
)
NAME_OR_NOTHING = Kind(
    f"a text of at most {MOST_NAME_CHARS} characters",
    {"type": "string", "maxLength": MOST_NAME_CHARS},
    _short(MOST_NAME_CHARS, blank=True),
    _last,
)
LIMIT = whole(1, MOST_HITS)
OFFSET = whole(0, MOST_SKIPPED)
FLAG = Kind("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool), _flag)
TIME = Kind(
    "a date or an ISO time, such as 2026-05-03 or 2026-05-03T14:30+02:00",
    {"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date"}]},
    _short(_MOST_TIME_CHARS, blank=False),
    _last,
)
TIME_OR_NOTHING = TIME._replace(
    schema={"type": "string", "anyOf": [*TIME.schema["anyOf"], {"maxLength": 0}]},
    accepts=_short(_MOST_TIME_CHARS, blank=True),
)
TEXTS = texts(NAME, 0, MOST_NAMES, "a list of texts")
# An id may hold a comma: a single one stands for itself.
IDS = texts(NAME, 0, MOST_IDS, "an id, or a list of ids", between="")._replace(
    read=lambda values: list(values)
)
MAPPING = Kind(
    "an object", {"type": "object"}, lambda value: isinstance(value, Mapping), from_json
)

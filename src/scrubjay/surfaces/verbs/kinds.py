"""Kinds of values that a verb takes: the JSON schema of each, its check, and how a URL spells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.text.validation import MAX_NAME_CHARS

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json

MOST_HITS = 1000
MOST_SKIPPED = 10_000_000
MOST_NAMES = 100  # of topics, types, namespaces, links in one list
MOST_IDS = 1000
MOST_QUERY_CHARS = 20_000  # over a wire; the library takes any text
MOST_DEPTH = 32
MOST_EXACT = 2**53  # the largest whole number that every reader of JSON keeps exactly
_MOST_BITS = 64
_MOST_TIME_CHARS = 100
_SHOWN_CHARS = 80  # of a wrong value: a megabyte of it would hide what would be right
_TRUE, _FALSE = ("true", "1", "yes", ""), ("false", "0", "no")


def short_repr(value: object) -> str:
    """Return a value as an error names it: the beginning of its repr."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def is_number(value: object) -> bool:
    """True for a finite number; booleans are not numbers here."""
    return type(value) in (int, float) and isfinite(value)  # type: ignore[arg-type]


def check_plain(name: str, value: object) -> None:
    """Refuse what no database or reader of JSON takes; not recursive: nesting may be deep."""
    from scrubjay.text.analysis import is_valid_unicode

    stack: list[tuple[object, int]] = [(value, 0)]
    while stack:
        part, depth = stack.pop()
        if isinstance(part, str):
            if not is_valid_unicode(part):
                raise InvalidInput(
                    f"{name} holds half of a surrogate pair, which is not a character; send the whole"
                    " pair, or \\ufffd"
                )
        elif isinstance(part, bool) or part is None:
            continue
        elif isinstance(part, int):
            if part.bit_length() > _MOST_BITS:
                raise InvalidInput(
                    f"{name} holds a number of {part.bit_length()} bits; at most {_MOST_BITS} are"
                    " allowed: send a longer number as text"
                )
        elif isinstance(part, float):
            if not isfinite(part):
                raise InvalidInput(f"{name} holds {part}, which is no number; leave it out")
        elif isinstance(part, Mapping | list | tuple):
            if depth == MOST_DEPTH:
                raise InvalidInput(
                    f"{name} holds lists or objects in more than {MOST_DEPTH} levels; make it flatter"
                )
            inner: Any = part
            if isinstance(part, Mapping):
                stack += ((key, depth + 1) for key in part)
                inner = part.values()
            stack += ((one, depth + 1) for one in inner)
        else:
            raise InvalidInput(f"{name} holds a {type(part).__name__}, which JSON does not have")


class Kind(NamedTuple):
    """A kind of value.

    `right` describes a right value in words, `schema` in JSON schema. `read` makes one from the texts of
    a URL. With `listed`, one text stands for a list: it is the separator of its parts, if any. `made`
    turns an accepted value into what the store takes, and may reject what is inside.
    """

    right: str
    schema: Json
    accepts: Callable[[Any], bool]
    read: Callable[[Sequence[str]], object]
    listed: str | None = None
    made: Callable[[str, Any], Any] = lambda _, value: value

    @property
    def whole_schema(self) -> Json:
        return self.schema if self.listed is None else _or(self.schema, {"type": "string"})

    def take(self, name: str, value: object) -> Any:
        """Return a value of this kind; InvalidInput says what would be right."""
        if self.listed is not None and isinstance(value, str):
            parts = value.split(self.listed) if self.listed else [value]
            value = [part.strip() for part in parts if part.strip()] if self.listed else parts
        if not self.accepts(value):
            raise InvalidInput(f"{name} is {short_repr(value)}; it must be {self.right}")
        return self.made(name, value)


def _or(*schemas: Json) -> Json:
    return {"anyOf": list(schemas)}


def or_null(schema: Json) -> Json:
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


def from_json(values: Sequence[str]) -> object:
    """Parse a text of a URL as JSON; return a text that is not JSON unchanged."""
    import json

    try:
        return json.loads(_last(values))
    except (ValueError, RecursionError):
        return _last(values)


def choice(*words: str) -> Kind:
    return Kind(
        f"one of {', '.join(word or '(nothing)' for word in words)}",
        {"type": "string", "enum": list(words)},
        lambda value: isinstance(value, str) and value in words,
        _last,
    )


def whole(least: int, most: int) -> Kind:
    """Whole numbers in a range; 5.0 is one, as in JSON."""
    return Kind(
        f"a whole number of {least} to {most}",
        {"type": "integer", "minimum": least, "maximum": most},
        lambda value: is_number(value) and value == int(value) and least <= value <= most,
        _whole,
        made=lambda _, value: int(value),
    )


def number(right: str, schema: Json, fits: Callable[[float], bool]) -> Kind:
    return Kind(
        right,
        {"type": "number", **schema},
        lambda value: is_number(value) and fits(value),
        _number,
    )


def texts(one: Kind, least: int, most: int, right: str, between: str = ",") -> Kind:
    return Kind(
        f"{right}, {f'{least} to' if least else 'at most'} {most}",
        {"type": "array", "items": one.schema, "minItems": least, "maxItems": most},
        lambda value: (
            isinstance(value, list)
            and least <= len(value) <= most
            and all(one.accepts(part) for part in value)
        ),
        lambda values: list(values) if len(values) > 1 else _last(values),
        listed=between,
    )


def objects(
    right: str,
    of_one: Json,
    most: int,
    made: Callable[[str, Any], Any] = lambda _, value: value,
    *,
    least: int = 1,
    or_text: Kind | None = None,
) -> Kind:
    """Lists of objects; with `or_text`, a text may stand for an object."""
    items = of_one if or_text is None else _or(or_text.schema, of_one)
    taken: tuple[type, ...] = (Mapping,) if or_text is None else (str, Mapping)
    fewest = {"minItems": least} if least else {}
    return Kind(
        f"a list of at most {most} {right}",
        {"type": "array", "items": items, **fewest, "maxItems": most},
        lambda value: (
            isinstance(value, list)
            and least <= len(value) <= most
            and all(isinstance(one, taken) for one in value)
        ),
        from_json,
        made=made,
    )


def _short(most: int, *, blank: bool) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, str) and len(value) <= most and (blank or bool(value.strip()))
    )


def _at_most(chars: int) -> Kind:
    schema: Json = {"type": "string", "maxLength": chars}
    return Kind(
        f"a text of at most {chars:,} characters", schema, _short(chars, blank=True), _last
    )


TEXT = Kind("a text", {"type": "string"}, lambda value: isinstance(value, str), _last)
NON_EMPTY = Kind(
    "a text that is not empty",
    {"type": "string", "minLength": 1, "pattern": r"\S"},
    lambda value: isinstance(value, str) and bool(value.strip()),
    _last,
)
QUERY = _at_most(MOST_QUERY_CHARS)
NAME = Kind(
    f"a text of 1 to {MAX_NAME_CHARS} characters",
    {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS, "pattern": r"\S"},
    _short(MAX_NAME_CHARS, blank=False),
    _last,
)
NAME_OR_EMPTY = _at_most(MAX_NAME_CHARS)
ANY_NUMBER = number("a number", {}, lambda _: True)
COUNT = whole(0, MOST_EXACT)
LIMIT = whole(1, MOST_HITS)
# Of a search: what is above the maximum of its profile is cut to it, and `counts` says so.
SEARCH_LIMIT = whole(1, MOST_EXACT)._replace(
    right="a whole number of 1 or more", schema={"type": "integer", "minimum": 1}
)
OFFSET = whole(0, MOST_SKIPPED)
FLAG = Kind("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool), _flag)
TIME = Kind(
    "a date or an ISO time, such as 2026-05-03 or 2026-05-03T14:30+02:00",
    {"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date"}]},
    _short(_MOST_TIME_CHARS, blank=False),
    _last,
)
BOUND = TIME._replace(
    right="a date, an ISO time, or words such as yesterday or last week", schema={"type": "string"}
)
TIME_OR_EMPTY = TIME._replace(
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

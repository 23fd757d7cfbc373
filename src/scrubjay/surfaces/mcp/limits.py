"""How long an answer may be: a model pays for each character, whoever wrote them.

Characters are those of names and values; what JSON adds is not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json

MOST_ANSWER_CHARS = 60_000
_SHORT_CHARS = 100  # what is no longer is never cut: dates, types, names
_KEPT = ("id", "uri", "score", "text", "snippet", "next_offset", "chars")
NOT_SHOWN = "not_shown"


def cut(text: str, most_chars: int) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= most_chars else f"{text[: most_chars - 1]}…"


def size_of(value: Any) -> int:
    """Return how many characters a value has."""
    if isinstance(value, dict):
        return sum(len(key) + size_of(one) for key, one in value.items())
    if isinstance(value, list):
        return sum(size_of(one) + 1 for one in value)
    return len(value) if isinstance(value, str) else len(str(value))


def shortened(value: Any, most_chars: int) -> Any:
    """Return the beginning of a value: of a list and of an object as many as have room."""
    if isinstance(value, str):
        return cut(value, max(most_chars, 1))
    if isinstance(value, dict):
        names = _first(
            list(value), [len(key) + size_of(one) for key, one in value.items()], most_chars
        )
        return {key: value[key] for key in names}
    if isinstance(value, list):
        return _first(value, [size_of(one) + 1 for one in value], most_chars)
    return value


def with_short_fields(one: Json, most_chars: int, whole: tuple[str, ...] = ()) -> Json:
    """Return a memory whose title, topics, context, metadata and the like together have that much room.

    What had too little is named in `cut`. Its id, its text and what is short stay, and those in `whole`.
    """
    left = most_chars
    kept: Json = {}
    lacks: list[str] = []
    for name, value in one.items():
        size = size_of(value)
        if name in _KEPT or name in whole or size <= _SHORT_CHARS:
            kept[name] = value
            continue
        short = value if size <= left else shortened(value, max(left, _SHORT_CHARS))
        if size > left:
            lacks.append(name)
        if short:
            kept[name] = short
        left -= size_of(short)
    return {**kept, "cut": lacks} if lacks else kept


def fitted(answer: Json, most_chars: int = MOST_ANSWER_CHARS, whole: tuple[str, ...] = ()) -> Json:
    """Return an answer with as much of its longest lists as has room; `not_shown` counts the rest."""
    shown = dict(answer)
    cuttable = {
        name: size_of(one)
        for name, one in answer.items()
        if isinstance(one, list | dict) and one and name not in whole
    }
    too_much = sum(size_of(one) for name, one in shown.items() if name not in whole) - most_chars
    missing = 0
    for name in sorted(cuttable, key=cuttable.__getitem__, reverse=True):
        if too_much <= 0:
            break
        least = shown[name][:1] if isinstance(shown[name], list) else {}
        less = shortened(shown[name], cuttable[name] - too_much) or least
        missing += len(shown[name]) - len(less)
        too_much -= cuttable[name] - size_of(less)
        shown[name] = less
    return {**shown, NOT_SHOWN: missing} if missing else shown


def _first(items: list[Any], sizes: list[int], most_chars: int) -> list[Any]:
    left = most_chars
    for count, size in enumerate(sizes):
        left -= size
        if left < 0:
            return items[:count]
    return items

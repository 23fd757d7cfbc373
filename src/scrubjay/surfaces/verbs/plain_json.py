"""What may come over a wire at all: no depth without end, no number that is none, no half characters."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import storable

MOST_DEPTH = 32
_MOST_BITS = 64
_SHOWN_CHARS = 80  # of a wrong value: a megabyte of it would hide what would be right


def shown(value: object) -> str:
    """Return a value as an error names it: the beginning of what Python would write."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def is_number(value: object) -> bool:
    """True for a finite number; true and false are none."""
    return type(value) in (int, float) and isfinite(value)  # type: ignore[arg-type]


def check_plain(name: str, value: object) -> None:
    """Refuse what no store could keep, and what would break whoever reads it.

    It is done without recursion: a list in a list in a list would otherwise end in Python's own error.
    """
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, str):
            if not storable(one):
                raise InvalidInput(
                    f"{name} holds half of a surrogate pair, which is not a character; send the whole"
                    " of it, or \\ufffd"
                )
        elif isinstance(one, bool) or one is None:
            continue
        elif isinstance(one, int):
            if one.bit_length() > _MOST_BITS:
                raise InvalidInput(
                    f"{name} holds a number of {one.bit_length()} bits; at most {_MOST_BITS}: write a"
                    " longer one as a text"
                )
        elif isinstance(one, float):
            if not isfinite(one):
                raise InvalidInput(f"{name} holds {one}, which is no number; leave it out")
        elif isinstance(one, Mapping | list | tuple):
            if depth == MOST_DEPTH:
                raise InvalidInput(
                    f"{name} holds lists or objects in more than {MOST_DEPTH} levels; make it flatter"
                )
            inner = one
            if isinstance(one, Mapping):
                waiting += ((key, depth + 1) for key in one)
                inner = one.values()  # type: ignore[assignment]
            waiting += ((part, depth + 1) for part in inner)
        else:
            raise InvalidInput(f"{name} holds a {type(one).__name__}, which JSON does not have")

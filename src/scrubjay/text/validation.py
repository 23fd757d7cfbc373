"""What may be a name: of a type, a topic, a namespace, a collection, a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import storable

MOST_NAME_CHARS = 512
_ALIKE = 0.65


def checked_name(name: str, value: object, example: str = "fact") -> str:
    """Return a name without the spaces around it; refuse one that cannot be shown."""
    value = check_text(name, value).strip()
    # Persian words and joined emoji hold signs that join or part letters and show nothing themselves.
    if not value or not value.replace("\u200c", "").replace("\u200d", "").isprintable():
        raise InvalidInput(f"{name} is {value!r}; give a printable name such as {example!r}")
    if len(value) > MOST_NAME_CHARS:
        raise InvalidInput(f"{name} has {len(value)} characters; at most {MOST_NAME_CHARS}")
    return value


def check_text(name: str, value: object) -> str:
    """Return what is a text that can be stored; refuse anything else."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {value!r}; it must be a text")
    if not storable(value):
        raise InvalidInput(
            f"{name} holds half of a surrogate pair, which is not a character;"
            " decode the bytes with errors='replace' first"
        )
    return value


def several(given: Any, name: str) -> tuple[str, ...] | None:
    """Return one text or a list of texts as a tuple; None means no filter, an empty list matches nothing."""
    if given is None:
        return None
    if not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise InvalidInput(f"{name} is {given!r}; give a text or a list of texts")
    return (given,) if isinstance(given, str) else tuple(given)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the name that was probably meant, or nothing.

    Short names share letters by chance: `nope` is not `undone`.
    """
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1, cutoff=_ALIKE)
    return f" (did you mean {close[0]!r}?)" if close else ""

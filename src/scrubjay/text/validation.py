"""Checks of arguments that are texts: what can be stored, names, and hints for a misspelled name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import is_valid_unicode

MAX_NAME_CHARS = 512
_MIN_SIMILARITY = 0.65  # short names share letters by chance: `nope` is not `undone`


def check_name(name: str, value: object, example: str = "fact") -> str:
    """Return a type, topic, namespace, collection or owner without the spaces around it."""
    value = check_text(name, value).strip()
    # Persian words and joined emoji contain joiners, which are not printable.
    if not value or not value.replace("\u200c", "").replace("\u200d", "").isprintable():
        raise InvalidInput(f"{name} is {value!r}; give a printable name such as {example!r}")
    if len(value) > MAX_NAME_CHARS:
        raise InvalidInput(
            f"{name} has {len(value)} characters; at most {MAX_NAME_CHARS} are allowed"
        )
    return value


def check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {value!r}; it must be a text")
    if not is_valid_unicode(value):
        raise InvalidInput(
            f"{name} contains half of a surrogate pair, which is not a character;"
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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    similar = get_close_matches(name, list(known), n=1, cutoff=_MIN_SIMILARITY)
    return f" (did you mean {similar[0]!r}?)" if similar else ""

"""Where the words of a query stand in what a hit shows, for a reader that colours them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from scrubjay.text.snippets import TermMatcher

if TYPE_CHECKING:
    from scrubjay.types import Hit

_MARKED = ("title", "snippet")
_WIDEST_SINGLE = "\uffff"  # what is above takes two units of UTF-16


def marks(hit: Hit, terms: tuple[str, ...]) -> dict[str, list[list[int]]]:
    """Return from where to where each word of a hit's title and snippet stands that was asked for.

    In units of UTF-16, as JavaScript counts a text: an emoji is two of them.
    """
    wanted = TermMatcher(terms, hit.language)
    return {field: _places(getattr(hit, field), wanted) for field in _MARKED}


def _places(text: str, wanted: TermMatcher) -> list[list[int]]:
    wide = [at for at, sign in enumerate(text) if sign > _WIDEST_SINGLE]
    return [
        [at + bisect_left(wide, at) for at in (start, stop)]
        for start, stop, _ in wanted.places(text)
    ]

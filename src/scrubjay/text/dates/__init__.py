"""Time expressions in English and German: which range of time a query or a memory speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime


class Window(NamedTuple):
    """A range of time in UTC: its first moment is in it, its last is not; `said` are its words."""

    begins: datetime
    ends: datetime
    said: str


def window_of(text: str, now: datetime) -> Window | None:
    """Return the range that a query speaks of, seen from now in its time zone; None without time words.

    Of several the narrowest counts, of equal ones the first. What could lie in the past or the future
    lies in the past, unless the query asks for plans.
    """
    from scrubjay.text.dates.finder import found

    return found(text, now, is_query=True)


def events_in(text: str, said_at: datetime) -> Window | None:
    """Return the range that a memory speaks of, seen from when it was said; None without time words.

    Of several the narrowest counts, of equal ones the first. What could lie in the past or the future
    is told by the tense of its sentence.
    """
    from scrubjay.text.dates.finder import found

    return found(text, said_at, is_query=False)


def without(text: str, window: Window) -> str:
    """Return a query without the words of its window and the prepositions before them, spaces folded.

    What is left is what is looked for: "dinner with Anna last week" asks for dinner with Anna.
    """
    from scrubjay.text.dates.rest import rest_of

    return rest_of(text, window.said)

"""Time expressions in English and German: the range of time that a query or a memory speaks of."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import NamedTuple

MAX_CHARS = 20_000  # a longer text has no single event, and its first pages say what it is about

_PLAIN = str.maketrans("äöüß–—’", "aous--'")
_NO_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile("[0-9]")
_DATE = re.compile(r"\d(?:[-./]\d|st|nd|rd|th|s|er)|(?<!\d)[12]\d\d\d|q[1-4]")
_PREPOSITIONS = (
    "in|on|at|by|of|for|from|since|during|over|within|about|around|until|till|through|throughout"
    "|am|im|an|zu|zum|zur|ab|seit|von|vom|bis|für|fuer|während|waehrend|aus|um"
)
_ARTICLES = "the|der|die|das|dem|den|des"


class Window(NamedTuple):
    """A range of time in UTC: the first moment is in it, the last is not; `said` are its words."""

    begins: datetime
    ends: datetime
    said: str


def window_of(text: str, now: datetime) -> Window | None:
    """Return the range of time in a query, seen from now in its time zone; None without time words.

    The narrowest of several counts, of equal ones the first. An expression that could lie in the past or
    the future lies in the past, unless the query asks for plans.
    """
    return _window(text, now, is_query=True)


def window_named(text: str, now: datetime) -> Window | None:
    """Return the range of time that a text names and nothing else, as a filter of a search does."""
    for words in (text, f"in {text}"):  # a month or a year alone may be a name or a number
        window = window_of(words, now)
        if window and not without(words, window) and (words is text or window.begins <= now):
            return window
    return None


def events_in(text: str, said_at: datetime) -> Window | None:
    """Return the range of time in a memory, seen from when it was said; None without time words.

    The narrowest of several counts, of equal ones the first. Whether an expression lies in the past or
    the future depends on the tense of its sentence.
    """
    return _window(text, said_at, is_query=False)


def without(text: str, window: Window) -> str:
    """Return a query without the words of its window and the prepositions before them: its subject."""
    text, said = (unicodedata.normalize("NFC", one) for one in (text, window.said))
    place = re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text)
    if not said or place is None:
        return " ".join(text.split())
    before, after = text[: place.start()], text[place.end() :]
    leading = rf"(?i)(?:^|(?<=\s))(?:{_PREPOSITIONS})\s+(?:(?:{_ARTICLES})\s+)?$"
    left = re.sub(leading, "", before)
    if left == before and not re.match(r"\s*\w", after):
        # Otherwise the article stays: "the January release".
        left = re.sub(rf"(?i)(?:^|(?<=\s))(?:{_ARTICLES})\s+$", "", before)
    rest = re.sub(r"\s+([?!.,;:])", r"\1", " ".join(f"{left} {after}".split()))
    return rest.lstrip(",;:.-– ") if not left.strip() else rest


def _window(text: str, now: datetime, *, is_query: bool) -> Window | None:
    """Return the range of time in a text. Most texts have no time word, and are done here."""
    text = text[:MAX_CHARS]
    if text.isascii():
        lower = text.lower()
        words = lower.translate(_NO_LETTERS).split()
    else:
        text = unicodedata.normalize("NFC", text)
        lower = text.lower()
        if len(lower) != len(text):  # some letters become two, which would shift positions
            lower = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
        lower = lower.translate(_PLAIN)
        words = _LETTERS.findall(lower)
    from scrubjay.text.dates.words import time_words

    alone, units, beside, just, speech = time_words()
    if not (
        not alone.isdisjoint(words)
        or not (just.isdisjoint(words) or speech.isdisjoint(words))
        or not (units.isdisjoint(words) or beside.isdisjoint(words))
        or (_DIGIT.search(lower) and _DATE.search(lower))
    ):
        return None
    from scrubjay.text.dates.finder import find_window

    return find_window(text, lower, now, is_query=is_query)

"""How the reader of changes is asked: its marks, the words of dates, and the relations it tells apart."""

from __future__ import annotations

from datetime import datetime

CLS, SEP, MARK = 101, 102, 2  # the mark is a token of the vocabulary that no text has
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
# What the newer of two notes does to the older one; those that change nothing are one class.
RELATIONS = {
    "replaces": 0,
    "corrects": 0,
    "ends": 0,
    "partial": 1,
    "temporary": 2,
    "over": 2,
    "repeats": 3,
    "returns": 3,
    "mentions": 4,
    "adds": 4,
    "plan": 4,
    "other": 4,
}


def date_words(at: str) -> str:
    """Return a date as the reader sees it: "3 may 2025"."""
    when = datetime.fromisoformat(at)
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}"


def is_held_out(number: int) -> bool:
    """True for a world, by its place among all, from which the reader does not learn."""
    return number % 7 == 3

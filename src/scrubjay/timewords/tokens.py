"""A text as tokens: each has a class of one letter, and all of them together are a text to match."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.timewords.words import known, telling

MOST_CHARS = 20_000  # a longer text has no one event, and its first pages say what it is about

_PLAIN = str.maketrans("äöüß–—’", "aous--'")
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d(?:[-./]\d|st|nd|rd|th|s|er)|(?<!\d)[12]\d\d\d|q[1-4]")
_TOKEN = re.compile(
    r"""(?P<word>[^\W\d_]\w*(?:'s\b)?)
    | (?P<sign>[^\w\s])
    | (?P<iso>(?<![\w.-])\d{4}-\d\d(?:-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?
            (?:z|[+-]\d\d:?\d\d)?)?)?(?![\w]|[-:./]\d))
    | (?P<dots>(?<![\w.,-])\d{1,2}\.[ ]?\d{1,2}\.(?:[ ]?\d{4}|(?<=\d\d\.\d\d\.)\d\d)?(?![\w]|[.,]\d))
    | (?P<slash>(?<![\w.,/-])\d{1,2}/\d{1,2}/(?:\d{4}|\d\d)(?![\w/]|[.,]\d))
    | (?P<ordinal>(?<![\w.,])\d{1,2}(?:st|nd|rd|th)\b)
    | (?P<decade>(?<![\w.,])(?:\d{3}|(?<!\d)\d)0(?:s|er)\b)
    | (?P<number>\d(?:[\w.,:/]*\w)?)
    | (?P<gap>\n\s*\n)""",
    re.VERBOSE,
)
_SIGNS = {".": ".", ",": ",", "-": "o", "!": "!", "?": "!", ";": "!", "'": "'"}


class Tokens(NamedTuple):
    """A text, the classes of its tokens as one string, and what each is worth and where it stands."""

    text: str
    classes: str
    values: list[Any]
    words: list[str]
    places: list[tuple[int, int]]


def tokens_of(text: str) -> Tokens | None:
    """Cut a text into tokens; None where no time word can be in it, which costs next to nothing."""
    text = text[:MOST_CHARS]
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    lower = _lower(text)
    if telling().isdisjoint(_WORD.findall(lower)) and not _DIGITS.search(lower):
        return None
    classes, values, words, places = [], [], [], []
    table = known()
    for found in _TOKEN.finditer(lower):
        kind = found.lastgroup
        word = found[0]
        if kind == "word":
            word = word.removesuffix("'s")
            entry = table.get(word) or ("_", None)
            if entry[0] == "y" and (word[0] != text[found.start()]) and word in _CAPITAL:
                entry = ("m", entry[1])
        elif kind == "sign":
            entry = (_SIGNS.get(word, "_"), None)
        elif kind == "gap":
            entry = ("!", None)
        else:
            entry = _in_digits(str(kind), word)
        classes.append(entry[0])
        values.append(entry[1])
        words.append(word)
        places.append(found.span())
    return Tokens(text, "".join(classes), values, words, places)


_CAPITAL = ("may", "march")  # with a capital they are months, most often


def _lower(text: str) -> str:
    lower = text.lower().translate(_PLAIN)
    if len(lower) == len(text):
        return lower
    # A few letters become two in lower case, and what is found would be cut in the wrong place.
    return "".join(one if len(one.lower()) != 1 else one.lower() for one in text).translate(_PLAIN)


def _in_digits(kind: str, word: str) -> tuple[str, Any]:
    """Return class and worth of what is written in digits: N up to 99, Y a year, 3 any other number."""
    if not word.isascii():
        return "_", None
    if kind == "iso":
        return "i", _iso(word)
    if kind == "dots":
        day, month, year = word.replace(" ", "").split(".")
        return "g", (int(day), int(month), _year(year))
    if kind == "slash":
        first, second, year = word.split("/")
        return "x", (int(first), int(second), _year(year))
    if kind == "ordinal":
        return "O", int(word[:-2])
    if kind == "decade":
        return "c", int(word.removesuffix("s").removesuffix("er"))
    if not word.isdecimal() or len(word) > 4:
        return "_", None
    number = int(word)
    if len(word) == 4 and 1000 <= number < 3000:
        return "Y", number
    return ("N" if len(word) < 3 else "3"), number


def _year(written: str) -> int | None:
    if not written:
        return None
    return int(written) + (2000 if len(written) == 2 else 0)


def _iso(word: str) -> tuple[str, datetime] | None:
    if len(word) == 7:
        word, unit = f"{word}-01", "month"
    else:
        unit = {0: "day", 1: "minute"}.get(word.count(":"), "second")
        if word[16:17] in ("+", "-"):
            unit = "minute"
    try:
        return unit, datetime.fromisoformat(word.upper())
    except ValueError:
        return None

"""A text as tokens: each has a class of one letter, and all of them together are a text to match."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from scrubjay.text.dates.words import known, may_tell

MOST_CHARS = 20_000  # a longer text has no one event, and its first pages say what it is about

_PLAIN = str.maketrans("äöüß–—’", "aous--'")
_NO_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile("[0-9]")
_DATE = re.compile(r"\d(?:[-./]\d|st|nd|rd|th|s|er)|(?<!\d)[12]\d\d\d|q[1-4]")
_ISO = (
    r"(?<![\w.-])\d{4}-\d\d(?:-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?)?"
)
_DOTS = r"(?<![\w.,-])\d{1,2}\.[ ]?\d{1,2}\.(?:[ ]?\d{4}|(?<=\d\d\.\d\d\.)\d\d)?"
_SLASHED_ISO = r"(?<![\w./-])\d{4}/\d{1,2}/\d{1,2}"
_SLASHES = r"(?<![\w.,/-])\d{1,2}/\d{1,2}/(?:\d{4}|\d\d)"
_TOKEN = re.compile(
    r"[^\W\d_]\w*(?:'s\b)?|[^\w\s]"
    rf"|{_ISO}(?!\w|[-:./]\d)|{_DOTS}(?!\w|[.,]\d)|{_SLASHES}(?![\w/]|[.,]\d)"
    rf"|{_SLASHED_ISO}(?![\w/]|[.,-]\d)"
    r"|\d(?:[\w.,:/]*\w)?|\n\s*\n"
)
_YEARS = re.compile(r"(?<![\w.-])(?:1[89]|2[01])\d\d(?![\w.-])")
# What follows a number: a small word, a unit of measure, or what it is multiplied by.
_AFTER_NUMBER = re.compile(r" (?:([a-z]{2,})\b|[kKMGT]?(?:Hz|B|W|px)\b|[x×*] ?\d)")
_AFTER_YEARS = frozenset(
    "and or but so then when while until till to from for in on at of with by about was were did do does"
    " had has have is are be we he she it they you who what why how where which that the an my our his"
    " her their there not no before after during since if as than because already again too also together"
    " und oder aber dann als bis von fur in im an am auf mit war waren ist sind hat haben hatte hatten ich"
    " wir er sie es man was wer wie wo warum der die das den dem ein eine nicht vor nach seit wenn wurde"
    " wurden gab ging los passiert gemacht happened".split()
)
_IN_CODE = re.compile(r"[a-z_]\w*(?:[.](?=[a-z_])\w+)*(?:[.](?=[a-z_])\w+|\()")
_SIGNS = {".": ".", ",": ",", "-": "o", "!": "!", "?": "!", ";": "!", "'": "'"}
_NAMES = ("may", "march")  # with a capital they are months, most often


class Tokens(NamedTuple):
    """A text, the classes of its tokens as one string, and what each of them is worth."""

    text: str
    lower: str
    classes: str
    values: list[Any]
    words: list[str]

    def said(self, start: int, end: int) -> str:
        """Return the words from one token up to another, as they are written."""
        places = [found.span() for found in _TOKEN.finditer(self.lower)]
        return self.text[places[start][0] : places[end - 1][1]]


def tokens_of(text: str) -> Tokens | None:
    """Cut a text into tokens; None where no time word can be in it, which costs next to nothing."""
    text = text[:MOST_CHARS]
    if text.isascii():
        lower = text.lower()
        letters = lower.translate(_NO_LETTERS).split()
    else:
        text = unicodedata.normalize("NFC", text)
        lower = _lower(text)
        letters = _LETTERS.findall(lower)
    if not may_tell(letters) and not (_DIGIT.search(lower) and _DATE.search(lower)):
        return None
    words = _TOKEN.findall(lower)
    table = _table()
    entries = [table[word] for word in words]
    classes = "".join([kind for kind, _ in entries])
    if "y" in classes:
        classes = _with_names(text, lower, classes, words)
    if "Y" in classes and any(_is_quantity(text, at) for at in _YEARS.finditer(lower)):
        classes = classes.replace("Y", "3")
    if _IN_CODE.search(lower):
        classes = _without_names_in_code(lower, classes)
    return Tokens(text, lower, classes, [value for _, value in entries], words)


def _is_quantity(text: str, number: re.Match[str]) -> bool:
    """True when a number that could be a year counts something: 2048 dimensions, 1920 x 1080, 2100 MHz."""
    after = _AFTER_NUMBER.match(text, number.end())
    return after is not None and (after[1] is None or after[1] not in _AFTER_YEARS)


def _without_names_in_code(lower: str, classes: str) -> str:
    """Return the classes without those of words in names: `date.today()` and monday.com are no days."""
    inside = [one.span() for one in _IN_CODE.finditer(lower)]
    places = [found.start() for found in _TOKEN.finditer(lower)]
    return "".join(
        "_" if kind.isalpha() and any(begin <= place < end for begin, end in inside) else kind
        for kind, place in zip(classes, places, strict=True)
    )


def _with_names(text: str, lower: str, classes: str, words: list[str]) -> str:
    """Return the classes with those months by their capital that would be verbs without it."""
    places = [found.start() for found in _TOKEN.finditer(lower)]
    return "".join(
        "m" if kind == "y" and word in _NAMES and text[place].isupper() else kind
        for kind, word, place in zip(classes, words, places, strict=True)
    )


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) != len(text):
        # A few letters become two in lower case, and what is found would be cut in the wrong place.
        lower = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    return lower.translate(_PLAIN)


class _Table(dict[str, tuple[str, Any]]):
    """What every word stands for; what is not in it is written in digits, or means nothing."""

    def __missing__(self, word: str) -> tuple[str, Any]:
        if word[0].isdecimal():
            return _in_digits(word)
        if word[0].isspace():  # an empty line
            return "!", None
        return self[word[:-2]] if word.endswith("'s") else ("_", None)


@cache
def _table() -> _Table:
    signs = {sign: (kind, None) for sign, kind in _SIGNS.items()}
    return _Table(known() | signs)


def _in_digits(word: str) -> tuple[str, Any]:
    """Return class and worth of what is written in digits.

    i ISO, g with dots, x with slashes, O ordinal, c decade, N up to 99, Y a year, 3 any other number
    or one with a half.
    """
    if not word.isascii():
        return "_", None
    if word.isdecimal():
        number = int(word) if len(word) < 5 else 0
        if len(word) == 4 and 1000 <= number < 3000:
            return "Y", number
        return ("N" if len(word) < 3 else "3" if number else "_"), number
    if re.fullmatch(_ISO, word):
        return "i", _iso(word)
    if re.fullmatch(_DOTS, word):
        day, month, year = word.replace(" ", "").split(".")
        return "g", (int(day), int(month), _year(year))
    if re.fullmatch(_SLASHES, word):
        first, second, year = word.split("/")
        return "x", (int(first), int(second), _year(year))
    if re.fullmatch(_SLASHED_ISO, word):
        year, month, day = word.split("/")
        return "i", _iso(f"{year}-{month:0>2}-{day:0>2}")
    if re.fullmatch(r"\d{1,2}[.,]5", word):
        return "3", float(word.replace(",", "."))
    if re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)", word):
        return "O", int(word[:-2])
    if re.fullmatch(r"(?:\d\d)?\d0(?:s|er)", word):
        return "c", int(word.rstrip("ser"))
    return "_", None


def _year(written: str) -> int | None:
    if not written:
        return None
    return int(written) + (2000 if len(written) == 2 else 0)


def _iso(word: str) -> tuple[str, datetime] | None:
    if len(word) == 7:
        word, unit = f"{word}-01", "month"
    else:
        unit = {0: "day", 1: "minute"}.get(word[:19].count(":"), "second")
    try:
        return unit, datetime.fromisoformat(word.upper())
    except ValueError:
        return None

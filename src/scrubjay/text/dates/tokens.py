"""Tokens of a text, and the patterns of time expressions over their classes.

Each token has a class of one letter, see `words.txt`. The classes of all tokens together are a string,
which the patterns match.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from scrubjay.text.dates.words import WordTable, known_words

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
# After a number: a small word, a unit of measure, or a factor.
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
_MAY_BE_CODE = re.compile(r"\(|\.[a-z_]")  # in every match of that; it is found 20 times as fast
_SIGNS = {".": ".", ",": ",", "-": "o", "!": "!", "?": "!", ";": "!", "'": "'"}
_CAPITALIZED_MONTHS = ("may", "march")
# Without their umlauts these are in the past: hatte, konnte.
_SUBJUNCTIVES = re.compile("(?:hätte|wär|könnte|müsste|dürfte|würde)(?:e?n|e?st|e)?")
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_NOUN = "_"  # ends a word that is none of the verbs

SOME = r"~?(?:hk|kh|Z&kh|k?[N3YZ]f?|k)"
_UNIT = "[wUa]"
_MONTH = r"[Mmy]\.?"
# Only after these words is a name, a verb or an abbreviation a month.
_AFTER = "(?<=[IHpsvzV2FfELXbu])"
# The year of a month or a day, counted from now: two years ago, last year.
COUNTED_YEAR = rf"(?:{SOME}a(?:&kh)?A|V{SOME}a|[LXT]a)"
_YEAR = rf"(?:,?f?Y|f?[tu]aY|f?[tu]?{COUNTED_YEAR})"
_AGO = rf"(?:{SOME}{_UNIT}(?:&kh)?A|V{SOME}{_UNIT})"
_WEEKS_AGO = rf"(?:{SOME}wA|V{SOME}w)"
_DAY_AND_MONTH = (
    r"(?:D[,.]?[tu]?)?(?:"
    rf"(?:Of?|N\.f?|Nf)u?{_MONTH}|(?:N|Qf?)[Mm]\.?|Qfy|(?<=[nF2])Ny|Ny(?!_)"
    r"|[Mm]\.?t?[NO]|y\.?(?:t?O|N(?!_))|(?<=[nF2sbo&])yN)"
)

# In this order: of two expressions that begin at the same token, the first is taken.
_FORMS = (
    ("iso", r"i"),
    ("dots", r"(?:D,?[tu]?)?(?:(?<=[nF2suvzVbo&,])|(?<=D)|(?<=^))g(?:u?[LXT]a)?|g(?=[2o]u?g)"),
    ("slash", r"(?:D,?)?x"),
    ("date", rf"{_DAY_AND_MONTH}{_YEAR}?"),
    ("nth", rf"[QOL](?:[wU]|D)[fIH]t?{_MONTH}{_YEAR}?"),
    (
        "dated",
        rf"(?:{COUNTED_YEAR}|H?aY|(?<=[IH])Y),?(?:[nF]?[tu]?(?:{_DAY_AND_MONTH}|g)|[IH]t?E?{_MONTH}|[IH]t?S|[nIH_]?[tu]?(?:C[eU]?|q)|E{_MONTH}|M)",
    ),
    ("day_ago", rf"{_AGO},?R|R,?{_AGO}"),
    ("day_ahead", rf"{SOME}{_UNIT}F[Rr]|R,?I{SOME}{_UNIT}|(?<![nud])r,?I{SOME}{_UNIT}"),
    ("weekday_ago", rf"n?DB?,?{_WEEKS_AGO}|{_WEEKS_AGO},?n?DB?|{SOME}0A|V{SOME}0"),
    ("weekday_ahead", rf"n?DB?,?I{SOME}w|I{SOME}w,?nDB?|{SOME}wF[tu]?DB?"),
    ("ago", _AGO),
    ("just", rf"{SOME}[1Q]A|V{SOME}1|J?Jj|jJ|JJ|J"),
    ("recent", rf"6R|6T{_UNIT}|t4U|I[tu]?L5|V?l|6"),
    ("ahead", rf"(?:I{SOME}{_UNIT}|{SOME}{_UNIT}Fj)"),
    ("rolling", rf"s{SOME}{_UNIT}(?![Afvz])|[LP]~?[N3YZh]{_UNIT}|P{_UNIT}|(?<=[Ip]t)L{_UNIT}"),
    ("weekday_in", r"n?D(?:,|fu?)?t?[LXT]w|[LXT]w,?n?D"),
    ("part", rf"E(?:f|o|I)?[tu]?(?:[LXT]{_UNIT}|[LXT]?{_MONTH}{_YEAR}?|Y)"),
    ("unit", rf"[LXT]{_UNIT}|t?w[vz][LX]"),
    ("weekend", r"(?<=n)U|(?<=[np]t)U"),
    ("relative", r"U[vz][Rr]|R[Br]|rB|R|(?<![nud])r"),
    ("tonight", r"G|[TL]B"),
    ("weekday", r"[LXT]DB?|(?<![dk])DB?"),
    ("holiday", rf"[LXT]?(?:Wa[eU]|Ce|CU|C){_YEAR}?"),
    (
        "month",
        rf"[LX]{_MONTH}|T[Mm]|{_MONTH}[,f]?Y|M\.?{_YEAR}|m{_YEAR}|{_AFTER}[my]\.?{_YEAR}|M|{_AFTER}[my]|(?<=[st]E)[my]|(?<=[fEs]u)[my]",
    ),
    ("season", rf"[LXT]S{_YEAR}?|It?S(?:{_YEAR}|(?!f))|HS{_YEAR}?|S{_YEAR}"),
    ("quarter", rf"q{_YEAR}?|[QO]U(?:[fIH]?Y|{_YEAR})|KN{_YEAR}?"),
    ("decade", r"I?[tuE]c|c"),
    ("year", rf"(?:(?<=[IHpsvzV2FfbE])|(?<=[VIpFs][tu]))(?:t?aY|Y(?!{_UNIT}))|HaY"),
    ("of_month", r"ntO(?![fMmyUwa])"),
)
_FIRST = "(?=[^_|,.!'&])"  # most tokens are skipped at once
# Only inside a range: a day, the name of a month, a year.
_SHORT = (("day", r"[NO]\.?"), ("short_month", _MONTH), ("short_year", "Y"))
NEED_FROM = ("short_month", "short_year")
# The next smaller unit, and how many of it make one.
_FINER = {
    "year": ("month", 12),
    "quarter": ("month", 3),
    "month": ("day", 30),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
}


class Expression(NamedTuple):
    """The tokens of one expression."""

    classes: str
    values: list[Any]
    words: list[str]

    def get(self, kinds: str) -> Any:
        tokens = zip(self.classes, self.values, strict=True)
        return next((value for kind, value in tokens if kind in kinds), None)

    def has(self, kinds: str) -> bool:
        return any(kind in self.classes for kind in kinds)

    def units(self) -> tuple[str, int, int]:
        """Return a unit, and its smallest and largest count."""
        at = next(n for n, kind in enumerate(self.classes) if kind in "wUa")
        least, most = self.count_before(at)
        if self.has("h"):  # half a year, a year and a half
            least = most = least + 0.5 if self.has("&") else 0.5
        unit = self.values[at]
        if unit == "fortnight":
            unit, least, most = "week", 2 * least, 2 * most
        if least % 1:
            if unit not in _FINER:
                raise ValueError(unit)
            unit, size = _FINER[unit]
            least, most = least * size, most * size
        return unit, int(least), int(most)

    def count_before(self, at: int) -> tuple[float, float]:
        """Return the smallest and largest count before a token; 1 without a number."""
        count: Any = 1
        for kind, value in zip(self.classes[:at], self.values, strict=False):
            if kind in "N3YZ":
                count = value
        return count if isinstance(count, tuple) else (count, count)

    def with_token(self, start: int, end: int, kind: str, value: Any) -> Expression:
        return Expression(
            self.classes[:start] + kind + self.classes[end:],
            [*self.values[:start], value, *self.values[end:]],
            [*self.words[:start], "", *self.words[end:]],
        )


class Tokens(NamedTuple):
    """A text, the classes of its tokens as one string, their values and their words."""

    text: str
    lower: str
    classes: str
    values: list[Any]
    words: list[str]

    def text_between(self, start: int, end: int) -> str:
        places = [token.span() for token in _TOKEN.finditer(self.lower)]
        return self.text[places[start][0] : places[end - 1][1]]


def tokenize(text: str, lower: str) -> Tokens:
    words = _TOKEN.findall(lower)
    table = _table()
    entries = [table[word] for word in words]
    if not text.isascii() or any(word.endswith("te") for word in words):
        words = _as_written(text, lower, words)
    classes = "".join([kind for kind, _ in entries])
    if "y" in classes:
        classes = _with_capitalized_months(text, lower, classes, words)
    if "Y" in classes and any(_is_quantity(text, year) for year in _YEARS.finditer(lower)):
        classes = classes.replace("Y", "3")
    if _MAY_BE_CODE.search(lower) and _IN_CODE.search(lower):
        classes = _without_code(lower, classes)
    return Tokens(text, lower, classes, [value for _, value in entries], words)


def _as_written(text: str, lower: str, words: list[str]) -> list[str]:
    """Return the words with what tells German verbs apart: hätte from hatte, the noun Torte from a past."""
    written = [text[token.start() : token.end()] for token in _TOKEN.finditer(lower)]
    return [
        one.lower().translate(_SPELLED_OUT)
        if _SUBJUNCTIVES.fullmatch(one.lower())
        else f"{word}{_NOUN}"
        if at and words[at - 1].isalnum() and word.endswith("te") and one.istitle()
        else word
        for at, (one, word) in enumerate(zip(written, words, strict=True))
    ]


def _is_quantity(text: str, number: re.Match[str]) -> bool:
    """True when a number that could be a year counts something: 2048 dimensions, 1920 x 1080, 2100 MHz."""
    after = _AFTER_NUMBER.match(text, number.end())
    return after is not None and (after[1] is None or after[1] not in _AFTER_YEARS)


def _without_code(lower: str, classes: str) -> str:
    """Remove the classes of words in identifiers: `date.today()` and monday.com are not days."""
    inside = [one.span() for one in _IN_CODE.finditer(lower)]
    places = [token.start() for token in _TOKEN.finditer(lower)]
    return "".join(
        "_" if kind.isalpha() and any(begin <= place < end for begin, end in inside) else kind
        for kind, place in zip(classes, places, strict=True)
    )


def _with_capitalized_months(text: str, lower: str, classes: str, words: list[str]) -> str:
    """Change the class of May and March, which without a capital are mostly verbs."""
    places = [token.start() for token in _TOKEN.finditer(lower)]
    return "".join(
        "m" if kind == "y" and word in _CAPITALIZED_MONTHS and text[place].isupper() else kind
        for kind, word, place in zip(classes, words, places, strict=True)
    )


class _Table(WordTable):
    """Class and value of every word; a word that is not in it is written in digits, or has no class."""

    def __missing__(self, word: str) -> tuple[str, Any]:
        if word[0].isdecimal():
            return _in_digits(word)
        if word[0].isspace():  # an empty line
            return "!", None
        return self[word[:-2]] if word.endswith("'s") else ("_", None)


@cache
def _table() -> _Table:
    return _Table(known_words() | {sign: (kind, None) for sign, kind in _SIGNS.items()})


def _in_digits(word: str) -> tuple[str, Any]:
    """Return class and value of a word in digits.

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


@cache
def expression_pattern(*, range_end: bool = False) -> re.Pattern[str]:
    """Return the pattern of one expression, or of one end of a range; its group is named after the form."""
    forms = (*_FORMS, *_SHORT) if range_end else _FORMS
    named = "|".join(f"(?P<{name}>{pattern})" for name, pattern in forms)
    return re.compile(f"{_FIRST}(?:{named})")


# Words before an expression: for a time next to it (two days before), with one end open (since, until).
ANCHORED = re.compile(rf"(?:{SOME}{_UNIT}|[tu]?D|[tu]?{_UNIT})[vz]t?(?=[tunNOMmyDigxC])")
OPENING = re.compile(r"[svzV2][tun]?$")

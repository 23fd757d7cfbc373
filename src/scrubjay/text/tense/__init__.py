"""Tense of a question: whether it asks for the present state of a matter, a past one, the first, or all.

The rules are in `rules.txt`, for English and German. Without a match, `learned` decides between past and
present.
"""

from __future__ import annotations

import os
import re
import unicodedata
from functools import cache

PRESENT, PAST, FIRST, THEN, HISTORY = "present", "past", "first", "then", "history"

_MAX_CHARS = 2000  # a longer query is a text, and a text is full of such words
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "’": "'"})
_QUOTED = re.compile(r'"[^"]*"|„[^“”]*[“”]|“[^”]*”|«[^»]*»')
# Every question that a rule takes for one about the past has one of these.
_SIGNS = (
    *(
        "before",
        "use",
        "previous",
        "former",
        "prior",
        "erstwhile",
        "old",
        "earlier",
        "past",
        "back",
    ),
    *(
        "no longer",
        "once",
        "replace",
        "until",
        "till",
        "at the time",
        "origin",
        "initial",
        "first",
    ),
    *("start", "begin", "outset", "histor", "chang", "evol", "develop", "shift", "switch", "move"),
    *(
        "timeline",
        "chronolog",
        "over t",
        "all ",
        "every",
        "log",
        "versions",
        "states",
        "revisions",
    ),
    *("frueher", "vor", "davor", "ehemal", "einst", "damal", "bisher", "seiner", "alt", "mehr"),
    *("ersetzt", "abgeloest", "vergangen", "bis ", "urspr", "anf", "erst", "zunaechst", "sich"),
    *("verlauf", "geschichte", "chronologie", "werdegang", "historie", "laufe", "alle", "oft"),
)
_FILE = os.path.join(os.path.dirname(__file__), "rules.txt")


def tense_of(question: str, *, names_time: bool = False) -> str:
    """Return present, past, first or history; quoted words do not count.
    Of a question that names a time ("since March"), rules alone decide."""
    if len(question) > _MAX_CHARS:
        return PRESENT
    ruled = by_rules(question)
    if ruled is not None or names_time:
        return ruled or PRESENT
    from scrubjay.text.tense.learned import asks_past

    return PAST if asks_past(_QUOTED.sub(" ", question)) else PRESENT


def by_rules(question: str) -> str | None:
    """Return what the rules say of a question, None without a match."""
    text = f" {' '.join(_QUOTED.sub(' ', _plain(question)).split())} "
    if not any(sign in text for sign in _SIGNS):  # to compile the rules takes 30 ms
        return None
    rules = _rules()
    text, plain_uses = rules["not"].subn(" _ ", text)
    for kind, tense in (("history", HISTORY), ("now", PRESENT), ("first", FIRST), ("past", PAST)):
        if rules[kind].search(text):
            return tense
    return PRESENT if plain_uses else None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().translate(_SPELLED_OUT)


@cache
def _rules() -> dict[str, re.Pattern[str]]:
    """Return one pattern for each class of rules."""
    words: dict[str, str] = {}
    rules: dict[str, list[str]] = {}
    with open(_FILE, encoding="utf-8") as lines:
        for line in lines:  # `\\W` must stay what it is
            kind, _, rule = line.strip().translate(_SPELLED_OUT).partition(" ")
            if not rule or kind.startswith("#"):
                continue
            if kind.startswith("="):
                words[kind[1:]] = f"(?:{words.get(kind[1:], '')}|{rule})".replace("(?:|", "(?:")
            else:
                for name, several in words.items():
                    rule = rule.replace(f"<{name}>", several)
                rules.setdefault(kind, []).append(rule)
    return {kind: re.compile(rf"\b(?:{'|'.join(several)})") for kind, several in rules.items()}

"""Small talk: texts of nothing but greetings, thanks, acknowledgements and emoji."""

from __future__ import annotations

import os
import re
import unicodedata
from functools import cache
from typing import NamedTuple

from scrubjay.text.analysis import fold, fold_text

MAX_CHARS = 60
_EMOTICON = re.compile(r"(?<!\w)(?:[:;=][-']?[)(dDpPoO3*/|]+|[xX]D+|<3+|\^_?\^|[)(]:)(?!\w)")
_WORD = re.compile(r"[^\W_]+")
_LAUGHTER = re.compile(r"a?(?:ha|he|hi|ja|je|xa|ах|ха){2,}h?|lo+l|h+m+|a+w+|o+h+|w+o+w+")
_LONG = re.compile(r"(.)\1{2,}")  # thaaanks
_QUOTED = r"""["“„«]([^"“”„«»]+)["“”»]|(?<!\w)['‘‚]([^'‘’‚]+)['’‘](?!\w)"""


class _Phrases(NamedTuple):
    """Phrases as tuples of words, those that a name may follow, and words that add nothing to them."""

    known: frozenset[tuple[str, ...]]
    before_name: frozenset[tuple[str, ...]]
    fillers: frozenset[str]
    longest: int


def is_small_talk(text: str) -> bool:
    """True when greetings, thanks, acknowledgements and emoji are all that a text contains."""
    if len(text) > MAX_CHARS:
        return False
    bare = _EMOTICON.sub(" ", unicodedata.normalize("NFC", text))
    said = _WORD.findall(bare)
    if not said:
        return bare != text or any(unicodedata.category(one) == "So" for one in text)
    words = tuple(_plain(word) for word in said)
    names = [word.isalpha() and word.istitle() for word in said]
    return _is_made_of_phrases(words, names)


def quotes(query: str, text: str) -> bool:
    """True when a query quotes a text: in quotation marks, or word for word if that is more than one."""
    said = fold_text(text)
    parts = (fold_text(part) for found in re.findall(_QUOTED, query) for part in found if part)
    if any(part in said for part in parts):
        return True
    return (
        " " in said and re.search(rf"(?<!\w){re.escape(said)}(?!\w)", fold_text(query)) is not None
    )


def _plain(word: str) -> str:
    folded = fold(word)
    if _LAUGHTER.fullmatch(folded):
        return "haha"
    known = _phrases()
    short = _LONG.sub(r"\1", folded)
    return (
        short
        if short != folded and ((short,) in known.known or short in known.fillers)
        else folded
    )


def _is_made_of_phrases(words: tuple[str, ...], names: list[bool]) -> bool:
    """True when words can be divided into phrases, one at least, and words that add nothing."""
    phrases = _phrases()
    # Places that can be reached from the beginning, and whether with a phrase.
    reached = {(0, False)}
    for start in range(len(words)):
        for with_phrase in (False, True):
            if (start, with_phrase) not in reached:
                continue
            if words[start] in phrases.fillers:
                reached.add((start + 1, with_phrase))
            for end in range(start + 1, min(start + phrases.longest, len(words)) + 1):
                phrase = words[start:end]
                if phrase in phrases.known:
                    reached.add((end, True))
                    if phrase in phrases.before_name and end < len(words) and names[end]:
                        reached.add((end + 1, True))
    return (len(words), True) in reached


@cache
def _phrases() -> _Phrases:
    path = os.path.join(os.path.dirname(__file__), "small_talk.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and line[0] != "#"]
    fillers = (word for line in lines if line[0] == "+" for word in line[1:].split())
    phrases = [line for line in lines if line[0] != "+"]
    known = frozenset(tuple(map(fold, line.removesuffix("*").split())) for line in phrases)
    named = (line for line in phrases if line.endswith("*"))
    return _Phrases(
        known,
        frozenset(tuple(map(fold, line.removesuffix("*").split())) for line in named),
        frozenset(map(fold, fillers)),
        max(map(len, known)),
    )

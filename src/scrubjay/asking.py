"""What a query asks for: words, "phrases", -negations and beginnings*.

Nothing is a syntax error: a sign that makes no sense where it stands is part of the text.
A query's words are stemmed in its language; where that is not clear, in every language of the store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scrubjay.language import detect, stop_words
from scrubjay.text import (
    STOP_WORDS,
    fold,
    is_unspaced,
    stem,
    stemming,
    telling,
    tokens_of,
    unspaced_runs,
    whole_and_parts,
    words,
)
from scrubjay.text import asked as asked_tokens
from scrubjay.types import Term

# In this order: a quoted phrase, a beginning, a word to leave out; each may be negated.
_SIGNS = re.compile(
    r"""(?<!\S)(?P<minus>-?)(?:
        ["“„](?P<phrase>[^"“”„]*\w[^"“”„]*)["”“](?=[\s.,;:!?)\]]|$)
      | (?P<beginning>\w[\w.\-]*)\*(?!\S)
      | (?<=-)(?P<word>[^\W\d_][^\s"“”„]*)
    )""",
    re.VERBOSE,
)
_ENDINGS = (*"abcdefghijklmnopqrstuvwxyz", "ed", "er", "es", "ing", "ion", "ly", "ng", "on")


class Asked(NamedTuple):
    """A query, understood: what scores, what every text must hold or lack, and what a model reads."""

    words: tuple[Term, ...] = ()
    holds: tuple[Term, ...] = ()
    lacks: tuple[Term, ...] = ()
    meaning: str = ""
    language: str = ""

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token that may be marked in a hit."""
        found = (token for term in (*self.words, *self.holds) for token in term.tokens)
        return tuple(dict.fromkeys(found))


def understand(query: str, held: Sequence[str] = ()) -> Asked:
    """Read a query for a store that holds texts in these languages."""
    language, stems = _languages(query, held)
    drop = _stop_words(language)
    plain: list[str] = []
    holds: list[Term] = []
    lacks: list[Term] = []
    end = 0
    for sign in _SIGNS.finditer(query):
        plain.append(query[end : sign.start()])
        terms = _clause(sign, stems)
        (lacks if sign["minus"] else holds).extend(terms)
        if not sign["minus"]:
            plain.append(" ")
        end = sign.end()
    plain.append(query[end:])
    rest = "".join(plain)
    asked = words(rest)
    if not holds and not asked:
        return _literal(query, stems, drop, language)
    positive = _SIGNS.sub(lambda sign: "" if sign["minus"] else _shown(sign), query)
    return Asked(
        tuple(term for word in _telling(asked, drop, holds) for term in _terms(word, stems)),
        tuple(dict.fromkeys(holds)),
        tuple(dict.fromkeys(lacks)),
        positive.strip(),
        language,
    )


def loosened(asked: Asked, held: Sequence[str]) -> Asked:
    """Return the same question with the words of its phrases instead of the phrases."""
    again = understand(asked.meaning.replace('"', " "), held)
    return again._replace(lacks=asked.lacks, meaning=asked.meaning, language=asked.language)


@lru_cache(maxsize=8)
def _stop_words(language: str) -> frozenset[str]:
    if language in ("", "en"):
        return STOP_WORDS
    return frozenset(map(fold, stop_words(language)))


def _literal(query: str, stems: Sequence[str], drop: frozenset[str], language: str) -> Asked:
    """Take a query of negations only as it stands: `-rf` looks for `-rf`."""
    found = (term for word in _telling(words(query), drop, []) for term in _terms(word, stems))
    return Asked(tuple(found), meaning=query, language=language)


def _telling(asked: list[str], drop: frozenset[str], holds: list[Term]) -> list[str]:
    """Return the words without stop words; beside a phrase there need not be any other."""
    return [word for word in asked if fold(word) not in drop] if holds else telling(asked, drop)


def _languages(query: str, held: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the language of a query, and the ways its words are stemmed: all that the store holds.

    Short texts often have no clear language, so those are asked for whatever the query's is.
    """
    if all(one in ("", "en") for one in held):
        return "", ("english",)
    language = detect(query, {*filter(None, held), "en"})
    asked = {language, *([""] if "" in held else [])} if language else held
    return language, tuple(sorted({stemming(one) for one in asked}))


def _terms(word: str, stems: Sequence[str]) -> list[Term]:
    """Return what a word of the query looks for; characters without spaces are asked pair by pair."""
    if is_unspaced(word):
        return [Term(((token,),)) for token in dict.fromkeys(asked_tokens(word, stems[0]))]
    wholes: dict[tuple[str, ...], None] = {}
    parts: dict[int, dict[tuple[str, ...], None]] = {}
    for one in stems:
        whole, of = whole_and_parts(word, one)
        if whole.strip():
            wholes[(whole,)] = None
        for place, token in enumerate(of):
            if token.strip() and token not in STOP_WORDS:
                parts.setdefault(place, {})[(token,)] = None
    if not wholes or not word.strip("_"):
        return []
    return [Term(tuple(wholes), tuple(tuple(each) for each in parts.values()))]


def _clause(sign: re.Match[str], stems: Sequence[str]) -> list[Term]:
    if sign["beginning"]:
        return [Term(tuple(_beginnings(sign["beginning"], stems)))]
    if sign["phrase"]:
        return _phrase(sign["phrase"], stems)
    found = _terms(sign["word"].rstrip(".,;:!?)"), stems)
    literal = tuple(f"{dashes}{fold(sign['word'])}" for dashes in ("-", "--"))
    return [one._replace(unless=literal) for one in found]


def _phrase(phrase: str, stems: Sequence[str]) -> list[Term]:
    """Return runs of neighbouring tokens; where scripts meet, one run ends and the next begins."""
    found: list[Term] = []
    for unspaced, run in _by_script(words(phrase)):
        if unspaced:
            found.extend(
                Term((tuple(tokens),))
                for word in run
                for _, tokens in unspaced_runs(word, stems[0])
                if tokens
            )
        else:
            ways = (tuple(t for word in run for t in tokens_of(word, one)) for one in stems)
            found.append(Term(tuple(dict.fromkeys(way for way in ways if way))))
    return [one for one in found if one.any_of]


def _by_script(of: list[str]) -> list[tuple[bool, list[str]]]:
    runs: list[tuple[bool, list[str]]] = []
    for word in of:
        if not runs or runs[-1][0] != is_unspaced(word):
            runs.append((is_unspaced(word), []))
        runs[-1][1].append(word)
    return runs


def _beginnings(beginning: str, stems: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the beginning itself, and the stems of words so begun that are shorter than it.

    The index holds stems: `configuratio*` must find "configur", which does not begin so.
    """
    bare = fold(beginning)
    shorter = {
        made
        for one in stems
        for ending in ("", *_ENDINGS)
        if len(made := stem(beginning + ending, one)) < len(bare)
    }
    return [(f"{bare}*",), *((one,) for one in sorted(shorter))]


def _shown(sign: re.Match[str]) -> str:
    return sign["phrase"] or sign["beginning"] or ""

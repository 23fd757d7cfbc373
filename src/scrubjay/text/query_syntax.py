"""What a query asks for: words, "phrases", -negations and beginnings*.

Nothing is a syntax error: a sign that makes no sense where it stands is part of the text.
A query's words are stemmed in its language; where that is not clear, in every language of the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from scrubjay.text.analysis import (
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
from scrubjay.text.analysis import asked as asked_tokens
from scrubjay.text.languages import detect, stop_words
from scrubjay.types import Term

# In this order: a quoted phrase, a beginning, a word to leave out; each may be negated. Where words
# are not set apart by spaces, neither are quotes.
_QUOTED = r"""(?:["“„][^"“”„]*["”“]|«[^«»]*»|「[^「」]*」|『[^『』]*』)"""
_UNSPACED = r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
_SIGNS = rf"""(?x)(?<!\S)(?P<minus>-?)(?:
        (?P<quoted>{_QUOTED})(?=[\s.,;:!?)\]，。、；：？！）]|{_UNSPACED}|$)
      | (?P<beginning>\w[^\x00-,/:-@\[-^`{{-\x7f\s“”„«»]*)\*(?!\S)
      | (?<=-)(?P<word>[^\W\d_][^\s"“”„`]*)(?!\S)
    ) | (?<={_UNSPACED})(?P<inside>{_QUOTED})"""
BINDING = ("phrase", "beginning")
# With these a beginning is completed to words, to see what their stems are.
_ENDINGS = (
    *"abcdefghijklmnopqrstuvwxyz",
    *"ch ed eit en ent er es ich ing ion it ly ment ng nt on ung ur ть".split(),
)
_MOST_PARTS = 32
_MOST_BESIDE_A_PHRASE = 8
_LONGEST_WORD_CHARS = 1000  # beyond that only a machine reads on
_BESIDE_UNSPACED = "english"  # what Latin words in such texts mostly are

T = TypeVar("T")


class Asked(NamedTuple):
    """A query, understood: what scores, what every text must hold or lack, and what a model reads."""

    words: tuple[Term, ...] = ()
    holds: tuple[Term, ...] = ()
    lacks: tuple[Term, ...] = ()
    meaning: str = ""
    language: str = ""
    wanted: int = 0
    literal: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token that may be marked in a hit."""
        found = (token for term in (*self.words, *self.holds) for token in term.tokens)
        return tuple(dict.fromkeys(found))


class _Stems(NamedTuple):
    """How words are stemmed: those that score, those tried where these are nowhere, those that bind."""

    asked: tuple[str, ...]
    others: tuple[str, ...]
    every: tuple[str, ...]


def understand(
    query: str, held: Sequence[str] = (), most: int = 64, bind: Sequence[str] = BINDING
) -> Asked:
    """Read a query for a store that holds texts in these languages.

    Of words, of what must be there and of what must not, the first `most` are kept; `wanted` says how
    many there were of whichever was most. Phrases or beginnings that do not `bind` are plain words,
    and so is what a long question quotes: a title in it is no wish to see nothing else.
    """
    language, stems = _languages(query, held)
    signs = list(signs_in(query))
    if len(words(_without(query, signs))) > _MOST_BESIDE_A_PHRASE:
        bind = [one for one in bind if one != "phrase"]
    plain: list[str] = []
    positive: list[str] = []
    holding: list[re.Match[str]] = []
    lacking: list[re.Match[str]] = []
    end = 0
    for sign in signs:
        between, shown = query[end : sign.start()], f" {what_of(sign)} "
        binds = kind_of(sign) in bind
        plain.append(between if sign["minus"] or binds else between + shown)
        positive.append(between if sign["minus"] else between + shown)
        if sign["minus"]:
            lacking.append(sign)
        elif binds:
            plain.append(" ")
            holding.append(sign)
        end = sign.end()
    rest, meaning = "".join((*plain, query[end:])), "".join((*positive, query[end:])).strip()
    lacks, lacked = _first(_once(lacking), lambda sign: _lacking(sign, stems.every), most)
    holds, held_up = _first(_once(holding), lambda sign: _holding(sign, stems.every), most)
    asked = list(dict.fromkeys(words(rest)))
    literal = not holds and not asked and bool(lacks)
    if not holds and not asked:  # only negations are taken as they stand: -rf looks for -rf
        asked, lacks, meaning = list(dict.fromkeys(words(query))), (), query
    asked = _telling(asked, folded_stop_words(language), beside_phrase=bool(holds))
    found, wanted = _first(asked, lambda word: _terms(word, stems), most)
    most_wanted = max(wanted, held_up, lacked)
    return Asked(found, holds, lacks, meaning, language, most_wanted, literal)


def signs_in(query: str) -> Iterator[re.Match[str]]:
    """Yield the quoted phrases, beginnings and negations of a query, in order."""
    # Compiling the pattern takes longer than a search, and most queries have no signs.
    if any(sign in query for sign in '-*"“„«「『'):
        yield from re.finditer(_SIGNS, query)


def _without(query: str, signs: list[re.Match[str]]) -> str:
    """Return a query without its signs and what they stand at."""
    ends = [0, *(sign.end() for sign in signs)]
    starts = [*(sign.start() for sign in signs), len(query)]
    return (
        " ".join(query[end:start] for end, start in zip(ends, starts, strict=True))
        if signs
        else ""
    )


def _once(signs: Iterable[re.Match[str]]) -> Iterable[re.Match[str]]:
    """Return each sign once: a beginning that was typed 300,000 times was worked out as often."""
    return {(kind_of(one), what_of(one)): one for one in signs}.values()


def _first(
    of: Iterable[T], make: Callable[[T], list[Term]], most: int
) -> tuple[tuple[Term, ...], int]:
    """Return the first so many distinct terms, and how many there would be, without making them all."""
    made: dict[Term, None] = {}
    left = 0
    for one in of:
        if len(made) > most:
            left += 1
        else:
            made.update(dict.fromkeys(make(one)))
    return tuple(made)[:most], len(made) + left


def kind_of(sign: re.Match[str]) -> str:
    """Return whether a sign marks a phrase, a beginning or a word."""
    return "beginning" if sign["beginning"] else "word" if sign["word"] else "phrase"


def what_of(sign: re.Match[str]) -> str:
    """Return what a sign stands at, without the sign."""
    return sign["beginning"] or sign["word"] or (sign["quoted"] or sign["inside"])[1:-1]


@lru_cache(maxsize=8)
def folded_stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language as they are compared: folded."""
    if language in ("", "en"):
        return STOP_WORDS
    return frozenset(map(fold, stop_words(language)))


def _telling(asked: list[str], drop: frozenset[str], *, beside_phrase: bool) -> list[str]:
    """Return the words without stop words; beside a phrase there need not be any other."""
    if beside_phrase:
        return [word for word in asked if fold(word) not in drop]
    return telling(asked, drop)


def _languages(query: str, held: Sequence[str]) -> tuple[str, _Stems]:
    """Return the language of a query, and how its words are stemmed.

    Short texts often have no clear language, so those are asked for whatever the query's is. What binds
    is stemmed in every language of the store: a German phrase may be quoted in an English question.
    """
    if all(one in ("", "en") for one in held):
        return "", _Stems(("english",), (), ("english",))
    language = detect(query, {*filter(None, held), "en"})
    every = {stemming(one) for one in held}
    asked = {stemming(one) for one in (language, *([""] if "" in held else []))}
    if not language:
        asked = every
    return language, _Stems(
        tuple(sorted(asked)), tuple(sorted(every - asked)), tuple(sorted(every | asked))
    )


def _terms(word: str, stems: _Stems) -> list[Term]:
    """Return what a word of the query looks for; characters without spaces are asked pair by pair.

    Where its form in the query's language is nowhere, its parts and its forms in other languages are.
    """
    if is_unspaced(word):
        found = dict.fromkeys(asked_tokens(word, _BESIDE_UNSPACED))
        return [Term(((token,),)) for token in found]
    word = word[:_LONGEST_WORD_CHARS]
    wholes: dict[tuple[str, ...], None] = {}
    parts: dict[int, dict[tuple[str, ...], None]] = {}
    for one in (*stems.asked, *stems.others):
        whole, of = whole_and_parts(word, one)
        if one in stems.asked and whole.strip():
            wholes[(whole,)] = None
        elif whole.strip() and (whole,) not in wholes and not of:
            parts.setdefault(-1, {})[(whole,)] = None
        for place, token in enumerate(of[:_MOST_PARTS]):
            if token.strip() and token not in STOP_WORDS:
                parts.setdefault(place, {})[(token,)] = None
    if not wholes or not word.strip("_"):
        return []
    return [Term(tuple(wholes), tuple(tuple(each) for each in parts.values()))]


def _holding(sign: re.Match[str], stems: Sequence[str]) -> list[Term]:
    if sign["beginning"]:
        return _begun(sign["beginning"], stems)
    return _phrase(what_of(sign), stems)


def _lacking(sign: re.Match[str], stems: Sequence[str]) -> list[Term]:
    """Return what a text must not hold; one that holds it with its dash, as in `rm -rf`, is spared."""
    if kind_of(sign) == "phrase":
        return _phrase(what_of(sign), stems)
    if sign["beginning"]:
        found, first, star = _begun(sign["beginning"], stems), sign["beginning"], "*"
    else:
        found, star = _phrase(sign["word"], stems), ""
        first = next(iter(words(sign["word"])), "")
    if is_unspaced(first):
        return found
    bare, _ = whole_and_parts(f"-{first}")
    literal = (bare, f"-{bare}", f"-{first.lower()}")
    return [
        one._replace(unless=tuple(f"{way}{star}" for way in dict.fromkeys(literal)))
        for one in found
    ]


def _phrase(phrase: str, stems: Sequence[str]) -> list[Term]:
    """Return runs of neighbouring tokens; where scripts meet, one run ends and the next begins."""
    found: list[Term] = []
    for unspaced, run in _by_script(words(phrase)):
        if unspaced:
            found.extend(
                Term((tuple(tokens),))
                for word in run
                for _, tokens in unspaced_runs(word, _BESIDE_UNSPACED)
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


def _begun(beginning: str, stems: Sequence[str]) -> list[Term]:
    """Return the beginning itself, and the stems of words so begun that do not begin so themselves.

    The index holds stems: `configuratio*` must find "configur", and `library*` "librari". Characters
    without spaces have no words to begin, and are only found side by side.
    """
    if is_unspaced(beginning):
        return _phrase(beginning, stems)
    bare = fold(beginning)
    others = {
        made
        for one in stems
        for ending in ("", *_ENDINGS)
        # Irish and Indonesian also drop what a word begins with: nothing is left to compare.
        if not (made := stem(beginning + ending, one)).startswith(bare) and made[:2] == bare[:2]
    }
    return [Term(((f"{bare}*",), *((one,) for one in sorted(others))))]

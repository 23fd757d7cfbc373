"""Parse query syntax: phrases, negation, prefixes.

There are no syntax errors: an operator that makes no sense where it stands is part of the text. The words of
a query are stemmed in its language; where the language is unclear, in every language of the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, TypeVar

from scrubjay.text import analysis
from scrubjay.text.analysis import STOP_WORDS, fold, is_unspaced, splice, whole_and_parts, words
from scrubjay.text.languages import detect, stop_words
from scrubjay.types import Term

# In this order: a quoted phrase, a prefix, a word to exclude; each may be negated. In scripts without
# spaces, there are no spaces around quotes either.
_QUOTED = r"""(?:["“„][^"“”„]*["”“]|«[^«»]*»|「[^「」]*」|『[^『』]*』)"""
_UNSPACED = r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
_OPERATORS = rf"""(?x)(?<!\S)(?P<minus>-?)(?:
        (?P<quoted>{_QUOTED})(?=[\s.,;:!?)\]，。、；：？！）]|{_UNSPACED}|$)
      | (?P<prefix>\w[^\x00-,/:-@\[-^`{{-\x7f\s“”„«»]*)\*(?!\S)
      | (?<=-)(?P<word>[^\W\d_][^\s"“”„`]*)(?!\S)
    ) | (?<={_UNSPACED})(?P<inside>{_QUOTED})"""
BINDING = ("phrase", "beginning")
# Appended to a prefix, to find the stems of the words that it begins.
_ENDINGS = (
    *"abcdefghijklmnopqrstuvwxyz",
    *"ch ed eit en ent er es ich ing ion it ly ment ng nt on ung ur ть".split(),
)
_MAX_PARTS = 32
_MAX_WORDS_BESIDE_PHRASE = 8
_MAX_WORD_CHARS = 1000
_LATIN_BESIDE_UNSPACED = "english"  # the usual language of Latin words in such texts

T = TypeVar("T")


class ParsedQuery(NamedTuple):
    """What a query asks for.

    `words` score, `holds` must be in a text, `lacks` must not be in it, `meaning` is the text for a model,
    `wanted` is the number of terms before the limit, `literal` is set when the query was only negations.
    """

    words: tuple[Term, ...] = ()
    holds: tuple[Term, ...] = ()
    lacks: tuple[Term, ...] = ()
    meaning: str = ""
    language: str = ""
    wanted: int = 0
    literal: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(token for term in (*self.words, *self.holds) for token in term.tokens)
        )


class _Stemmers(NamedTuple):
    """Stemmers of the words that score, those tried for words found nowhere, those of binding terms."""

    scoring: tuple[str, ...]
    others: tuple[str, ...]
    binding: tuple[str, ...]


def parse_query(
    query: str, held: Sequence[str] = (), most: int = 64, bind: Sequence[str] = BINDING
) -> ParsedQuery:
    """Parse a query for a store that holds texts in these languages.

    The first `most` words, required terms and excluded terms are used; `wanted` is the largest of their
    counts. Phrases or prefixes that do not `bind` are plain words. So are phrases in a long question:
    quoting a title is no request to see nothing else.
    """
    language, stemmers = _languages(query, held)
    operators = list(operators_in(query))
    beside = _rewritten(query, operators, lambda _: " ") if operators else ""
    if len(words(beside)) > _MAX_WORDS_BESIDE_PHRASE:
        bind = [kind for kind in bind if kind != "phrase"]
    excluded = [operator for operator in operators if operator["minus"]]
    positive = [operator for operator in operators if not operator["minus"]]
    required = [operator for operator in positive if operator_kind(operator) in bind]
    texts = {operator: f" {operator_text(operator)} " for operator in positive}
    meaning = _rewritten(query, operators, lambda operator: texts.get(operator, "")).strip()
    texts |= dict.fromkeys(required, " ")
    rest = _rewritten(query, operators, lambda operator: texts.get(operator, ""))
    lacks, lack_count = _limited(
        _unique(excluded), lambda operator: _excluding(operator, stemmers.binding), most
    )
    holds, hold_count = _limited(
        _unique(required), lambda operator: _requiring(operator, stemmers.binding), most
    )
    scoring = list(dict.fromkeys(words(rest)))
    literal = not holds and not scoring and bool(lacks)
    if not holds and not scoring:  # only negations are taken literally: -rf searches for -rf
        scoring, lacks, meaning = list(dict.fromkeys(words(query))), (), query
    stops = folded_stop_words(language)
    if holds:  # a phrase is enough; no other word is needed
        scoring = [word for word in scoring if fold(word) not in stops]
    else:
        scoring = analysis.without_stop_words(scoring, stops)
    terms, term_count = _limited(scoring, lambda word: _word_terms(word, stemmers), most)
    wanted = max(term_count, hold_count, lack_count)
    return ParsedQuery(terms, holds, lacks, meaning, language, wanted, literal)


def operators_in(query: str) -> Iterator[re.Match[str]]:
    # Compiling the pattern takes longer than a search, and most queries have no operators.
    if any(sign in query for sign in '-*"“„«「『'):
        yield from re.finditer(_OPERATORS, query)


def operator_kind(operator: re.Match[str]) -> str:
    """Return "phrase", "beginning" (a prefix) or "word"."""
    return "beginning" if operator["prefix"] else "word" if operator["word"] else "phrase"


def operator_text(operator: re.Match[str]) -> str:
    quoted = operator["quoted"] or operator["inside"]
    return operator["prefix"] or operator["word"] or quoted[1:-1]


@lru_cache(maxsize=8)
def folded_stop_words(language: str) -> frozenset[str]:
    if language in ("", "en"):
        return STOP_WORDS
    return frozenset(map(fold, stop_words(language)))


def _rewritten(
    query: str, operators: Iterable[re.Match[str]], text_for: Callable[[re.Match[str]], str]
) -> str:
    return splice(query, ((*operator.span(), text_for(operator)) for operator in operators))


def _unique(operators: Iterable[re.Match[str]]) -> Iterable[re.Match[str]]:
    # A prefix typed 300,000 times was expanded as often.
    return {(operator_kind(one), operator_text(one)): one for one in operators}.values()


def _limited(
    items: Iterable[T], make: Callable[[T], list[Term]], most: int
) -> tuple[tuple[Term, ...], int]:
    """Return the first `most` distinct terms, and about how many there are, without making them all."""
    made: dict[Term, None] = {}
    left = 0
    for item in items:
        if len(made) > most:
            left += 1
        else:
            made.update(dict.fromkeys(make(item)))
    return tuple(made)[:most], len(made) + left


def _languages(query: str, held: Sequence[str]) -> tuple[str, _Stemmers]:
    """Return the language of a query, and how its words are stemmed.

    Short texts often have no clear language, so their stemmer is used whatever the query's language is.
    Binding terms are stemmed in every language of the store: an English question may quote German.
    """
    if all(language in ("", "en") for language in held):
        return "", _Stemmers(("english",), (), ("english",))
    language = detect(query, {*filter(None, held), "en"})
    every = {analysis.stemmer_for(one) for one in held}
    scoring = {analysis.stemmer_for(one) for one in (language, *([""] if "" in held else []))}
    if not language:
        scoring = every
    return language, _Stemmers(
        tuple(sorted(scoring)), tuple(sorted(every - scoring)), tuple(sorted(every | scoring))
    )


def _word_terms(word: str, stemmers: _Stemmers) -> list[Term]:
    """Return the terms of a word; its parts and other languages' forms count if it is found nowhere."""
    if is_unspaced(word):
        tokens = dict.fromkeys(analysis.query_tokens(word, _LATIN_BESIDE_UNSPACED))
        return [Term(((token,),)) for token in tokens]
    word = word[:_MAX_WORD_CHARS]
    wholes: dict[tuple[str, ...], None] = {}
    parts: dict[int, dict[tuple[str, ...], None]] = {}
    for stemmer in (*stemmers.scoring, *stemmers.others):
        whole, own_parts = whole_and_parts(word, stemmer)
        if stemmer in stemmers.scoring and whole.strip():
            wholes[(whole,)] = None
        elif whole.strip() and (whole,) not in wholes and not own_parts:
            parts.setdefault(-1, {})[(whole,)] = None
        for place, token in enumerate(own_parts[:_MAX_PARTS]):
            if token.strip() and token not in STOP_WORDS:
                parts.setdefault(place, {})[(token,)] = None
    if not wholes or not word.strip("_"):
        return []
    return [Term(tuple(wholes), tuple(tuple(forms) for forms in parts.values()))]


def _requiring(operator: re.Match[str], stemmers: Sequence[str]) -> list[Term]:
    if operator["prefix"]:
        return _prefix_terms(operator["prefix"], stemmers)
    return _phrase_terms(operator_text(operator), stemmers)


def _excluding(operator: re.Match[str], stemmers: Sequence[str]) -> list[Term]:
    """Return what a text must not hold, unless it holds it with its dash, as in `rm -rf`."""
    terms = _requiring(operator, stemmers)
    first = operator["prefix"] or next(iter(words(operator["word"] or "")), "")
    if operator_kind(operator) == "phrase" or is_unspaced(first):
        return terms
    star = "*" if operator["prefix"] else ""
    folded, _ = whole_and_parts(f"-{first}")
    literal = dict.fromkeys((folded, f"-{folded}", f"-{first.lower()}"))
    return [term._replace(unless=tuple(f"{form}{star}" for form in literal)) for term in terms]


def _phrase_terms(phrase: str, stemmers: Sequence[str]) -> list[Term]:
    """Return runs of adjacent tokens; where the script changes, a new run begins."""
    runs: list[Iterable[list[str]]] = []  # each run, in the form of each stemmer
    for unspaced, group in groupby(words(phrase), is_unspaced):
        if unspaced:
            for word in group:
                by_stemmer = (
                    [run for _, run in analysis.unspaced_runs(word, one)] for one in stemmers
                )
                runs.extend(zip(*by_stemmer, strict=True))
        else:
            run = list(group)
            runs.append(
                [[t for word in run for t in analysis.word_tokens(word, one)] for one in stemmers]
            )
    terms = (Term(tuple(dict.fromkeys(tuple(form) for form in run if form))) for run in runs)
    return [term for term in terms if term.any_of]


def _prefix_terms(prefix: str, stemmers: Sequence[str]) -> list[Term]:
    """Return the prefix, and the stems of words with this prefix that do not have it themselves.

    The index holds stems: `configuratio*` must find "configur", and `library*` "librari". In scripts
    without spaces there are no words, so a prefix is a phrase.
    """
    if is_unspaced(prefix):
        return _phrase_terms(prefix, stemmers)
    folded = fold(prefix)
    others = {
        stemmed
        for stemmer in stemmers
        for ending in ("", *_ENDINGS)
        # Irish and Indonesian also strip the beginning of a word: nothing is left to compare.
        if not (stemmed := analysis.stem(prefix + ending, stemmer)).startswith(folded)
        and stemmed[:2] == folded[:2]
    }
    return [Term(((f"{folded}*",), *((one,) for one in sorted(others))))]

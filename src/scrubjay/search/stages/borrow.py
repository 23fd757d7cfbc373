"""Words from the corpus itself: what the first texts found say besides the query's own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.search.stages.fuse import gather
from scrubjay.search.stages.recall import by_meaning, by_word
from scrubjay.text.analysis import STOP_WORDS, fold, is_unspaced, stem, stemmer_for, words
from scrubjay.text.query_syntax import folded_stop_words, parse_query
from scrubjay.types import RankedList, Term, Variant

if TYPE_CHECKING:
    from scrubjay.storage.protocols import KeywordIndex

_MOST_CHARS = 4000  # of a text whose best passage is not known
_MOST_OF_ONE = 3  # a word that one text repeats is that text's word
_SHORTEST = 3
_LOOKED_UP = 6  # times as many as are borrowed


class _Word(NamedTuple):
    """A stem in the first texts: how often, in how many of them, and as what it is written."""

    often: int
    texts: int
    written: str


@stage
def borrow_words(run: Run, *, texts: int = 5, borrowed: int = 8, shared_by: int = 2) -> Run:
    """Add a lexical variant: the query with the most telling words that the first texts found share.

    This is pseudo-relevance feedback: no language model is asked.
    """
    for name, number in (("texts", texts), ("borrowed", borrowed), ("shared_by", shared_by)):
        if number < 1:
            raise InvalidInput(f"borrow_words.{name} is {number}; it must be 1 or more")
    index: KeywordIndex = run.kit.need("keyword")
    if not run.query.words:
        return run
    found = _words_of(_first_texts(run, texts), own=set(run.query.terms))
    shared = {one: of for one, of in found.items() if of.texts >= shared_by}
    often = sorted(shared, key=lambda one: (-shared[one].often * shared[one].texts, one))
    worth = {
        one: shared[one].often * index.rarity(Term(((one,),)))
        for one in often[: _LOOKED_UP * borrowed]
    }
    best = sorted(worth, key=lambda one: (-worth[one], one))[:borrowed]
    if not best:
        return run.noting(reason="the first texts share no further word")
    written = tuple(shared[one].written for one in best)
    asked = parse_query(" ".join(written), tuple(run.kit.need("records").languages()))
    text = " ".join((run.query.text, *written))
    made = Variant("lexical", text, words=(*run.query.words, *asked.words))
    query = run.query._replace(variants=(*run.query.variants, made))
    return run._replace(query=query).noting(borrowed=written)


def _words_of(texts: Iterator[tuple[str, str]], own: set[str]) -> dict[str, _Word]:
    """Count the words of texts by their stems, without stop words and those of the query."""
    counts: Counter[str] = Counter()
    holding: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for text, language in texts:
        stems, silent = stemmer_for(language), STOP_WORDS | folded_stop_words(language)
        here: Counter[str] = Counter()
        for word in words(text):
            # Numbers, options and other marks tell a page apart, not what it is about.
            if len(word) < _SHORTEST or not word.isalpha() or is_unspaced(word):
                continue
            if fold(word) in silent:
                continue
            one = stem(word, stems)
            if one not in own and not one.isdigit():
                here[one] += 1
                written.setdefault(one, Counter())[word] += 1
        holding.update(here.keys())
        counts.update({one: min(count, _MOST_OF_ONE) for one, count in here.items()})
    return {
        one: _Word(count, holding[one], min(written[one], key=lambda w: (-written[one][w], w)))
        for one, count in counts.items()
    }


def _first_texts(run: Run, texts: int) -> Iterator[tuple[str, str]]:
    """Yield the passages that a quick search by word and meaning finds first, with their language."""
    lists = [by_word(run, run.query.words, texts)]
    if run.query.vector is not None and run.kit.vectors is not None and run.kit.embedder:
        near = by_meaning(run, run.query.vector, texts)
        lists.append(RankedList("vector", near.rows))
    first = sorted(
        gather(tuple(lists)),
        key=lambda one: (-sum(1 / (60 + (at.rank or 0)) for at in one.found.values()), one.id),
    )[:texts]
    records = run.kit.need("records")
    memories = records.get([one.id for one in first], run.query.scope)
    chunks = records.chunks(
        (one.id, one.best_chunk) for one in first if one.best_chunk is not None
    )
    for one in first:
        memory, chunk = memories.get(one.id), chunks.get((one.id, one.best_chunk or 0))
        if memory is not None:
            passage = memory.text[chunk.start : chunk.stop] if chunk else memory.text
            yield passage[:_MOST_CHARS], memory.language

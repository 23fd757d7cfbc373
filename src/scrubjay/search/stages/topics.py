"""Topic source: memories that have words of the query as topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from scrubjay.search.pipeline import Run, limits, stage
from scrubjay.search.stages.recall import different
from scrubjay.storage.sql.topics import split_words
from scrubjay.text.analysis import (
    fold,
    is_unspaced,
    normalize,
    split_by_script,
    valid_unicode,
    without_stop_words,
    words,
)
from scrubjay.text.query_syntax import folded_stop_words
from scrubjay.types import RankedList

_MOST_WORDS = 128
_MOST_WORDS_IN_A_TOPIC = 4
_MOST_UNSPACED_CHARS = 64
_MOST_CHARS_IN_A_WORD = 8


@stage
@limits(depth="1 or more")
def topics(run: Run, *, depth: int = 48) -> RankedList:
    """Memories with the most words of the query among their topics, then the nearest, then the newest.
    Words are compared without case. A topic of two words that the query contains counts as two.
    Stop words count only if there are no others."""
    index, embedder, query = run.kit.need("topics"), run.kit.embedder, run.query
    topics = keywords_in(valid_unicode(query.meaning or query.text), query.language)
    model = embedder.name if embedder is not None else None
    ask = partial(index.search, topics, query.vector, model, query.scope)
    return different(run, ask, max(depth, query.limit))


def keywords_in(text: str, language: str = "") -> tuple[str, ...]:
    """Return the possible topics in a text: its words, and every two to four neighbouring words.
    Neighbours may include stop words, but not only stop words, unless the text joins them:
    "to-do". Joined words are one topic: "pg-main" is "pg main", and does not match "pg". In a
    script without spaces, every few neighbouring characters may be a word."""
    stop_words = folded_stop_words(language)
    written = words(normalize(text).replace("/", " "))[:_MOST_WORDS]
    split = [part for word in written for part in words(split_words(word))][:_MOST_WORDS]
    single = without_stop_words(
        [word for word in written if split_words(word) == word], stop_words
    )
    content = {*map(fold, single), *(fold(word) for word in split if fold(word) not in stop_words)}
    several = (
        split[at : at + length]
        for length in range(2, _MOST_WORDS_IN_A_TOPIC + 1)
        for at in range(len(split) - length + 1)
    )
    whole = (" ".join(run) for run in several if not content.isdisjoint(map(fold, run)))
    joined = (" ".join(words(split_words(word))) for word in written if split_words(word) != word)
    found = (*single, *whole, *joined, *_unspaced(split))
    return tuple(dict.fromkeys(topic.casefold() for topic in found))


def _unspaced(split: Sequence[str]) -> Iterator[str]:
    """Yield the possible words in stretches without spaces, and the other stretches between them."""
    room = _MOST_UNSPACED_CHARS
    for word in split:
        for stretch in split_by_script(word) if is_unspaced(word) and room > 0 else ():
            if not is_unspaced(stretch):
                yield stretch
                continue
            stretch, room = stretch[:room], room - len(stretch)
            for length in range(2, _MOST_CHARS_IN_A_WORD + 1):
                for at in range(len(stretch) - length + 1):
                    yield stretch[at : at + length]

"""What has the query's words for topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.search.stages.spread import different
from scrubjay.storage.sql.topics import apart
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
def topics(run: Run, *, depth: int = 48) -> RankedList:
    """Memories with the most of the query's words among their topics, then the nearest, then the newest.

    Words are taken as they are written, without case. A topic of two words that the query names counts
    as two. Stop words count only if there are no others.
    """
    if depth < 1:
        raise InvalidInput(f"topics.depth is {depth}; it must be 1 or more")
    index, embedder, query = run.kit.need("topics"), run.kit.embedder, run.query
    said = keywords_in(valid_unicode(query.meaning or query.text), query.language)
    model = embedder.name if embedder is not None else None
    return different(
        run,
        lambda most: index.search(said, query.vector, model, query.scope, most),
        max(depth, query.limit),
    )


def keywords_in(text: str, language: str = "") -> tuple[str, ...]:
    """Return what a text may have for topics: its words, and every two to four that are neighbours.

    Neighbours may have stop words among them, but are not made of such only, unless the text joins
    them: "to-do". What is joined is one word: "pg-main" is "pg main", and does not ask for "pg". Of a
    script without spaces, every few neighbouring characters may be a word.
    """
    stop_words = folded_stop_words(language)
    written = words(normalize(text).replace("/", " "))[:_MOST_WORDS]
    said = [word for one in written for word in words(apart(one))][:_MOST_WORDS]
    single = without_stop_words([one for one in written if apart(one) == one], stop_words)
    told = {*map(fold, single), *(fold(one) for one in said if fold(one) not in stop_words)}
    several = (
        said[at : at + length]
        for length in range(2, _MOST_WORDS_IN_A_TOPIC + 1)
        for at in range(len(said) - length + 1)
    )
    whole = (" ".join(run) for run in several if not told.isdisjoint(map(fold, run)))
    joined = (" ".join(words(apart(one))) for one in written if apart(one) != one)
    found = (*single, *whole, *joined, *_unspaced(said))
    return tuple(dict.fromkeys(one.casefold() for one in found))


def _unspaced(said: Sequence[str]) -> Iterator[str]:
    """Yield what may be words in stretches without spaces, and what stands between those."""
    room = _MOST_UNSPACED_CHARS
    for word in said:
        for stretch in split_by_script(word) if is_unspaced(word) and room > 0 else ():
            if not is_unspaced(stretch):
                yield stretch
                continue
            stretch, room = stretch[:room], room - len(stretch)
            for length in range(2, _MOST_CHARS_IN_A_WORD + 1):
                for at in range(len(stretch) - length + 1):
                    yield stretch[at : at + length]

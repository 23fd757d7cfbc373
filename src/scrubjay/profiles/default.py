"""Our own profile: words and meaning, each measured by the best that was found, in equal parts."""

from __future__ import annotations

from scrubjay.pipeline import Stage, recall, when
from scrubjay.stages.fuse import rrf, weigh
from scrubjay.stages.present import at_least, check_files, load, passages, pool, top
from scrubjay.stages.recall import keyword, look_up, nothing_searched, vector
from scrubjay.stages.understand import embed_query, keywords

WEIGHTS = {"keyword": 0.5, "vector": 0.5}
# An English model reads other languages letter by letter; what it says of them is worth less.
FOREIGN = {"keyword": 0.7, "vector": 0.3}
LEAST = {"keyword": 0.2, "vector": 0.3}
# One word found once in a long text is a small share of the best possible, but it is there.
POWERS = {"keyword": 0.5, "vector": 1.0}

_SCORE_AND_SHOW: tuple[Stage, ...] = (
    weigh(weights=WEIGHTS, least=LEAST, powers=POWERS, foreign=FOREIGN),
    at_least(),
    top(),
    load(),
    passages(),
    check_files(),
)


def hybrid(depth: int = 64, size: int = 64) -> tuple[Stage, ...]:
    """Words and meaning in parallel; `depth` is how far down each list is read."""
    return (
        keywords(),
        embed_query(),
        recall(sources=(keyword(depth=depth), vector(depth=depth))),
        rrf(k=60),
        pool(size=size),
        look_up(),
        *_SCORE_AND_SHOW,
    )


def by_word(depth: int = 64) -> tuple[Stage, ...]:
    """Words alone: no model, no numpy, a few milliseconds from a cold shell."""
    return (keywords(), recall(sources=(keyword(depth=depth),)), rrf(k=60), *_SCORE_AND_SHOW)


def by_meaning(depth: int = 64) -> tuple[Stage, ...]:
    """Vectors alone, or words where there is no vector to search with."""
    return (
        keywords(),
        embed_query(),
        recall(sources=(vector(depth=depth),)),
        when(
            test=nothing_searched(),
            then=(recall(sources=(keyword(depth=depth),)).named("words_instead"),),
        ),
        rrf(k=60),
        *_SCORE_AND_SHOW,
    )


MODES = {
    "default": hybrid(),
    "fast": hybrid(),
    "thorough": hybrid(depth=256, size=256),
    "keyword": by_word(),
    "vector": by_meaning(),
}
SUMMARIES = {
    "default": "words and meaning, fused",
    "fast": "the same without any slower step",
    "thorough": "the same with deeper lists",
    "keyword": "words alone",
    "vector": "meaning alone",
}

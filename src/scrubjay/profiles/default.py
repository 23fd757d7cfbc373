"""Our own profile: words and meaning, each measured against its own spread, added up."""

from __future__ import annotations

from scrubjay.pipeline import Stage, recall
from scrubjay.stages.fuse import raw, rrf, z_sum
from scrubjay.stages.present import at_least, load, pool, snippets, top
from scrubjay.stages.recall import keyword, vector
from scrubjay.stages.understand import embed_query, keywords

_SHOW: tuple[Stage, ...] = (at_least(), top(), load(), snippets())


def hybrid(depth: int = 64, size: int = 64) -> tuple[Stage, ...]:
    """Words and meaning in parallel; `depth` is how far down each list is read."""
    return (
        keywords(),
        embed_query(),
        recall(sources=(keyword(depth=depth), vector(depth=depth))),
        rrf(k=60),
        pool(size=size),
        z_sum(),
        *_SHOW,
    )


def by_word(depth: int = 64) -> tuple[Stage, ...]:
    """Words alone: no model, no numpy, a few milliseconds from a cold shell."""
    return (keywords(), recall(sources=(keyword(depth=depth),)), raw(), *_SHOW)


def by_meaning(depth: int = 64) -> tuple[Stage, ...]:
    """Vectors alone."""
    return (keywords(), embed_query(), recall(sources=(vector(depth=depth),)), raw(), *_SHOW)


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

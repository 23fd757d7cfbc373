"""gno: documents by word and meaning, with variants of a language model, reranked by best passage.
After `seeds/gno.txt`; the rows are GN-1 to GN-16 of the requirements."""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, configured, recall, when
from scrubjay.search.stages import expand, fuse, min_max, present, rerank, understand
from scrubjay.search.stages import recall as sources

# The query itself counts twice as much as the variants of a model.
WEIGHTS = {"keyword": 2.0, "vector": 2.0, "lexical": 1.0, "semantic": 1.0, "hyde": 1.4}

_UNDERSTAND: tuple[Stage, ...] = (
    understand.keywords(),
    sources.fan_out(times=2),
    understand.embed_query(),
)
_EXPAND: tuple[Stage, ...] = (
    when(
        test=expand.strong_signal(top=5, score=0.84, gap=0.14, half=1.0),
        then=(expand.skipped_strong(),),
        otherwise=(
            when(
                test=configured(part="corpus").named("corpus_chosen"),
                then=(expand.borrow_words(),),
                otherwise=(
                    expand.rephrase(lexical=3, semantic=3, least_cosine=0.3, time_limit_s=10),
                ),
            ).named("variants"),
        ),
    ).named("expand"),
)
_RECALL: tuple[Stage, ...] = (
    recall(
        sources=(sources.keyword(depth=1, times=2), sources.vector(depth=1, times=2)),
        per_variant=(sources.lexical(times=1), sources.semantic(times=1), sources.hyde(times=1)),
    ),
    fuse.rrf(k=60, weights=WEIGHTS),
    fuse.rank_bonus(first=0.05, next=0.02),
    fuse.over_best(),
)
_RERANK: tuple[Stage, ...] = (
    sources.look_up(),
    rerank.best_reader(
        named=rerank.cross_encoder(depth=20, chars=4000, deadline_ms=2000, give_up_s=10),
        # It reads a passage of a thousand characters at once.
        bundled=rerank.cross_encoder(depth=20, chars=1000, deadline_ms=2000, give_up_s=10),
        late=rerank.late_interaction(depth=20, floor=rerank.UNRELATED),
    ).named("rerank"),
    rerank.blend(top3=0.75, top10=0.60, beyond=0.40),
    fuse.over_best().named(fuse.NORMALIZE),
)
_SHOW: tuple[Stage, ...] = (
    present.at_least(),
    present.top(),
    present.mark_near_duplicates(),
    present.load(),
    present.passages(),
    present.check_files(),
)


def by_word() -> tuple[Stage, ...]:
    """Words alone, each score between the worst and the best of this query."""
    return (
        understand.keywords(),
        sources.fan_out(times=2),
        recall(sources=(sources.keyword(depth=1),)),
        min_max.min_max(weights={"keyword": 1.0}),
        *_SHOW,
    )


def by_meaning() -> tuple[Stage, ...]:
    """Vectors alone, or words where the query has no vector."""
    return (
        *_UNDERSTAND,
        recall(sources=(sources.vector(depth=1),)),
        when(
            test=sources.nothing_searched(),
            then=(
                recall(sources=(sources.keyword(depth=1),)).named("words_instead"),
                min_max.min_max(weights={"keyword": 1.0}),
            ),
            otherwise=(fuse.similarity(),),
        ).named("score"),
        *_SHOW,
    )


MODES = {
    "default": (*_UNDERSTAND, *_RECALL, *_RERANK, *_SHOW),
    "fast": (*_UNDERSTAND, *_RECALL, *_SHOW),
    "thorough": (*_UNDERSTAND, *_EXPAND, *_RECALL, *_RERANK, *_SHOW),
    "keyword": by_word(),
    "vector": by_meaning(),
}
SUMMARIES = {
    "default": "documents: words and meaning, the best 20 reranked",
    "fast": "the same without reranking",
    "thorough": "the same with a language model's variants of the query, unless one hit stands out",
    "keyword": "words alone",
    "vector": "meaning alone",
}

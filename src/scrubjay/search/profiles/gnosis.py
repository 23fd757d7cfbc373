"""gnosis: memories by meaning and topic, all candidates reranked, shown as previews.
After `seeds/gnosis.txt`; the rows are GS-1 to GS-16 of the requirements."""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, recall, when
from scrubjay.search.stages import adjust, fuse, present, rerank, topics, understand
from scrubjay.search.stages import recall as sources

K = 60
# One memory in twenty is a preference, and a summary stands for twenty: facts would crowd them out.
FUSION_BOOST = {"preference": 1.3, "summary": 1.4}
RERANK_BOOST = {"preference": 1.25, "summary": 1.3}
DEMOTED = {"result": 0.6}
DEMOTED_ENDS = {"_done": 0.7}
UNCONFIRMED = 0.70  # the highest score of a text that no reranker has read
WHOLE_TEXT_CHARS = 10_000_000
BUNDLED_CHARS = 1000  # the window of the bundled reranker
BANDS = {"excellent": 0.30, "good": 0.20}


def band(score: float) -> str:
    """Return the band of a score: excellent from 0.30, good from 0.20, otherwise weak."""
    return present.band_of(score, BANDS)


def gnosis(
    size: int = 64, *, checks: tuple[Stage, ...] = (), rerank_from: int = 5, expand_top: int = 3
) -> tuple[Stage, ...]:
    """Find a pool of `size` candidates, rerank all of them, and show those above the noise.
    Where no reranker is configured, the bundled one reads the best passage of each. It had two
    seconds, and read 60 of 256: the others were not dropped and stood above many that were read. Late
    interaction, used where there is neither, counts from the score of unrelated
    texts: counted from 0, everything was excellent, no answer was empty, and summaries always came
    first."""
    whole = rerank.cross_encoder(
        depth=size, chars=WHOLE_TEXT_CHARS, deadline_ms=None, give_up_s=60, titles=True
    )
    read = rerank.best_reader(
        named=whole,
        bundled=whole.with_numbers({"chars": BUNDLED_CHARS}),
        late=rerank.late_interaction(depth=size, floor=rerank.UNRELATED),
    ).named("read")
    return (
        understand.split_query().named("keywords"),
        understand.embed_first().named("embed_query"),
        understand.adapt_query(),
        *checks,
        sources.fan_out(times=2),
        recall(sources=(sources.vector(depth=size), topics.topics(depth=size * 3 // 4))),
        fuse.rrf(k=K),
        present.load(),
        adjust.multiply(types=FUSION_BOOST).named("fusion_boost"),
        present.count_candidates(),
        present.pool(size=size),
        when(
            test=adjust.fewer_than(candidates=rerank_from),
            then=(),
            otherwise=(read,),
        ).named("rerank"),
        adjust.verdict(k=K, boost=max(FUSION_BOOST.values()), high=UNCONFIRMED),
        adjust.keyword_floor(floor=0.30),
        adjust.multiply(types=RERANK_BOOST, cap=1.0, unread_cap=UNCONFIRMED).named("rerank_boost"),
        adjust.multiply(types=DEMOTED, suffixes=DEMOTED_ENDS).named("demotion"),
        present.at_least(score=0.03),
        present.top(),
        present.mark_near_duplicates(),
        present.previews(
            expand_top=expand_top, above=0.80, under_chars=2048, preview_chars=200, bands=BANDS
        ),
        present.check_files(),
    )


MODES = {
    "default": gnosis(),
    "standard": gnosis(),
    # Everything on a subject: always reranked, and refused for a single broad word.
    "deep": gnosis(256, checks=(adjust.needs_keywords(least=2),), rerank_from=0, expand_top=5),
}
LIMITS = {"default": 32, "standard": 32, "deep": 100}
SUMMARIES = {
    "default": "memories: meaning and topics, all 64 candidates reranked, previews of up to 32",
    "standard": "the same, by its own name",
    "deep": "256 candidates, up to 100 results; needs two keywords",
}

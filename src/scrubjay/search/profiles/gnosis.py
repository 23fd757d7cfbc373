"""gnosis: memories by meaning and topic, all candidates reranked, shown as previews.

After `seeds/gnosis.txt`; the rows are GS-1 to GS-16 of the requirements.
"""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, configured, recall, when
from scrubjay.search.stages.adjust import (
    fewer_than,
    keyword_floor,
    multiply,
    needs_keywords,
    verdict,
)
from scrubjay.search.stages.fuse import rrf
from scrubjay.search.stages.present import (
    at_least,
    check_files,
    count_candidates,
    load,
    mark_near_duplicates,
    pool,
    previews,
    top,
)
from scrubjay.search.stages.recall import fan_out, vector
from scrubjay.search.stages.rerank import UNRELATED, cross_encoder, late_interaction
from scrubjay.search.stages.topics import topics
from scrubjay.search.stages.understand import embed_query, keywords

K = 60
# One memory in twenty is a preference, and a summary stands for twenty: facts would crowd them out.
FUSION_BOOST = {"preference": 1.3, "summary": 1.4}
RERANK_BOOST = {"preference": 1.25, "summary": 1.3}
DEMOTED = {"result": 0.6}
DEMOTED_ENDS = {"_done": 0.7}
UNCONFIRMED = 0.70  # the highest score of a text that no reranker has read
WHOLE_TEXT_CHARS = 10_000_000
BANDS = {"excellent": 0.30, "good": 0.20}


def band(score: float) -> str:
    """Return the band of a score: excellent from 0.30, good from 0.20, otherwise weak."""
    for name, least in BANDS.items():
        if round(score, 6) >= least:
            return name
    return "weak"


def gnosis(
    size: int = 64, *, checks: tuple[Stage, ...] = (), rerank_from: int = 5, expand_top: int = 3
) -> tuple[Stage, ...]:
    """Find a pool of `size` candidates, rerank all of them, and show those above the noise.

    Late interaction, used where no reranker is configured, counts from the score of unrelated texts:
    counted from 0, everything was excellent, no answer was empty, and summaries always came first.
    """
    read = when(
        test=configured(part="reranker"),
        then=(cross_encoder(depth=size, chars=WHOLE_TEXT_CHARS, deadline_ms=None, give_up_s=60),),
        otherwise=(late_interaction(depth=size, floor=UNRELATED),),
    ).named("read")
    return (
        keywords(),
        *checks,
        embed_query(),
        fan_out(times=2),
        recall(sources=(vector(depth=size), topics(depth=size * 3 // 4))),
        rrf(k=K),
        load(),
        multiply(types=FUSION_BOOST).named("fusion_boost"),
        count_candidates(),
        pool(size=size),
        when(
            test=fewer_than(candidates=rerank_from),
            then=(),
            otherwise=(read,),
        ).named("rerank"),
        verdict(k=K, boost=max(FUSION_BOOST.values()), high=UNCONFIRMED),
        keyword_floor(floor=0.30),
        multiply(types=RERANK_BOOST, cap=1.0, unread_cap=UNCONFIRMED).named("rerank_boost"),
        multiply(types=DEMOTED, suffixes=DEMOTED_ENDS).named("demotion"),
        at_least(score=0.03),
        top(),
        mark_near_duplicates(),
        previews(expand_top=expand_top, above=0.80, under_chars=2048, preview_chars=200),
        check_files(),
    )


MODES = {
    "default": gnosis(),
    "standard": gnosis(),
    # Everything on a subject: always reranked, and refused for a single broad word.
    "deep": gnosis(256, checks=(needs_keywords(least=2),), rerank_from=0, expand_top=5),
}
LIMITS = {"default": 32, "standard": 32, "deep": 100}
SUMMARIES = {
    "default": "memories: meaning and topics, all 64 candidates reranked, previews of up to 32",
    "standard": "the same, by its own name",
    "deep": "256 candidates, up to 100 results; needs two keywords",
}

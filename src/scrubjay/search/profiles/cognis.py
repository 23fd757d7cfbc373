"""cognis: conversations. Short vectors first, words, the messages of this session, time and recency.

After `seeds/cognis.txt`; the rows are CG-1 to CG-10 of the requirements.
"""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, recall
from scrubjay.search.profiles.default import FIELDS
from scrubjay.search.stages.conversation import (
    by_rank,
    distinct,
    immediate,
    memories,
    merge,
    near_enough,
    over_sessions,
)
from scrubjay.search.stages.present import (
    around,
    at_least,
    check_files,
    load,
    mark_near_duplicates,
    passages,
    top,
)
from scrubjay.search.stages.recall import any_word, fan_out
from scrubjay.search.stages.timing import moment, recency, time_blend, time_range
from scrubjay.search.stages.understand import embed_query, keywords

# Names of the seed document for these numbers. It calls the time constant a half-life.
SETTINGS = {
    "vector_weight": "by_rank.vector",
    "bm25_weight": "by_rank.keyword",
    "rrf_k": "by_rank.k",
    "similarity_threshold": "near_enough.cosine",
    "shortlist_size": "vector.shortlist",
    "recency_boost_weight": "recency.weight",
    "recency_time_constant_s": "recency.time_constant_s",
    "recency_half_life_seconds": "recency.time_constant_s",
}


def cognis() -> tuple[Stage, ...]:
    """Search memories of all sessions and raw messages of this one, on one scale."""
    return (
        over_sessions(settle_s=120),
        time_range(),
        keywords(),
        fan_out(times=2),
        embed_query(),
        recall(
            sources=(
                any_word(depth=200, times=1, weights=FIELDS).named("keyword"),
                memories(shortlist=200).named("vector"),
                immediate(shortlist=200),
                moment(depth=64),
            )
        ),
        merge(into="vector", name="immediate"),
        near_enough(cosine=0.3),
        by_rank(vector=0.7, keyword=0.3, k=10),
        load(),
        time_blend(ranks=0.6, time=0.4, unknown=0.5),
        recency(weight=0.25, time_constant_s=120),
        distinct(),
        at_least(),
        top(),
        mark_near_duplicates(),
        around(),
        passages(),
        check_files(),
    )


MODES = {"default": cognis()}
SUMMARIES = {
    "default": "conversations: meaning in two passes, words, this session's messages, time, recency"
}

"""cognis: conversations. Short vectors first, words, the messages of this session, time and recency.
After `seeds/cognis.txt`; the rows are CG-1 to CG-10 of the requirements."""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, recall
from scrubjay.search.profiles.default import FIELDS
from scrubjay.search.stages import conversation, present, timing, understand
from scrubjay.search.stages import recall as sources

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
        conversation.over_sessions(settle_s=120),
        understand.time_range(only=False),
        understand.keywords(),
        sources.fan_out(times=2),
        understand.embed_query(),
        recall(
            sources=(
                sources.any_word(depth=200, times=1, weights=FIELDS).named("keyword"),
                conversation.memories(shortlist=200).named("vector"),
                conversation.immediate(shortlist=200),
                timing.moment(depth=64),
            )
        ),
        conversation.merge(into="vector", name="immediate"),
        conversation.near_enough(cosine=0.3),
        conversation.by_rank(vector=0.7, keyword=0.3, k=10),
        present.load(),
        timing.time_blend(ranks=0.6, time=0.4, unknown=0.5),
        timing.recency(weight=0.25, time_constant_s=120),
        conversation.distinct(),
        present.at_least(),
        present.top(),
        present.mark_near_duplicates(),
        present.around(),
        present.passages(),
        present.check_files(),
    )


MODES = {"default": cognis()}
SUMMARIES = {
    "default": "conversations: meaning in two passes, words, this session's messages, time, recency"
}

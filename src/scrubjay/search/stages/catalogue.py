"""The catalogue of stages: profiles in TOML, the docs and the checks read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrubjay.search import pipeline
from scrubjay.search.pipeline import Part, configured, group, when
from scrubjay.search.stages.adaptive import adaptive
from scrubjay.search.stages.adjust import (
    fewer_than,
    keyword_floor,
    multiply,
    needs_keywords,
    verdict,
)
from scrubjay.search.stages.around import around
from scrubjay.search.stages.borrow import borrow_words
from scrubjay.search.stages.conversation import (
    by_rank,
    distinct,
    immediate,
    memories,
    merge,
    near_enough,
    over_sessions,
)
from scrubjay.search.stages.entries import describe, fixed_score, scan, top_or_all, widen
from scrubjay.search.stages.expand import rephrase, skipped_strong, strong_signal
from scrubjay.search.stages.fuse import over_best, rank_bonus, rrf, similarity, union, weigh
from scrubjay.search.stages.graph import graph
from scrubjay.search.stages.min_max import clamp, min_max
from scrubjay.search.stages.present import (
    at_least,
    check_files,
    count_candidates,
    count_hits,
    count_passages,
    load,
    mark_near_duplicates,
    passages,
    pool,
    previews,
    top,
)
from scrubjay.search.stages.recall import (
    any_word,
    hyde,
    keyword,
    lexical,
    look_up,
    nothing_searched,
    semantic,
    variant,
    vector,
)
from scrubjay.search.stages.rerank import blend, cross_encoder, late_interaction
from scrubjay.search.stages.signals import signals
from scrubjay.search.stages.spread import fan_out, namespaces
from scrubjay.search.stages.tiers import by_tier, tier_weight, tiers
from scrubjay.search.stages.timing import in_time, moment, recency, time_blend, time_range, timed
from scrubjay.search.stages.topics import topics
from scrubjay.search.stages.understand import embed_query, keywords

STAGES: dict[str, Callable[..., Part[Any]]] = {
    make.__name__: make
    for make in (
        keywords,
        needs_keywords,
        embed_query,
        over_sessions,
        time_range,
        timed,
        adaptive,
        namespaces,
        fan_out,
        strong_signal,
        skipped_strong,
        rephrase,
        borrow_words,
        pipeline.recall,  # `recall` here is the module of that name
        keyword,
        any_word,
        vector,
        memories,
        immediate,
        moment,
        topics,
        graph,
        variant,
        lexical,
        semantic,
        hyde,
        when,
        group,
        configured,
        nothing_searched,
        tiers,
        by_tier,
        tier_weight,
        union,
        merge,
        near_enough,
        by_rank,
        rrf,
        rank_bonus,
        over_best,
        clamp,
        min_max,
        similarity,
        multiply,
        look_up,
        late_interaction,
        cross_encoder,
        blend,
        fewer_than,
        verdict,
        keyword_floor,
        weigh,
        in_time,
        time_blend,
        recency,
        distinct,
        widen,
        signals,
        fixed_score,
        top_or_all,
        scan,
        describe,
        count_candidates,
        count_passages,
        pool,
        top,
        mark_near_duplicates,
        at_least,
        load,
        around,
        passages,
        previews,
        check_files,
        count_hits,
    )
}

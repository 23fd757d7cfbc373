"""vault: knowledge entries in tiers of databases, by word and meaning, scored by six signals.

After `seeds/vault.txt`; the rows are SV-1 to SV-13 of the requirements.
"""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, recall
from scrubjay.search.stages.entries import describe, fixed_score, scan, top_or_all, widen
from scrubjay.search.stages.fuse import union
from scrubjay.search.stages.present import (
    at_least,
    check_files,
    load,
    mark_near_duplicates,
    passages,
)
from scrubjay.search.stages.recall import any_word, fan_out, look_up, vector
from scrubjay.search.stages.signals import adaptive, signals
from scrubjay.search.stages.tiers import by_tier, tier_weight, tiers
from scrubjay.search.stages.understand import embed_query, keywords

FIELDS = {"title": 10.0, "ident": 5.0, "text": 3.0, "topics": 2.0, "context": 1.0}
TIERS = {"agent": 1.0, "project": 0.8, "team": 0.6}
_OF_THE_ENTRY = {
    "severity": 0.15,
    "temporal_decay": 0.15,
    "tag_overlap": 0.15,
    "domain_match": 0.15,
}
KEYWORD_ONLY = {"semantic": 0.40, **_OF_THE_ENTRY}
WITH_VECTORS = {"semantic": 0.25, "vector": 0.15, **_OF_THE_ENTRY}
SEVERITIES = {"critical": 1.0, "warning": 0.7, "suggestion": 0.4}
# Session history and captured context: searched by the same stages, but not entries.
MEMORIES = ("message", "session", "context")


def vault(*show: Stage) -> tuple[Stage, ...]:
    """Search every tier, score by six signals, and present with these stages."""
    return (
        keywords(least_chars=2),
        embed_query(),
        adaptive(after=30, times=0.3, most=0.15),
        widen(unlimited=50),
        tiers(
            find=(
                fan_out(times=2),
                recall(
                    sources=(
                        any_word(depth=30, times=3, weights=FIELDS, not_types=MEMORIES).named(
                            "keyword"
                        ),
                        any_word(depth=30, times=3, weights=FIELDS, types=MEMORIES).named(
                            "memory"
                        ),
                        vector(depth=30, times=3, not_types=MEMORIES),
                    )
                ),
                union(),
            ),
            read=(load(), look_up()),
            weights=TIERS,
        ),
        signals(
            keyword_only=KEYWORD_ONLY,
            with_vectors=WITH_VECTORS,
            severities=SEVERITIES,
            unsaid="suggestion",
            half_life_days=365,
            fading=0.25,
        ),
        fixed_score(types=MEMORIES, score=0.5),
        tier_weight(),
        at_least(),
        top_or_all(few=50, share=0.5),
        *show,
    )


_FULL = vault(describe(), by_tier(stages=(passages(), mark_near_duplicates(), check_files())))
MODES = {"default": _FULL, "full": _FULL, "scan": vault(scan(chars=120))}
SUMMARIES = {
    "default": "entries in tiers of databases: words and meaning, six weighted signals, whole",
    "full": "the same, by its own name",
    "scan": "the same hits by their first 120 characters, to choose which to load",
}

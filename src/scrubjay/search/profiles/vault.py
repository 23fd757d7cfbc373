"""vault: knowledge entries in tiers of databases, by word and meaning, scored by six signals.
After `seeds/vault.txt`; the rows are SV-1 to SV-13 of the requirements."""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, recall
from scrubjay.search.stages import entries, fuse, present, signals, tiers, understand
from scrubjay.search.stages import recall as sources

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
        understand.keywords(least_chars=2),
        understand.embed_query(),
        signals.adaptive(after=30, times=0.3, most=0.15),
        entries.widen(unlimited=50),
        tiers.tiers(
            find=(
                sources.fan_out(times=2),
                recall(
                    sources=(
                        sources.any_word(
                            depth=30, times=3, weights=FIELDS, not_types=MEMORIES
                        ).named("keyword"),
                        sources.any_word(depth=30, times=3, weights=FIELDS, types=MEMORIES).named(
                            "memory"
                        ),
                        sources.vector(depth=30, times=3, not_types=MEMORIES),
                    )
                ),
                fuse.union(),
            ),
            read=(present.load(), sources.look_up()),
            weights=TIERS,
        ),
        signals.signals(
            keyword_only=KEYWORD_ONLY,
            with_vectors=WITH_VECTORS,
            severities=SEVERITIES,
            unsaid="suggestion",
            half_life_days=365,
            fading=0.25,
        ),
        entries.fixed_score(types=MEMORIES, score=0.5),
        tiers.tier_weight(),
        present.at_least(),
        entries.top_or_all(few=50, share=0.5, lists=("keyword", "memory")),
        *show,
    )


_FULL = vault(
    entries.describe(),
    tiers.by_tier(
        stages=(present.passages(), present.mark_near_duplicates(), present.check_files())
    ),
)
MODES = {"default": _FULL, "full": _FULL, "scan": vault(entries.scan(chars=120))}
SUMMARIES = {
    "default": "entries in tiers of databases: words and meaning, six weighted signals, whole",
    "full": "the same, by its own name",
    "scan": "the same hits by their first 120 characters, to choose which to load",
}

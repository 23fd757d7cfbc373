"""A profile of a few stages that searches every tier, for tests that need no signals."""

from __future__ import annotations

from scrubjay.search.pipeline import Run, recall, stage
from scrubjay.search.profiles import Profile
from scrubjay.search.stages.fuse import union
from scrubjay.search.stages.present import load, passages, top
from scrubjay.search.stages.recall import keyword, look_up, vector
from scrubjay.search.stages.tiers import TIER_WEIGHTS, by_tier, tier_weight, tiers
from scrubjay.search.stages.understand import embed_query, keywords


@stage
def matched(run: Run) -> Run:
    """Score 1 for what a word has found, a tenth for what only stands in for it."""
    pool = [one._replace(score=1.0 if "keyword" in one.found else 0.1) for one in run.pool]
    return run._replace(pool=tuple(sorted(pool, key=lambda one: one.order)))


STAGES = (
    keywords(),
    embed_query(),
    tiers(
        find=(recall(sources=(keyword(depth=30), vector(depth=30))), union()),
        read=(load(), look_up()),
        weights=TIER_WEIGHTS,
    ),
    matched(),
    tier_weight(),
    top(),
    by_tier(stages=(passages(),)),
)


def layered() -> Profile:
    """Return the profile."""
    return Profile("layered", STAGES)

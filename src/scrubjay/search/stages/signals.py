"""Six signals of an entry, each in 0..1, summed by weight: text, vector, severity, age, tags, domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, checked_by, stage
from scrubjay.search.stages.adaptive import adapted
from scrubjay.search.stages.decay import freshness
from scrubjay.search.stages.word_cosine import word_cosines
from scrubjay.text.analysis import fold_label
from scrubjay.times import system_clock
from scrubjay.types import Memory

SIGNALS = ("semantic", "vector", "severity", "temporal_decay", "tag_overlap", "domain_match")
_OFF_BY = 1e-9


def check_signals(
    *,
    keyword_only: Mapping[str, float],
    with_vectors: Mapping[str, float],
    severities: Mapping[str, float],
    unsaid: str,
    half_life_days: float,
    fading: float,
) -> None:
    """Refuse numbers that cannot be meant, when the profile is built."""
    for name, weights in (("keyword_only", keyword_only), ("with_vectors", with_vectors)):
        _check_weights(f"signals.{name}", weights)
    if "vector" in keyword_only:
        raise InvalidInput("signals.keyword_only weighs vector, which there is none of")
    if any(not 0 <= value <= 1 for value in severities.values()) or unsaid not in severities:
        raise InvalidInput(
            f"signals.severities is {dict(severities)}, and {unsaid!r} stands for none given; values"
            " are in 0..1, and that one must be among them"
        )
    if not half_life_days > 0 or not 0 < fading <= 1:
        raise InvalidInput(
            f"signals.half_life_days is {half_life_days} and fading {fading};"
            " above 0, and above 0 and at most 1, are right"
        )


def _check_weights(name: str, weights: Mapping[str, float]) -> None:
    unknown = [one for one in weights if one not in SIGNALS]
    if unknown:
        raise InvalidInput(
            f"{name} weighs {', '.join(unknown)}; the signals are {', '.join(SIGNALS)}"
        )
    if any(weight < 0 for weight in weights.values()):
        raise InvalidInput(f"{name} is {dict(weights)}; weights must be 0 or more")
    total = sum(weights.values())
    if abs(total - 1) > _OFF_BY:
        raise InvalidInput(f"{name} sums to {round(total, 9):g}; the weights must sum to 1")


@stage
@checked_by(check_signals)
def signals(
    run: Run,
    *,
    keyword_only: Mapping[str, float],
    with_vectors: Mapping[str, float],
    severities: Mapping[str, float],
    unsaid: str = "suggestion",
    half_life_days: float = 365,
    fading: float = 0.25,
) -> Run:
    """Score by the weighted sum of six signals; `why` holds each of them as it is, in 0..1.

    Where the query got a vector, the weights are those `with_vectors`; an entry without one has 0
    there. What was learned from feedback has moved them (`adaptive`). `unsaid` is the severity of an
    entry that has none. The trace notes the weights.
    """
    base = keyword_only if run.query.vector is None else with_vectors
    weights = adapted(base, run.query.shift)
    now = (run.kit.clock or system_clock)()
    fits, uncounted = word_cosines(run)
    pool = []
    for one in run.pool:
        if one.memory is None:
            continue
        memory, near = one.memory, one.found.get("vector")
        why = {
            "semantic": fits.get((one.tier, one.id), 0.0),
            "vector": min(max(near.score, 0.0), 1.0) if near else 0.0,
            "severity": severities.get(memory.severity or unsaid, severities[unsaid]),
            "temporal_decay": freshness(memory, now, half_life_days, fading),
            "tag_overlap": overlap(run.query.tags, memory.topics),
            "domain_match": _same_domain(run.query.domain, memory),
        }
        score = sum(weight * why[name] for name, weight in weights.items())
        pool.append(one._replace(score=score, why=why))
    pool.sort(key=lambda one: one.order)
    run = run._replace(pool=tuple(pool)).noting(weights=weights)
    return run.noting(warning="; ".join(uncounted)) if uncounted else run


def overlap(asked: Iterable[str], held: Iterable[str]) -> float:
    """Return how much two sets of tags have in common, over all that are in either; 0 without any."""
    mine, theirs = set(asked), set(held)
    return len(mine & theirs) / len(mine | theirs) if mine else 0.0


def _same_domain(asked: str | None, memory: Memory) -> float:
    if asked is None or memory.domain is None:
        return 0.0
    return float(fold_label(asked) == fold_label(memory.domain))

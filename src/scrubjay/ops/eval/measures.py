"""How good a ranking is, by the measures that everybody reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

Grades = Mapping[str, float]


def ndcg(ranked: Sequence[str], grades: Grades, at: int = 10) -> float:
    """Gain of what was found over gain of the best possible order; grades count linearly."""
    gains = [max(grades.get(id_, 0.0), 0.0) for id_ in ranked[:at]]
    found = sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:at]
    ideal = sum(grade / log2(place + 1) for place, grade in enumerate(best, 1))
    return found / ideal if ideal else 0.0


def recall(ranked: Sequence[str], grades: Grades, at: int = 10) -> float:
    """Share of the relevant ones that were found."""
    relevant = {id_ for id_, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:at])) / len(relevant) if relevant else 0.0


def mrr(ranked: Sequence[str], grades: Grades, at: int = 10) -> float:
    """One over the place of the first relevant one."""
    for place, id_ in enumerate(ranked[:at], 1):
        if grades.get(id_, 0.0) > 0:
            return 1.0 / place
    return 0.0

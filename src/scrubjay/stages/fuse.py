"""How several ranked lists become one pool of candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt

from scrubjay.errors import InvalidInput
from scrubjay.pipeline import Run, stage
from scrubjay.types import Candidate, Found, RankedList


def gather(lists: tuple[RankedList, ...]) -> dict[str, Candidate]:
    """One candidate a memory, with its rank and raw score in every list that found it."""
    pool: dict[str, Candidate] = {}
    for one in lists:
        for rank, row in enumerate(one.rows, start=1):
            seen = pool.get(row.id) or Candidate(row.id, updated_us=row.updated_us)
            pool[row.id] = replace(
                seen,
                found={**seen.found, one.name: Found(rank, row.score)},
                best_chunk=seen.best_chunk if row.chunk is None else row.chunk,
            )
    return pool


@stage
def rrf(run: Run, *, k: float = 60, weights: Mapping[str, float] | None = None) -> Run:
    """Sum weight / (k + rank) over every list a memory appears in; an absent list gives 0."""
    if k < 0:
        raise InvalidInput(f"rrf.k is {k}; it must be 0 or more, 60 is usual")
    pool = []
    for candidate in gather(run.lists).values():
        parts = {
            f"rrf_{name}": (weights or {}).get(name, 1.0) / (k + found.rank)
            for name, found in candidate.found.items()
            if found.rank is not None
        }
        pool.append(replace(candidate, score=sum(parts.values()), why=parts))
    return replace(run, pool=tuple(sorted(pool, key=lambda one: one.order)))


@stage
def raw(run: Run) -> Run:
    """Rank by one list's own scores, where a search has only one list."""
    pool = [
        replace(one, score=found.score, why={name: found.score})
        for one in gather(run.lists).values()
        for name, found in one.found.items()
    ]
    return replace(run, pool=tuple(sorted(pool, key=lambda one: one.order)))


@stage
def z_sum(run: Run, *, weights: Mapping[str, float] | None = None) -> Run:
    """Add up how many standard deviations a candidate lies above the pool's mean in each list.

    A memory that a list did not find has that list's score looked up or, where it has none, counts
    as the lowest score that the list gave.
    """
    scores = {one.name: _scores(one, run.pool) for one in run.lists if one.rows}
    spreads = {name: mean_and_deviation(list(of.values())) for name, of in scores.items()}
    pool = []
    for candidate in run.pool:
        parts = {
            name: (weights or {}).get(name, 1.0)
            * (of[candidate.id] - spreads[name][0])
            / spreads[name][1]
            for name, of in scores.items()
        }
        pool.append(replace(candidate, score=sum(parts.values()), why=parts))
    pool.sort(key=lambda one: one.order)
    return replace(run, pool=tuple(pool)).noting(
        **{name: {"mean": mean, "deviation": spread} for name, (mean, spread) in spreads.items()}
    )


def _scores(one: RankedList, pool: tuple[Candidate, ...]) -> dict[str, float]:
    lowest = min(row.score for row in one.rows)
    return {c.id: c.found[one.name].score if one.name in c.found else lowest for c in pool}


def mean_and_deviation(values: list[float]) -> tuple[float, float]:
    """Mean and standard deviation; the deviation of equal values counts as 1, so that z is 0."""
    mean = sum(values) / len(values)
    spread = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return mean, spread if spread > 1e-9 else 1.0

"""How several ranked lists become one pool of candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.pipeline import Run, stage
from scrubjay.types import Candidate, Found, RankedList


def gather(lists: tuple[RankedList, ...]) -> list[Candidate]:
    """One candidate a memory, with its rank and raw score in every list that found it."""
    found: dict[str, dict[str, Found]] = {}
    chunks: dict[str, int] = {}
    ages: dict[str, int] = {}
    for one in lists:
        for rank, row in enumerate(one.rows, start=1):
            found.setdefault(row.id, {})[one.name] = Found(rank, row.score)
            ages[row.id] = row.updated_us
            if row.chunk is not None:
                chunks[row.id] = row.chunk
    return [
        Candidate(id_, updated_us=ages[id_], best_chunk=chunks.get(id_), found=of)
        for id_, of in found.items()
    ]


@stage
def rrf(run: Run, *, k: float = 60, weights: Mapping[str, float] | None = None) -> Run:
    """Sum weight / (k + rank) over every list a memory appears in; an absent list gives 0."""
    if k < 0:
        raise InvalidInput(f"rrf.k is {k}; it must be 0 or more, 60 is usual")
    by_list = weights or {}
    pool = []
    for one in gather(run.lists):
        parts = {
            f"rrf_{name}": by_list.get(name, 1.0) / (k + place.rank)
            for name, place in one.found.items()
            if place.rank is not None
        }
        # Built anew rather than replaced: this runs for every candidate of every search.
        score = sum(parts.values())
        pool.append(Candidate(one.id, score, one.updated_us, one.best_chunk, one.found, parts))
    pool.sort(key=lambda one: one.order)
    return run._replace(pool=tuple(pool))


@stage
def weigh(
    run: Run,
    *,
    weights: Mapping[str, float],
    least: Mapping[str, float] | None = None,
    powers: Mapping[str, float] | None = None,
    foreign: Mapping[str, float] | None = None,
) -> Run:
    """Score by how near a candidate comes to the best of each list; the first by its own strength.

    In each list a candidate has its score over the best score found there; a best below `least`, as a
    share of the best possible, is not blown up to 1. These are averaged by weight over the lists that
    found anything. Then all are scaled such that the first has the score 1 - (1 - a)(1 - b)…, where
    a, b … are its own shares of the best possible, each to its power: a number that means the same
    for every query. `foreign` are the weights for a query in a language that the model does not know.
    """
    if run.query.foreign and foreign is not None:
        weights = foreign
    if any(weight < 0 for weight in weights.values()) or not any(weights.values()):
        raise InvalidInput(
            f"weigh.weights is {dict(weights)}; weights must be 0 or more, and one above 0"
        )
    asked = [one for one in run.lists if one.rows and weights.get(one.name, 0) > 0]
    total = sum(weights[one.name] for one in asked)
    notes: dict[str, Any] = {
        one.name: {
            "weight": weights[one.name] / total,
            "of": max(_best(one, run.pool), (least or {}).get(one.name, 0.0) * one.best, 1e-9),
            "best_possible": one.best,
        }
        for one in asked
    }
    parts = {one.id: _parts(one, notes) for one in run.pool}
    first = min(run.pool, key=lambda one: (-sum(parts[one.id].values()), *one.order), default=None)
    if first is None:
        return run
    relative, strength = sum(parts[first.id].values()), _strength(first, asked, powers or {})
    times = strength / relative if relative > 0 else 0.0
    pool = []
    for one in run.pool:
        why = {name: amount * times for name, amount in parts[one.id].items()}
        pool.append(one._replace(score=sum(why.values()), why=why))
    pool.sort(key=lambda one: one.order)
    return run._replace(pool=tuple(pool), confidence=strength).noting(**notes, times=times)


def _best(one: RankedList, pool: tuple[Candidate, ...]) -> float:
    return max((c.found[one.name].score for c in pool if one.name in c.found), default=0.0)


def _parts(candidate: Candidate, lists: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {
        name: numbers["weight"] * max(candidate.found[name].score, 0.0) / numbers["of"]
        for name, numbers in lists.items()
        if name in candidate.found
    }


def _strength(candidate: Candidate, lists: list[RankedList], powers: Mapping[str, float]) -> float:
    lacking = 1.0
    for one in lists:
        if one.name in candidate.found and one.best > 0:
            share = min(max(candidate.found[one.name].score / one.best, 0.0), 1.0)
            lacking *= 1 - share ** powers.get(one.name, 1.0)
    return 1 - lacking

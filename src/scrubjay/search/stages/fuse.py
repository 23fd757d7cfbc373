"""How several ranked lists become one pool of candidates."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.types import Candidate, Found, RankedList


def gather(
    lists: tuple[RankedList, ...], *, k: float = 60, weights: Mapping[str, float] | None = None
) -> list[Candidate]:
    """One candidate a memory, with its rank and raw score in every list that found it.

    Its best chunk is the one with the highest sum of weight / (k + rank) over the lists that chose it.
    """
    found: dict[str, dict[str, Found]] = {}
    chunks: dict[str, dict[int, float]] = {}
    ages: dict[str, int] = {}
    for one in lists:
        weight = weight_of(one.name, weights)
        for rank, row in enumerate(one.rows, start=1):
            found.setdefault(row.id, {})[one.name] = Found(rank, row.score)
            ages[row.id] = row.updated_us
            if row.chunk is not None:
                worth = chunks.setdefault(row.id, {})
                worth[row.chunk] = worth.get(row.chunk, 0.0) + weight / (k + rank)
    return [
        Candidate(id_, updated_us=ages[id_], best_chunk=_worthiest(chunks.get(id_)), found=of)
        for id_, of in found.items()
    ]


def _worthiest(chunks: Mapping[int, float] | None) -> int | None:
    if not chunks:
        return None
    return min(chunks, key=lambda chunk: (-chunks[chunk], chunk))


def weight_of(name: str, weights: Mapping[str, float] | None) -> float:
    """Return the weight of a list: its own, that of its kind (`lexical` for `lexical:2`), or 1."""
    if not weights:
        return 1.0
    return weights.get(name, weights.get(name.partition(":")[0], 1.0))


@stage
def rrf(run: Run, *, k: float = 60, weights: Mapping[str, float] | None = None) -> Run:
    """Sum weight / (k + rank) over every list a memory appears in; an absent list gives 0."""
    if k < 0:
        raise InvalidInput(f"rrf.k is {k}; it must be 0 or more, 60 is usual")
    if any(weight < 0 for weight in (weights or {}).values()):
        raise InvalidInput(f"rrf.weights is {dict(weights or {})}; weights must be 0 or more")
    by_list = {one.name: weight_of(one.name, weights) for one in run.lists}
    pool = []
    for one in gather(run.lists, k=k, weights=by_list):
        parts = {
            f"rrf_{name}": by_list[name] / (k + place.rank)
            for name, place in one.found.items()
            if place.rank is not None
        }
        # Built anew rather than replaced: this runs for every candidate of every search.
        score = sum(parts.values())
        pool.append(Candidate(one.id, score, one.updated_us, one.best_chunk, one.found, parts))
    pool.sort(key=lambda one: one.order)
    return run._replace(pool=tuple(pool))


@stage
def union(run: Run) -> Run:
    """Make one pool of every list, newest first: a score is for later stages to give."""
    return run._replace(pool=tuple(sorted(gather(run.lists), key=lambda one: one.order)))


@stage
def rank_bonus(run: Run, *, first: float = 0.05, next: float = 0.02) -> Run:
    """Add to the score of the fused first, and less to the second and third: agreement is a signal."""
    if first < 0 or next < 0:
        raise InvalidInput(f"rank_bonus is {first} and {next}; a bonus must be 0 or more")
    bonuses = (first, next, next)
    pool = [
        one._replace(score=one.score + bonus, why={**one.why, "bonus": bonus})
        for one, bonus in zip(run.pool, bonuses, strict=False)
    ]
    # Who was ahead may be overtaken where the next bonus is the larger.
    pool = sorted((*pool, *run.pool[len(pool) :]), key=lambda one: one.order)
    return run._replace(pool=tuple(pool))


@stage
def over_best(run: Run) -> Run:
    """Divide every score by the highest, so that the first has 1."""
    best = max((one.score for one in run.pool), default=0.0)
    if best <= 0:
        return run
    pool = [
        one._replace(
            score=one.score / best, why={key: part / best for key, part in one.why.items()}
        )
        for one in run.pool
    ]
    # Scores that were equal to six places may no longer be.
    pool.sort(key=lambda one: one.order)
    return run._replace(pool=tuple(pool)).noting(best=best)


@stage
def similarity(run: Run) -> Run:
    """Score by 1 - distance / 2, with the cosine distance of the best chunk: 1 is the same direction."""
    pool = []
    for one in gather(run.lists):
        near = 1 - (1 - one.found["vector"].score) / 2 if "vector" in one.found else 0.0
        pool.append(one._replace(score=near, why={"vector": near}))
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
    spread: Mapping[str, float] | None = None,
) -> Run:
    """Score by how near a candidate comes to the best of each list; the first by its own strength.

    In each list a candidate has its score over the best score found there; a best below `least`, as
    a share of the best possible, is not blown up to 1. These are averaged by weight over the lists
    that found anything, and the rerankers that scored. Then all are scaled such that the first has
    the score 1 - (1 - a)(1 - b)…, where a, b … are its own shares of the best possible in each list,
    to their powers: a number that means the same for every query. `foreign` are the weights for a
    query in a language that the model does not know.

    The best of n passages is near by chance the more often the more there are: about s √(2 ln n) nearer
    than one would be, where s is the `spread` of the list. So much is taken off before candidates are
    compared.
    """
    if run.query.foreign and foreign is not None:
        weights = foreign
    if any(weight < 0 for weight in weights.values()) or not any(weights.values()):
        raise InvalidInput(
            f"weigh.weights is {dict(weights)}; weights must be 0 or more, and one above 0"
        )
    asked = [one for one in run.lists if one.rows and weights.get(one.name, 0) > 0]
    possible = {one.name: one.best for one in asked}
    possible |= dict.fromkeys(_rerankers(run, weights), 1.0)
    total = sum(weights[name] for name in possible)
    notes: dict[str, Any] = {}
    for name, best in possible.items():
        off = (spread or {}).get(name, 0.0)
        nearest = max((_score(one, name, off) for one in run.pool), default=0.0)
        of = max(nearest, (least or {}).get(name, 0.0) * best, 1e-9)
        notes[name] = {
            "weight": weights[name] / total,
            "of": of,
            "best_possible": best,
            "spread": off,
        }
    parts = {one.id: _parts(one, notes) for one in run.pool}
    first = min(run.pool, key=lambda one: (-sum(parts[one.id].values()), *one.order), default=None)
    if first is None:
        return run
    evidence = _evidence(first, asked, powers or {})
    relative, strength = sum(parts[first.id].values()), _strength(evidence)
    times = strength / relative if relative > 0 else 0.0
    pool = []
    for one in run.pool:
        why = {name: amount * times for name, amount in parts[one.id].items()}
        pool.append(one._replace(score=sum(why.values()), why=why))
    pool.sort(key=lambda one: one.order)
    return run._replace(pool=tuple(pool), confidence=strength).noting(
        **notes, times=times, strength=strength, evidence=evidence
    )


def _rerankers(run: Run, weights: Mapping[str, float]) -> list[str]:
    """Return what scored candidates without being a list."""
    lists = {one.name for one in run.lists}
    scored = {name for one in run.pool for name in one.found} - lists
    return [name for name, weight in weights.items() if name in scored and weight > 0]


def _score(candidate: Candidate, name: str, spread: float) -> float:
    """Return the score of a candidate in a list, less what many passages gain by chance."""
    if name not in candidate.found:
        return 0.0
    return max(candidate.found[name].score - by_chance(candidate.passages, spread), 0.0)


def by_chance(passages: int | None, spread: float) -> float:
    """Return how much nearer the best of so many passages is than a single one, by chance."""
    return spread * sqrt(2 * log(passages)) if passages and spread else 0.0


def _parts(candidate: Candidate, lists: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {
        name: numbers["weight"] * _score(candidate, name, numbers["spread"]) / numbers["of"]
        for name, numbers in lists.items()
        if name in candidate.found
    }


def _evidence(
    candidate: Candidate, lists: list[RankedList], powers: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Return what share of the best possible a candidate has in each list, and to which power it counts."""
    return {
        one.name: {
            "score": candidate.found[one.name].score,
            "share": min(max(candidate.found[one.name].score / one.best, 0.0), 1.0),
            "power": powers.get(one.name, 1.0),
        }
        for one in lists
        if one.name in candidate.found and one.best > 0
    }


def _strength(evidence: Mapping[str, Mapping[str, float]]) -> float:
    lacking = 1.0
    for one in evidence.values():
        lacking *= 1 - one["share"] ** one["power"]
    return 1 - lacking

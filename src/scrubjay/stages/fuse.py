"""How several ranked lists become one pool of candidates."""

from __future__ import annotations

from collections.abc import Mapping

from scrubjay.errors import InvalidInput
from scrubjay.pipeline import Run, stage
from scrubjay.types import Candidate, Found, RankedList


def gather(lists: tuple[RankedList, ...]) -> dict[str, Candidate]:
    """One candidate a memory, with its rank and raw score in every list that found it."""
    pool: dict[str, Candidate] = {}
    for one in lists:
        for rank, row in enumerate(one.rows, start=1):
            seen = pool.get(row.id) or Candidate(row.id, updated_us=row.updated_us)
            pool[row.id] = seen._replace(
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
        pool.append(candidate._replace(score=sum(parts.values()), why=parts))
    return run._replace(pool=tuple(sorted(pool, key=lambda one: one.order)))


@stage
def weigh(run: Run, *, weights: Mapping[str, float]) -> Run:
    """Add up weight x share over the lists, where a share is a score over the best it could be.

    The best possible BM25 of a query and a cosine of 1 mean the same for every query, so the sum lies
    in 0..1 and can be compared between queries. A list that was not searched gives its weight to the
    others; a memory that a list did not find has 0 there; a negative cosine counts as 0.
    """
    if any(weight < 0 for weight in weights.values()):
        raise InvalidInput(f"weigh.weights is {dict(weights)}; a weight must be 0 or more")
    asked = [one for one in run.lists if one.searched and weights.get(one.name, 0) > 0]
    total = sum(weights[one.name] for one in asked)
    each = {one.name: (weights[one.name] / total, one.best) for one in asked}
    pool = []
    for candidate in run.pool:
        parts = {
            name: weight * max(candidate.found[name].score, 0.0) / best
            for name, (weight, best) in each.items()
            if name in candidate.found and best > 0
        }
        pool.append(candidate._replace(score=sum(parts.values()), why=parts))
    pool.sort(key=lambda one: one.order)
    spread = {name: {"weight": weight, "best": best} for name, (weight, best) in each.items()}
    return run._replace(pool=tuple(pool)).noting(**spread)

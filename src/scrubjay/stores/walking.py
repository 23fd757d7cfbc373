"""How links are walked, whoever keeps them: level by level, each with so many nodes at most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from scrubjay.types import Neighbor

N = TypeVar("N", int, str)
# A hub may have more links than anybody can read: of each level only the best are kept.
MOST_NODES = 10_000


def walked(
    origin: Collection[N], depth: int, step: Callable[[dict[N, float]], Mapping[N, float]]
) -> dict[N, tuple[float, int]]:
    """Return what is reached from the origin, each with its best product of strengths and its depth.

    `step` gives the nodes one link further than some, but not those of the origin.
    """
    reached: dict[N, tuple[float, int]] = {}
    edge = dict.fromkeys(origin, 1.0)
    for level in range(1, depth + 1):
        if not edge:
            break
        # A longer path may be the better one, so a node is walked again when it improves.
        edge = {n: s for n, s in step(edge).items() if s > reached.get(n, (0.0, 0))[0]}
        reached.update({n: (s, level) for n, s in edge.items()})
    return reached


def best(scores: Mapping[N, float], names: Callable[[], Mapping[N, str]]) -> dict[N, float]:
    """Return the best nodes of a level; of equal ones the first by id, which is asked for only then."""
    if len(scores) <= MOST_NODES:
        return dict(scores)
    id_ = names()
    order = sorted(scores, key=lambda n: (-scores[n], id_[n]))
    return {n: scores[n] for n in order[:MOST_NODES]}


def ranked(reached: Mapping[str, tuple[float, int]], limit: int | None) -> list[Neighbor]:
    """Return what was reached by id, best path first."""
    neighbors = [Neighbor(id_, score, depth) for id_, (score, depth) in reached.items()]
    neighbors.sort(key=lambda one: (-round(one.score, 6), one.id))
    return neighbors[:limit]

"""How links are walked, whoever keeps them: level by level, each with so many nodes at most.

A path scores the product of its strengths, a node its best path. No seed reaches itself; one that
another seed reaches counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from scrubjay.types import Neighbor

N = TypeVar("N", int, str)
# A hub may have more links than anybody can read: of each level only the best are kept.
MOST_NODES = 10_000

# From which seeds a node is reached: the product of strengths, and how many links away.
Ways = dict[N, tuple[float, int]]


def walked(
    origin: Collection[N],
    depth: int,
    links: Callable[[Collection[N]], Iterable[tuple[N, N, float]]],
    names: Callable[[Collection[N]], Mapping[N, str]],
) -> dict[N, tuple[float, int]]:
    """Return what is reached from the origin, each with its best product of strengths and its depth.

    `links` gives the links of some nodes: from where, to where, how strong. `names` gives ids, by which
    equal nodes are told apart where there are too many.
    """
    reached: dict[N, Ways[N]] = {}
    edge: dict[N, Ways[N]] = {n: {n: (1.0, 0)} for n in origin}
    for level in range(1, depth + 1):
        if not edge:
            break
        edge = _most(_further(edge, reached, level, links(edge)), names)
    return {n: _best(ways) for n, ways in reached.items()}


def ranked(
    reached: Mapping[str, tuple[float, int]], ages_us: Mapping[str, int], limit: int | None
) -> list[Neighbor]:
    """Return what was reached by id, best path first, then the latest; what has no age is gone."""
    neighbors = [
        Neighbor(id_, score, depth, ages_us[id_])
        for id_, (score, depth) in reached.items()
        if id_ in ages_us
    ]
    neighbors.sort(key=lambda one: (-round(one.score, 6), -one.updated_us, one.id))
    return neighbors[:limit]


def _further(
    edge: Mapping[N, Ways[N]],
    reached: dict[N, Ways[N]],
    level: int,
    links: Iterable[tuple[N, N, float]],
) -> dict[N, Ways[N]]:
    """Note what is reached anew, or better, and return that."""
    further: dict[N, Ways[N]] = {}
    for here, there, strength in links:
        for seed, (score, _) in edge[here].items():
            way = (score * strength, level)
            if seed != there and _is_better(reached.get(there, {}), seed, way[0]):
                reached.setdefault(there, {})[seed] = way
                further.setdefault(there, {})[seed] = way
    return further


def _is_better(known: Ways[N], seed: N, score: float) -> bool:
    """True when a way is worth walking: the best of its seed, and one of the two best of all.

    Two are enough: where the best begins at a seed that is reached itself, the other one counts there.
    """
    if score <= known.get(seed, (0.0, 0))[0]:
        return False
    others = [before for one, (before, _) in known.items() if one != seed]
    return sum(before >= score for before in others) < 2


def _best(ways: Ways[N]) -> tuple[float, int]:
    return max(ways.values(), key=lambda way: (way[0], -way[1]))


def _most(
    further: dict[N, Ways[N]], names: Callable[[Collection[N]], Mapping[N, str]]
) -> dict[N, Ways[N]]:
    """Keep the best nodes of a level; of equal ones the first by id, which is asked for only then."""
    if len(further) <= MOST_NODES:
        return further
    id_ = names(further)
    order = sorted(further, key=lambda n: (-_best(further[n])[0], id_[n]))
    return {n: further[n] for n in order[:MOST_NODES]}

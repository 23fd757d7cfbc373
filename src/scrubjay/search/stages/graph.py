"""The graph as a source: it finds its own seeds, by word and by meaning, and walks from them."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.search.pipeline import Run, checked_by, stage
from scrubjay.search.stages.recall import FIELD_WEIGHTS, by_meaning, by_word
from scrubjay.search.stages.spread import different
from scrubjay.types import RankedList, Row

_MOST_STEPS = 3


def _check(
    *, seeds: int, steps: int, depth: int, times: float, weights: Mapping[str, float]
) -> None:
    """Refuse a walk that is too long, and one from nowhere."""
    if type(steps) is not int or not 1 <= steps <= _MOST_STEPS:
        raise InvalidInput(f"graph.steps is {steps!r}; it must be 1, 2 or {_MOST_STEPS}")
    for name, given in (("seeds", seeds), ("depth", depth), ("times", times)):
        if given < 1:
            raise InvalidInput(f"graph.{name} is {given}; it must be 1 or more")


@stage
@checked_by(_check)
def graph(
    run: Run,
    *,
    seeds: int = 10,
    steps: int = 2,
    depth: int = 64,
    times: float = 1,
    weights: Mapping[str, float] = FIELD_WEIGHTS,
) -> RankedList:
    """What links reach in so many steps from the best `seeds` of a look-up by word and one by meaning.

    A path scores the product of its strengths, a memory its best path; links are walked both ways. A
    seed counts where another seed reaches it. `weights` are those of the fields, for the look-up by
    word.
    """
    index = run.kit.need("graph")
    begin, warning = _seeds(run, seeds, weights)

    def walk(most: int) -> RankedList:
        found = index.walk(begin, run.query.scope, steps, most) if begin else []
        rows = (Row(one.id, one.score, None, one.updated_us) for one in found)
        return RankedList("graph", tuple(rows))

    found = different(run, walk, max(depth, ceil(times * run.query.limit), run.query.least))
    return found._replace(warning=warning)


def _seeds(run: Run, most: int, weights: Mapping[str, float]) -> tuple[list[str], str]:
    """Return where to begin, and what could not be asked for it; all that fails is a lost tier."""
    found: list[str] = []
    lost: list[str] = []
    asked = 0
    for name in ("keyword", "vector"):
        if name == "vector" and run.query.vector is None:  # embed_query has said why
            continue
        asked += 1
        try:
            if name == "keyword":
                seeds = by_word(run, run.query.words, most, weights, every_first=False)
            else:
                seeds = by_meaning(run, run.query.vector, most)
        except Unavailable as gone:
            lost.append(f"no seeds by {name}: {gone}")
        else:
            found += (row.id for row in seeds.rows)
    if len(lost) == asked:
        raise Unavailable("; ".join(lost))
    return list(dict.fromkeys(found)), "; ".join(lost)

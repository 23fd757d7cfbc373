"""Graph source: find seeds by word and by meaning, and follow links from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.search.pipeline import SOURCE_ERRORS, Run, checked_by, limits, stage
from scrubjay.search.stages.recall import (
    BM25,
    FIELD_WEIGHTS,
    by_any_word,
    by_meaning,
    check_ranking,
    different,
    enough,
)
from scrubjay.types import RankedList, Row

_MOST_STEPS = 3


def _check(*, steps: int, ranking: str, **_: object) -> None:
    check_ranking(ranking=ranking)
    if type(steps) is not int or not 1 <= steps <= _MOST_STEPS:
        raise InvalidInput(f"graph.steps is {steps!r}; it must be 1, 2 or {_MOST_STEPS}")


@stage
@limits(seeds="1 or more", depth="1 or more", times="1 or more")
@checked_by(_check)
def graph(
    run: Run,
    *,
    seeds: int = 10,
    steps: int = 2,
    depth: int = 64,
    times: float = 1,
    weights: Mapping[str, float] = FIELD_WEIGHTS,
    ranking: str = BM25,
) -> RankedList:
    """Memories that links reach in up to `steps` from the best `seeds` by word and by meaning.
    A path scores the product of its link strengths, a memory its best path; links are followed
    both ways. A seed is a result where another seed reaches it. `weights` are those of the
    fields, for the seeds by word, and `ranking` ranks these."""
    index = run.kit.need("graph")
    begin, warning = _seeds(run, seeds, weights, ranking)

    def walk(most: int) -> RankedList:
        found = index.walk(begin, run.query.scope, steps, most) if begin else []
        rows = (Row(near.id, near.score, None, near.updated_us) for near in found)
        return RankedList("graph", tuple(rows))

    return different(run, walk, enough(run, depth, times))._replace(warning=warning)


def _seeds(
    run: Run, most: int, weights: Mapping[str, float], ranking: str
) -> tuple[list[str], str]:
    """Return the seeds and a warning; raise Unavailable where neither source can be searched."""
    searches: dict[str, Callable[[], RankedList]] = {
        "keyword": lambda: by_any_word(run, most, weights, ranking)
    }
    if run.query.vector is not None:  # else embed_query has noted the reason
        searches["vector"] = lambda: by_meaning(run, run.query.vector, most)
    found: list[str] = []
    lost: list[str] = []
    for name, search in searches.items():
        try:
            found += (row.id for row in search().rows)
        except SOURCE_ERRORS as error:
            lost.append(f"no seeds by {name}: {error}")
    if len(lost) == len(searches):
        raise Unavailable("; ".join(lost))
    return list(dict.fromkeys(found)), "; ".join(lost)

"""The fuse of the novamem profile: the file to open first to change how that profile scores.

Three tiers search side by side: `keyword`, `vector`, `graph`. Each gives a list of memories with scores
of its own kind, so 0.4 in one list says nothing beside 0.4 in another. `clamp` keeps the scores of one
list between two ends. `min_max` stretches each list by itself over 0..1 and adds the lists up by weight:

    final(memory) = .3 keyword(memory) + .6 vector(memory) + .1 graph(memory)

The weights are numbers of the profile (`profiles/novamem.py`); `profiles/weights.py` reads those of one
call.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, checked_by, stage
from scrubjay.search.stages.fuse import gather

TIERS = ("keyword", "vector", "graph")


def check_weights(*, weights: Mapping[str, Any]) -> None:
    """Refuse weights below 0, weights that are no numbers, and weights of which none is above 0."""
    for name, weight in weights.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not isfinite(weight) or weight < 0:
            raise InvalidInput(
                f"the weight of {name} is {weight!r}; give a number of 0 or more, such as 0.5"
            )
    if not any(weights.values()):
        raise InvalidInput(
            f"the weights are {dict(weights)}; one of them must be above 0, or nothing has a score"
        )


@stage
def clamp(run: Run, *, name: str = "vector", low: float = 0.0, high: float = 1.0) -> Run:
    """Keep the scores of one list between two ends: a cosine below 0 says no more than one of 0."""
    if low >= high:
        raise InvalidInput(f"clamp.low is {low:g} and clamp.high {high:g}; high must be above low")
    lists = tuple(
        one._replace(
            rows=tuple(row._replace(score=min(max(row.score, low), high)) for row in one.rows)
        )
        if one.name == name
        else one
        for one in run.lists
    )
    return run._replace(lists=lists)


@stage
@checked_by(check_weights)
def min_max(run: Run, *, weights: Mapping[str, float]) -> Run:
    """Score by (raw - worst) / (best - worst) inside each list, summed by weight; all equal gives 1.

    What a list lacks has 0 of it. Such scores are of one query: they say nothing beside those of
    another. The weights are taken as they are: where they sum to 2, the best score may be 2.
    """
    check_weights(weights=weights)
    _refuse_unknown(run, weights)
    # By value, not by place: rows whose scores differ by less than 1e-6 stand in the order of age.
    ends = {
        one.name: (min(row.score for row in one.rows), max(row.score for row in one.rows))
        for one in run.lists
        if one.rows and weights.get(one.name)
    }
    pool = []
    for one in gather(run.lists, weights=weights):
        why = {
            name: weight * between(one.found[name].score, *ends[name])
            if name in one.found
            else 0.0
            for name, weight in weights.items()
            if weight
        }
        pool.append(one._replace(score=sum(why.values()), why=why))
    pool.sort(key=lambda one: one.order)
    notes: dict[str, Any] = {
        name: {"weight": weights[name], "worst": worst, "best": best}
        for name, (worst, best) in ends.items()
    }
    return run._replace(pool=tuple(pool)).noting(**notes)


def between(raw: float, worst: float, best: float) -> float:
    """Return where a score lies between the ends of its list: 0 to 1, and 1 where all are equal."""
    return (raw - worst) / (best - worst) if round(best, 6) > round(worst, 6) else 1.0


def _refuse_unknown(run: Run, weights: Mapping[str, float]) -> None:
    """Refuse a weight for a list that nobody brings: a typing error would take a tier away."""
    known = {*TIERS, *(one.name for one in run.lists)}
    unknown = [name for name in weights if name not in known]
    if unknown:
        raise InvalidInput(
            f"min_max.weights names {unknown[0]!r}; the lists are {', '.join(sorted(known))}"
        )

"""The fuse of the novamem profile: the file to open first to change how that profile scores.

Three sources search side by side: `keyword`, `vector`, `graph`. Each gives a list of memories with scores
of its own scale, so 0.4 in one list cannot be compared with 0.4 in another. `clamp` limits the scores of
one list to a range. `min_max` stretches each list over 0..1 and adds the lists up by weight:

    final(memory) = .3 keyword(memory) + .6 vector(memory) + .1 graph(memory)

The weights are numbers of the profile (`profiles/novamem.py`); `profiles/overrides.py` reads those of one
search.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, checked_by, explained_by, stage, summed
from scrubjay.search.stages.fuse import gather
from scrubjay.types import Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation

SOURCES = ("keyword", "vector", "graph")


def check_weights(*, weights: Mapping[str, Any]) -> None:
    """Refuse weights that are not numbers of 0 or more, and weights that are all 0."""
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
    """Limit the scores of one list to a range: a cosine below 0 means no more than one of 0."""
    if low >= high:
        raise InvalidInput(f"clamp.low is {low:g} and clamp.high {high:g}; high must be above low")
    return run.with_rows(
        name, lambda rows: [row._replace(score=min(max(row.score, low), high)) for row in rows]
    )


def _explain_min_max(explanation: Explanation, step: Step) -> None:
    found = explanation.hit.found
    explanation.made(
        "weight of the list × its score there, stretched so that the worst is 0 and the best 1",
        {
            name: _working(found[name].score, step.notes[name])
            if name in found and name in step.notes
            else ["0"]
            for name, weight in step.numbers["weights"].items()
            if weight
        },
    )


def _working(raw: float, ends: Mapping[str, float]) -> list[str]:
    normalised = between(raw, ends["worst"], ends["best"])
    formula = f"{ends['weight']:g} × {normalised:.6f}"
    if round(ends["best"], 6) <= round(ends["worst"], 6):
        return [formula]
    worst, best = f"{ends['worst']:.6f}", f"{ends['best']:.6f}"
    stretched = f"({raw:.6f} - {worst}) / ({best} - {worst})"
    return [formula, f"{normalised:.6f} = {stretched}: between worst and best"]


@stage
@checked_by(check_weights)
@explained_by(_explain_min_max)
def min_max(run: Run, *, weights: Mapping[str, float]) -> Run:
    """Score by (raw - worst) / (best - worst) inside each list, summed by weight; all equal gives 1.
    A memory that a list does not contain gets 0 for it. Scores of different queries cannot be
    compared. The weights are taken as they are: where they sum to 2, the best score may be 2."""
    # A weight for an unknown list is a typing error that would silently drop a source.
    known = {*SOURCES, *(ranked.name for ranked in run.lists)}
    if unknown := [name for name in weights if name not in known]:
        raise InvalidInput(
            f"min_max.weights names {unknown[0]!r}; the lists are {', '.join(sorted(known))}"
        )
    # By value, not by rank: rows whose scores differ by less than 1e-6 are sorted by age.
    ends = {
        ranked.name: (min(row.score for row in ranked.rows), max(row.score for row in ranked.rows))
        for ranked in run.lists
        if ranked.rows and weights.get(ranked.name)
    }
    pool = []
    for candidate in gather(run.lists, weights=weights):
        found = candidate.found
        why = {
            name: weight * between(found[name].score, *ends[name]) if name in found else 0.0
            for name, weight in weights.items()
            if weight
        }
        pool.append(summed(candidate, why))
    notes = {
        name: {"weight": weights[name], "worst": worst, "best": best}
        for name, (worst, best) in ends.items()
    }
    return run.ranked(pool).noting(**notes)


def between(raw: float, worst: float, best: float) -> float:
    """Return where a score lies between the worst and the best of its list: 0 to 1; 1 if these are equal."""
    return (raw - worst) / (best - worst) if round(best, 6) > round(worst, 6) else 1.0

"""A score explained by the stages that made it."""

from __future__ import annotations

import pytest

from scrubjay.search.explanation import Explanation
from scrubjay.search.pipeline import Kit, Run, explained_by, search, stage
from scrubjay.types import Candidate, Memory, Query, Results, Step


def explain_made(explanation: Explanation, step: Step) -> None:
    amount = step.numbers["amount"]
    explanation.made("the amount", {"made": [f"{amount:g}"]}, {"made": amount})


@stage
@explained_by(explain_made)
def make(run: Run, *, amount: float = 0.5) -> Run:
    """Give one candidate a score."""
    memory = Memory("tea", id="a")
    return run.ranked([Candidate("a", amount, memory=memory, why={"made": amount})])


@stage
@explained_by(lambda explanation, step: explanation.add("more", f"{step.numbers['amount']:g}"))
def add(run: Run, *, amount: float = 0.25) -> Run:
    """Add to every score."""
    return run.ranked(
        [
            candidate._replace(
                score=candidate.score + amount, why={**candidate.why, "more": amount}
            )
            for candidate in run.pool
        ]
    )


@stage
def double(run: Run) -> Run:
    """Multiply the score and its parts, without a word on it."""
    return run.ranked(
        [
            candidate._replace(
                score=2 * candidate.score, why={n: 2 * part for n, part in candidate.why.items()}
            )
            for candidate in run.pool
        ]
    )


@stage
def unexplained(run: Run) -> Run:
    """Add to every score, and leave no part."""
    return run.ranked([one._replace(score=one.score + 0.1) for one in run.pool])


def explained(*stages):
    results = search(Query("tea"), "mine", stages, Kit())
    return results.explain(results[0])


def test_each_stage_explains_its_own_part():
    """R-7: in the order in which they ran; `explain` knows no stage by name."""
    total = explained(make(), add().named("again"))

    assert [(part.name, part.amount, part.working) for part in total.parts] == [
        ("made", 0.5, ("0.5",)),
        ("more", 0.25, ("0.25",)),
    ]
    assert total.where == ("each part: the amount",)


def test_a_later_factor_is_the_scale_of_the_parts_before_it():
    """R-7: the working still comes out."""
    total = explained(make(), double())

    assert total.parts[0].amount == 1.0
    assert total.parts[0].working == ("2.000000 × 0.5",)
    assert total.where == ("each part: scale × the amount",)


def test_what_no_stage_explains_is_a_part_of_its_own():
    """The parts add up all the same."""
    total = explained(make(), unexplained())

    assert [part.name for part in total.parts] == ["made", "other"]
    assert sum(part.amount for part in total.parts) == pytest.approx(0.6)


def test_results_without_stages_have_their_parts():
    """Results that a program made itself."""
    hit = search(Query("tea"), "mine", (make(),), Kit())[0]

    assert [part.name for part in Results("tea", "mine", (hit,)).explain(hit).parts] == ["made"]

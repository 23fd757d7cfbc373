"""Stages of the vault profile for entries and session history: how many are shown, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.search.pipeline import Run, explained_by, limits, stage
from scrubjay.text.markdown import front_matter
from scrubjay.types import Memory, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation


@stage
@limits(unlimited="1 or more")
def widen(run: Run, *, unlimited: int = 50) -> Run:
    """Let every source return at least `unlimited` rows where the caller gave no limit."""
    if run.query.limited:
        return run
    return run._replace(query=run.query._replace(least=unlimited)).noting(at_least=unlimited)


def _explain_fixed_score(explanation: Explanation, step: Step) -> None:
    score = step.numbers["score"]
    if "memory" in explanation.hit.why:
        working = {"memory": [f"{score:g} for a memory"]}
        explanation.made("the fixed score of its type", working, {"memory": score}, kept=False)


@stage
@limits(score="between 0 and 1")
@explained_by(_explain_fixed_score)
def fixed_score(run: Run, *, types: tuple[str, ...], score: float = 0.5) -> Run:
    """Give memories of some types a fixed score in place of their signals: they are not entries.
    `why` keeps their signals, and has the fixed score as `memory`."""
    return run.ranked(
        one._replace(score=score, why={**one.why, "memory": score})
        if one.memory is not None and one.memory.type in types
        else one
        for one in run.pool
    )


@stage
@limits(few="0 or more", share="between 0 and 1")
def top_or_all(
    run: Run,
    *,
    few: int = 50,
    share: float = 0.5,
    lists: tuple[str, ...] = ("keyword", "memory"),
) -> Run:
    """Keep as many as the limit allows; without a limit of the caller, keep all in a small corpus.
    That is one where the full-text `lists` found fewer than `few`, when the usual limit would drop
    more than `share` of those. What only vectors find is not counted: they always find something."""
    limit = run.query.limit
    found = sum(len(ranked.rows) for ranked in run.lists if ranked.name in lists)
    left = sum(any(name in one.found for name in lists) for one in run.pool)
    if not run.query.limited and found < few and left - limit > share * left:
        return run.noting(kept_all=len(run.pool), full_text=found)
    return run._replace(pool=run.pool[:limit])


@stage
@limits(chars="1 or more")
def scan(run: Run, *, chars: int = 120) -> Run:
    """Show each entry by its first characters only: enough to choose which to load."""
    entries = ((one, description(one.memory)) for one in run.pool if one.memory)
    return run.holding(
        one._replace(
            description=text, snippet=text[:chars], complete=len(text) <= chars, brief=True
        )
        for one, text in entries
    )


@stage
def describe(run: Run) -> Run:
    """Show each entry without the front matter of its file."""
    return run.holding(
        one._replace(description=description(one.memory)) for one in run.pool if one.memory
    )


def description(memory: Memory) -> str:
    if memory.metadata.get("format") != "markdown":
        return memory.text
    return memory.text[front_matter(memory.text)[1] :].lstrip()

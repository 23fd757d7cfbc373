"""What is peculiar to a vault of entries: session history beside them, and how many are shown."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.text.markdown import front_matter
from scrubjay.types import Candidate, Memory


@stage
def widen(run: Run, *, unlimited: int = 50) -> Run:
    """Let every source bring at least so many where nobody said how many are wanted."""
    if unlimited < 1:
        raise InvalidInput(f"widen.unlimited is {unlimited}; it must be 1 or more")
    if run.query.limited:
        return run
    return run._replace(query=run.query._replace(least=unlimited)).noting(at_least=unlimited)


@stage
def fixed_score(run: Run, *, types: tuple[str, ...], score: float = 0.5) -> Run:
    """Give memories of some types one score, whatever their signals: they are no entries.

    `why` keeps their signals, and says what counts instead.
    """
    if not 0 <= score <= 1:
        raise InvalidInput(f"fixed_score.score is {score}; it must be in 0..1")
    pool = [
        one._replace(score=score, why={**one.why, "memory": score})
        if one.memory is not None and one.memory.type in types
        else one
        for one in run.pool
    ]
    pool.sort(key=lambda one: one.order)
    return run._replace(pool=tuple(pool))


@stage
def top_or_all(run: Run, *, few: int = 50, share: float = 0.5) -> Run:
    """Keep as many as were asked for; where nobody said how many, and there are few, keep all.

    Few are fewer than `few`, of which the usual limit would drop more than this share.
    """
    if few < 0 or not 0 <= share <= 1:
        raise InvalidInput(f"top_or_all.few is {few} and share {share}; 0 or more, and in 0..1")
    there, limit = len(run.pool), run.query.limit
    if not run.query.limited and there < few and there - limit > share * there:
        return run.noting(kept_all=there)
    return run._replace(pool=run.pool[:limit])


@stage
def scan(run: Run, *, chars: int = 120) -> Run:
    """Show each entry by its first characters only: enough to choose which to load."""
    if chars < 1:
        raise InvalidInput(f"scan.chars is {chars}; it must be 1 or more")
    pool = []
    for one in _described(run):
        said = one.description or ""
        pool.append(one._replace(snippet=said[:chars], complete=len(said) <= chars, brief=True))
    return run._replace(pool=tuple(pool))


@stage
def describe(run: Run) -> Run:
    """Show each entry by what it says, without the front matter of its file."""
    return run._replace(pool=_described(run))


def _described(run: Run) -> tuple[Candidate, ...]:
    return tuple(
        one._replace(description=description(one.memory)) for one in run.pool if one.memory
    )


def description(memory: Memory) -> str:
    """Return what an entry says, without the front matter of a file."""
    if memory.metadata.get("format") != "markdown":
        return memory.text
    return memory.text[front_matter(memory.text)[1] :].lstrip()

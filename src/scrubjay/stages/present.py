"""What a reader gets to see: how many, above what score, which passage."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.pipeline import Run, stage
from scrubjay.text import snippet
from scrubjay.types import Candidate


@stage
def pool(run: Run, *, size: int = 64) -> Run:
    """Keep the best for the slower stages: so many, or as many as were asked for if that is more."""
    if size < 1:
        raise InvalidInput(f"pool.size is {size}; it must be 1 or more")
    return run._replace(pool=run.pool[: max(size, run.query.limit)])


@stage
def top(run: Run) -> Run:
    """Keep as many as were asked for."""
    return run._replace(pool=run.pool[: run.query.limit])


@stage
def at_least(run: Run) -> Run:
    """Drop what scores below the caller's minimum."""
    low = run.query.min_score
    if low is None:
        return run
    return run._replace(pool=tuple(one for one in run.pool if round(one.score, 6) >= low))


@stage
def load(run: Run) -> Run:
    """Fetch the records of the pool, under the scope again; what was deleted meanwhile is dropped."""
    records = run.kit.records
    if records is None:
        return run
    memories = records.get([one.id for one in run.pool], run.query.scope)
    chunks = records.chunks(
        (one.id, one.best_chunk) for one in run.pool if one.best_chunk is not None
    )
    pool = tuple(
        one._replace(memory=memories[one.id], chunk=chunks.get((one.id, one.best_chunk or 0)))
        for one in run.pool
        if one.id in memories
    )
    return run._replace(pool=pool)


@stage
def snippets(run: Run, *, width_chars: int = 240) -> Run:
    """Cut the passage that a reader should see first out of the best chunk, or the whole text."""
    return run._replace(pool=tuple(_with_snippet(run, one, width_chars) for one in run.pool))


def _with_snippet(run: Run, one: Candidate, width_chars: int) -> Candidate:
    if one.memory is None:
        return one
    text = one.memory.text
    passage = text[one.chunk.start : one.chunk.stop] if one.chunk else text
    shown = snippet(passage, run.query.terms, width_chars)
    return one._replace(snippet=shown, complete=shown == text)

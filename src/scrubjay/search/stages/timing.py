"""Time in a search: the time that a query names, memories of that time, and recency."""

from __future__ import annotations

from datetime import datetime
from math import exp, log
from typing import TYPE_CHECKING

from scrubjay.search.pipeline import Run, explained_by, limits, stage, summed
from scrubjay.search.stages.understand import counts_from_now
from scrubjay.times import micros
from scrubjay.types import Candidate, Memory, RankedList, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation
    from scrubjay.storage.sql.messages import SqlTimeline
    from scrubjay.text.dates import Window


@stage
@limits(depth="1 or more")
def moment(run: Run, *, depth: int = 64, only: bool = False) -> RankedList:
    """Memories of the time that the query names, the latest first.
    With `only`, for queries that ask for the whole of that time and nothing else."""
    window = run.query.window
    if window is None or (only and not run.query.whole_window):
        return RankedList("moment")
    moments: SqlTimeline = run.kit.need("moments")
    begins, ends, most = micros(window.begins), micros(window.ends), max(depth, run.query.limit)
    return moments.between(begins, ends, run.query.scope, most)


def _explain_time_blend(explanation: Explanation, step: Step) -> None:
    time = step.numbers["time"]
    if "temporal" in explanation.hit.why:
        fits = explanation.hit.why["temporal"] / time if time else 0.0
        explanation.add("temporal", f"{time:g} × {fits:.6f}")
    if explanation.scale != 1:
        explanation.note(
            f"{explanation.scale:.6f}: the scale; what ranks count where the query names a time"
        )


@stage
@limits(ranks="0 or more", time="0 or more", unknown="between 0 and 1")
@explained_by(_explain_time_blend)
def time_blend(run: Run, *, ranks: float = 0.6, time: float = 0.4, unknown: float = 0.5) -> Run:
    """Where the query names a time, score by `ranks` x score + `time` x how well the time fits.
    The fit is 1 inside the window and falls in a straight line to 0 over one more length of the
    window on both sides, by the far end of what lasts. A memory without a time has the fit
    `unknown`."""
    window = run.query.window
    if window is None:
        return run
    pool = []
    for candidate in run.pool:
        fits = unknown if candidate.memory is None else fit(candidate.memory, window, unknown)
        why = {name: ranks * part for name, part in candidate.why.items()}
        pool.append(summed(candidate, {**why, "temporal": time * fits}))
    return run.ranked(pool)


def _explain_in_time(explanation: Explanation, step: Step) -> None:
    if "time" not in explanation.hit.why:
        return
    change, taken = explanation.hit.why["time"], step.notes.get("taken", 0.0)
    before = explanation.before("time")
    fits = 1 + change / (before * taken) if before and taken else 1.0
    explanation.add("time", f"-{taken:g} × {before:.6f} × (1 - {fits:.6f})" if change else "0")


@stage
@limits(share="between 0 and 1", by_text="between 0 and 1")
@explained_by(_explain_in_time)
def in_time(run: Run, *, share: float = 0.25, by_text: float = 0.05) -> Run:
    """Take up to a share of the score from memories that do not fit the time the query names.
    The fit is that of the event or of when it was said, whichever is better. A date near which
    nothing was said ("libraries of the late 1960s") occurs in texts, so words find it: no more
    than `by_text` is taken then. Where no memory fits, all scores stay."""
    window = run.query.window
    if window is None:
        return run
    memories = {candidate.id: candidate.memory for candidate in run.pool if candidate.memory}
    by_said = {n: fit(said._replace(event_time=None), window) for n, said in memories.items()}
    fits = {id_: max(fit(memory, window), by_said[id_]) for id_, memory in memories.items()}
    if not any(fits.values()):
        return run.noting(fits=0)
    taken = share if any(by_said.values()) or counts_from_now(window) else by_text
    pool = []
    for candidate in run.pool:
        less = candidate.score * taken * (1 - fits.get(candidate.id, 0.0))
        why = {**candidate.why, "time": 0.0 - less}
        pool.append(candidate._replace(score=candidate.score - less, why=why))
    return run.ranked(pool).noting(taken=taken)


def fit(memory: Memory, window: Window, unknown: float = 0.5) -> float:
    """Return how well a memory fits a window: by the time of its event, else by when it was said.
    1 for one that overlaps the window; others count from their far end, or the day before would fit
    like the day itself, as it ends where the window begins."""
    begins = memory.event_time or memory.created_at
    if begins is None:
        return unknown
    ends = max(begins, memory.event_until or begins) if memory.event_time else begins
    if begins >= window.ends:
        away = ends - window.ends
    elif ends <= window.begins and begins < window.begins:
        away = window.begins - begins
    else:
        return 1.0
    return max(0.0, 1 - away / (window.ends - window.begins))


def _explain_recency(explanation: Explanation, step: Step) -> None:
    weight, constant_s = step.numbers["weight"], step.numbers["time_constant_s"]
    added = explanation.hit.why.get("recency", 0.0)
    decay = "0"  # so long ago that nothing is left
    if added and weight:
        age_s = max(0.0, -log(added / weight) * constant_s)
        decay = f"e^(-{age_s:.1f} s / {constant_s:g} s)"
    explanation.add("recency", f"{weight:g} × {decay}")


@stage
@limits(weight="0 or more", time_constant_s="above 0")
@explained_by(_explain_recency)
def recency(run: Run, *, weight: float = 0.25, time_constant_s: float = 120) -> Run:
    """Add `weight` x e^(-age / time_constant_s): what was said a moment ago is wanted more often."""
    now = run.kit.need("clock")()
    pool = []
    for candidate in run.pool:
        boost = weight * exp(-_age_s(candidate, now) / time_constant_s)
        why = {**candidate.why, "recency": boost}
        pool.append(candidate._replace(score=candidate.score + boost, why=why))
    return run.ranked(pool)


def _age_s(candidate: Candidate, now: datetime) -> float:
    said = candidate.memory.created_at if candidate.memory else None
    # The clock may be behind that of the writer.
    return max((now - said).total_seconds(), 0.0) if said else float("inf")

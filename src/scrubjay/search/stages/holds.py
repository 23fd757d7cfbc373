"""What holds: a memory that was replaced gives its place to the one that holds at the time in question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from scrubjay.search.pipeline import Run, explained_by, limits, stage
from scrubjay.search.succession import Pair, Prefers, Succession, in_order, succession
from scrubjay.times import micros
from scrubjay.types import Candidate, Memory, Scope, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation

BELOW = 2e-6  # how far: scores are compared to six places
_NONE = float("-inf")  # the score of a memory that no list has found
_NOW = timedelta(minutes=2)  # the end of "since March" is a moment ago


@stage
def replaced(run: Run) -> Run:
    """Look up which memories replaced the candidates or were replaced by them, and so on from those.

    What the caller may not see replaces nothing, nor does what was stored later than the time that is
    searched, or is not valid yet.
    """
    table = run.kit.changes
    if table is None or not run.pool or table.is_empty():
        return run
    scope = Scope(reader=run.query.scope.reader, until=run.query.as_of)
    valid_us = micros(present_of(run))
    links = table.around([candidate.id for candidate in run.pool], scope, valid_us)
    return run._replace(replaced=tuple(links)).noting(links=len(links)) if links else run


@stage
def any_replaced(run: Run) -> bool:
    """True when a candidate was replaced or replaces another memory."""
    return bool(run.replaced)


@stage
def reads(run: Run) -> bool:
    """True when a model can read the hits, and the search does not ask for all that was."""
    return run.kit.reader is not None and not run.query.history


@stage
def tense(run: Run) -> Run:
    """Tell which state a question asks for: the present one, a past one, the first one, that of a time
    (the time that the query names), or all of them."""
    from scrubjay.text.tense import HISTORY, THEN, tense_of

    found = tense_of(run.query.text, names_time=run.query.window is not None)
    if found != HISTORY and asked_moment(run) is not None:
        found = THEN
    return run._replace(query=run.query._replace(tense=found)).noting(tense=found)


def present_of(run: Run) -> datetime:
    """Return the moment that counts as now: that of the search, or the one that it asks about."""
    now: datetime = run.query.as_of or run.kit.need("clock")()
    return now


def asked_moment(run: Run) -> datetime | None:
    """Return the time in the past whose state the query asks for: the end of the time that it names."""
    window = run.query.window
    if window is None:
        return None
    moment: datetime = window.ends
    return moment if moment < present_of(run) - _NOW else None


def _explain_fold(explanation: Explanation, step: Step) -> None:
    places = step.notes.get("places", {})
    explanation.moved("holds", places.get(explanation.hit.id, "its place among its versions"))


@stage
@limits(
    strong="between 0 and 1",
    weak="between 0 and 1",
    most="0 or more",
)
@explained_by(_explain_fold)
def fold(run: Run, *, strong: float = 0.8, weak: float = 0.5, most: int = 4) -> Run:
    """Put the memory that holds in the place of those that it replaced, at the better of both places.

    A memory that was replaced by a link of at least `strong` is no candidate any more: its successor
    names it. By a link of at least `weak` it stays, below its successor. A successor that no list has
    found comes in, if the filters of the search allow it. For a question about the past nothing is
    dropped, and the state asked for comes first; up to `most` earlier ones that no list has found come
    in. With `history`, nothing is dropped, and the newer always comes first. The order in which a reader
    put a detected pair stays.
    """
    line = succession(run.replaced, weak)
    if not line.links:
        return run
    scores = {candidate.id: candidate.score for candidate in run.pool}
    known = _others(run, [id_ for id_ in line.newer if id_ not in scores])
    allowed = scores.keys() | known.keys()
    tense = "present" if run.query.history else run.query.tense
    decided, kept = ({}, set()) if run.query.history else _decided(run, line)
    certain = line.within(strong, kept)
    folds = tense == "present" and not run.query.history
    ends = {id_: certain.ends(id_, allowed) for id_ in scores} if folds else {}
    folded = {id_ for id_, those in ends.items() if those}
    near = (those.get(id_, ()) for id_ in scores for those in (certain.newer, certain.older))
    wanted = frozenset().union(*(ends.values() if folds else near)) & known.keys()
    order = in_order(line, _prefers(run, tense, line), decided)
    placed = order.placed({**dict.fromkeys(wanted, _NONE), **scores}, BELOW)
    joining = _joining({id_: known[id_] for id_ in wanted}, placed, None if folds else most)
    pool = [
        _marked(_placed(candidate, placed), line, certain)
        for candidate in (*run.pool, *joining)
        if candidate.id not in folded
    ]
    moved = {one.id: placed[one.id] for one in pool if placed[one.id] != scores.get(one.id)}
    gone = {candidate.id: candidate for candidate in run.pool if candidate.id in folded}
    run = (
        run._replace(folded=gone)
        .ranked(pool)
        .noting(
            folded=len(folded), joined=len(joining), places=_places(moved, order.below, scores)
        )
    )
    return run.counting(superseded=len(folded)) if folded else run


def _others(run: Run, ids: Sequence[str]) -> Mapping[str, Memory]:
    """Return the memories that no list has found and that the filters of the search allow."""
    records = run.kit.records
    return {} if records is None or not ids else records.get(ids, run.query.shown)


def _decided(run: Run, line: Succession) -> tuple[dict[Pair, bool], set[Pair]]:
    """Return for the pairs that a reader has put in order whether the newer comes first, and the pairs
    of which the older answers, too."""
    decided = {pair: first for pair, first in run.readings.items() if pair in line.links}
    return decided, {pair for pair, first in decided.items() if not first}


def _prefers(run: Run, tense: str, line: Succession) -> Prefers:
    """Return which of a newer and an older memory comes first, for a question of this tense."""
    moment = asked_moment(run)
    if tense == "then" and moment is not None:
        return lambda new, old: line.at[new] <= moment
    if tense == "past":  # the last state before the present one, then the one before that
        return lambda new, old: bool(line.newer[new])
    return lambda new, old: tense != "first"


def _joining(
    known: Mapping[str, Memory], placed: Mapping[str, float], most: int | None
) -> list[Candidate]:
    """Return the memories that come in at the place of another one, the best first."""
    at = sorted((id_ for id_ in known if placed[id_] > _NONE), key=lambda id_: (-placed[id_], id_))
    updated = {id_: known[id_].updated_at or known[id_].created_at for id_ in at[:most]}
    return [
        Candidate(id_, updated_us=micros(moment) if moment else 0)
        for id_, moment in updated.items()
    ]


def _placed(candidate: Candidate, placed: Mapping[str, float]) -> Candidate:
    score = placed.get(candidate.id, candidate.score)
    if score == candidate.score:
        return candidate
    why = {**candidate.why, "holds": score - candidate.score}
    return candidate._replace(score=score, why=why)


def _marked(candidate: Candidate, line: Succession, certain: Succession) -> Candidate:
    """Name the memories that a candidate replaces, and the one that may replace it."""
    id_ = candidate.id
    supersedes = certain.latest_of(certain.older.get(id_, ()))
    successor = next(iter(certain.ends(id_, line.at) or line.ends(id_, line.at)), None)
    named = [*supersedes, *([successor] if successor else [])]
    if not named:
        return candidate
    return candidate._replace(
        supersedes=tuple(supersedes),
        superseded_by=successor,
        change_dates={one: line.at[one] for one in named},
    )


def _places(
    moved: Mapping[str, float], below: Mapping[str, Collection[str]], scores: Mapping[str, float]
) -> dict[str, str]:
    """Return for each memory that moved whose place it took, or below which it stands."""
    places = {}
    for id_, score in moved.items():
        lower = [one for one in below.get(id_, ()) if one in scores]
        if score < scores.get(id_, _NONE) or not lower:
            places[id_] = "just below the one that comes first of both"
        else:
            best = max(lower, key=lambda one: (scores[one], one))
            places[id_] = f"the place of {best}, which scored {scores[best]:.6f}"
    return places

"""Stages of the cognis profile: scope of messages, lists of a conversation, fusion by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import (
    Run,
    by_score,
    checked_by,
    explained_by,
    limits,
    stage,
    summed,
)
from scrubjay.search.stages.recall import by_meaning
from scrubjay.text.analysis import fold_text
from scrubjay.times import micros
from scrubjay.types import Candidate, Found, RankedList, Row, Spoken, Step

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation


@stage
@limits(settle_s="0 or more")
def over_sessions(run: Run, *, settle_s: float = 120) -> Run:
    """Search the memories of all sessions, and raw messages of the named session only.
    A raw message counts as a memory `settle_s` after it was said, unless a language model
    extracted facts from it, which replace it; where there is such a model, not before that has
    read it. Until then only its own session sees it."""
    moments, clock = run.kit.need("moments"), run.kit.need("clock")
    settled_us = micros(clock()) - round(settle_s * 1_000_000)
    asked = Spoken(run.query.scope.session, settled_us, run.kit.extracts)
    scope = run.query.scope._replace(session=None)
    spoken = moments.spoken(asked)
    # A message may arrive while the query is embedded; `load` filters by what was asked again.
    query = run.query._replace(scope=scope._replace(spoken=spoken), spoken=asked)
    run = run._replace(query=query)
    if spoken is None:
        return run
    return run.noting(session=asked.session, unsettled=moments.unsettled(asked, scope))


@stage
@limits(shortlist="1 or more")
def memories(run: Run, *, shortlist: int = 200) -> RankedList:
    """Memories of all sessions by meaning: a shortlist by short vectors, in the order of whole ones.
    Where comparing all whole vectors is as fast, they make the shortlist themselves."""
    if run.query.vector is None:  # embed_query has noted the reason
        return RankedList("vector", searched=False)
    spoken = run.query.scope.spoken
    if spoken is not None:
        scope = run.query.scope._replace(spoken=spoken._replace(session=None))
        run = run._replace(query=run.query._replace(scope=scope))
    return _shortlisted(run, shortlist)


@stage
@limits(shortlist="1 or more")
def immediate(run: Run, *, shortlist: int = 200) -> RankedList:
    """Raw messages of the current session by meaning, however new; none without a session."""
    spoken = run.query.scope.spoken
    if spoken is None or spoken.session is None:
        return RankedList("immediate")
    if run.query.vector is None:
        return RankedList("immediate", searched=False)
    asked = run.query.scope.types
    types = ("message",) if asked is None or "message" in asked else ()
    scope = run.query.scope._replace(session=spoken.session, types=types, spoken=None)
    return _shortlisted(run._replace(query=run.query._replace(scope=scope)), shortlist)


def _shortlisted(run: Run, shortlist: int) -> RankedList:
    return by_meaning(run, run.query.vector, shortlist, shortlist)


@stage
def merge(run: Run, *, into: str = "vector", name: str = "immediate") -> Run:
    """Merge two lists with scores of the same scale; each memory once, by its better score."""
    ours = [ranked for ranked in run.lists if ranked.name in (into, name)]
    best: dict[str, Row] = {}
    for row in (row for ranked in ours for row in ranked.rows):
        if row.id not in best or row.score > best[row.id].score:
            best[row.id] = row
    merged = RankedList(into, by_score(best.values()), any(ranked.searched for ranked in ours))
    others = [ranked for ranked in run.lists if ranked not in ours]
    counts = {ranked.name: len(ranked.rows) for ranked in ours}
    run = run._replace(lists=(*others, merged)).counting(**{name: counts.get(name, 0)})
    return run.noting(**counts)


@stage
@limits(cosine="between -1 and 1")
def near_enough(run: Run, *, cosine: float = 0.3) -> Run:
    """Drop rows of a lower cosine from the vector list; words may still find those memories."""
    after = run.with_rows("vector", lambda rows: [r for r in rows if round(r.score, 6) >= cosine])
    pairs = zip(run.lists, after.lists, strict=True)
    return after.noting(dropped=sum(len(was.rows) - len(now.rows) for was, now in pairs))


def _check_ranks(*, vector: float, keyword: float, k: float) -> None:
    if not vector + keyword > 0:
        raise InvalidInput("by_rank.vector and by_rank.keyword are 0; one of them must be above 0")


def _explain_by_rank(explanation: Explanation, step: Step) -> None:
    k = step.numbers["k"]
    ranks = {
        name: place.rank
        for name, place in explanation.hit.found.items()
        if place.rank is not None and name in ("vector", "keyword")
    }
    explanation.made(
        "weight of the list × (k + 1) / (k + its rank there)",
        {n: [f"{step.numbers[n]:g} × ({k:g} + 1) / ({k:g} + {r})"] for n, r in ranks.items()},
        {n: step.numbers[n] * (k + 1) / (k + rank) for n, rank in ranks.items()},
    )


@stage
@limits(vector="0 or more", keyword="0 or more", k="0 or more")
@checked_by(_check_ranks)
@explained_by(_explain_by_rank)
def by_rank(run: Run, *, vector: float = 0.7, keyword: float = 0.3, k: float = 10) -> Run:
    """Sum weight x (k + 1) / (k + rank) over both lists: first in both is the sum of the weights.
    A list without the memory gives 0. A memory that only its time found has a score of 0 so
    far."""
    weights = {"vector": vector, "keyword": keyword}
    pool: dict[str, Candidate] = {}
    for ranked in run.lists:
        name, weight = ranked.name, weights.get(ranked.name, 0.0)
        for rank, row in enumerate(ranked.rows, start=1):
            part = {name: weight * (k + 1) / (k + rank)} if name in weights else {}
            before = pool.get(row.id) or Candidate(row.id, updated_us=row.updated_us)
            pool[row.id] = summed(before, {**before.why, **part})._replace(
                found={**before.found, name: Found(rank, row.score)},
                # Only the vector list has a chunk.
                best_chunk=before.best_chunk if row.chunk is None else row.chunk,
            )
    return run.ranked(pool.values())


@stage
def distinct(run: Run) -> Run:
    """Keep the best of candidates with the same text, and drop those that only repeat the query.
    Case, spaces, and punctuation at the ends are ignored."""
    echo = fold_text(run.query.text)
    seen: set[str] = set()
    pool: list[Candidate] = []
    echoes = 0
    for candidate in run.pool:
        text = fold_text(candidate.memory.text) if candidate.memory else candidate.id
        if text == echo:
            echoes += 1
        elif text not in seen:
            seen.add(text)
            pool.append(candidate)
    counts = {"same": len(run.pool) - len(pool) - echoes, "echoes": echoes}
    return run.holding(pool).counting(**counts).noting(**counts)

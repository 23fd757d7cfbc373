"""Conversations: which messages a search sees, what was said a moment ago, and two lists as one."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, checked_by, stage
from scrubjay.search.stages.recall import by_meaning
from scrubjay.text.analysis import fold_text
from scrubjay.times import micros
from scrubjay.types import Candidate, Found, RankedList, Row, Spoken


@stage
def over_sessions(run: Run, *, settle_s: float = 120) -> Run:
    """Search the memories of all sessions, and raw messages of the named one only.

    A raw message is a memory by itself `settle_s` after it was said, unless a language model drew facts
    from it, which stand for it. Until then it is seen in its own session alone.
    """
    if settle_s < 0:
        raise InvalidInput(f"over_sessions.settle_s is {settle_s}; it must be 0 or more")
    moments, clock = run.kit.need("moments"), run.kit.need("clock")
    settled_us = micros(clock()) - round(settle_s * 1_000_000)
    session = run.query.scope.session
    scope = run.query.scope._replace(session=None)
    spoken = moments.spoken(session, settled_us)
    query = run.query._replace(
        scope=scope._replace(spoken=spoken),
        # A message may come while the query is embedded: it is looked at once more before it is shown.
        spoken=Spoken(session, settled_us),
    )
    run = run._replace(query=query)
    if spoken is None:
        return run
    unsettled = moments.unsettled(settled_us, scope)
    return run.noting(session=session, unsettled=unsettled)


@stage
def memories(run: Run, *, shortlist: int = 200) -> RankedList:
    """Memories of all sessions by meaning: a shortlist by short vectors, in the order of whole ones."""
    if run.query.vector is None:  # embed_query has said why
        return RankedList("vector", searched=False)
    spoken = run.query.scope.spoken
    if spoken is not None:
        scope = run.query.scope._replace(spoken=spoken._replace(session=None))
        run = run._replace(query=run.query._replace(scope=scope))
    return _shortlisted(run, "vector", shortlist)


@stage
def immediate(run: Run, *, shortlist: int = 200) -> RankedList:
    """Raw messages of the current session by meaning, however fresh; nothing without a session."""
    spoken = run.query.scope.spoken
    if spoken is None or spoken.session is None:
        return RankedList("immediate")
    if run.query.vector is None:
        return RankedList("immediate", searched=False)
    asked = run.query.scope.types
    types = ("message",) if asked is None else tuple(one for one in asked if one == "message")
    scope = run.query.scope._replace(session=spoken.session, types=types, spoken=None)
    narrowed = run._replace(query=run.query._replace(scope=scope))
    return _shortlisted(narrowed, "immediate", shortlist)


def _shortlisted(run: Run, source: str, shortlist: int) -> RankedList:
    if shortlist < 1:
        raise InvalidInput(
            f"{source}.shortlist is {shortlist}; it must be 1 or more, 200 is usual"
        )
    return by_meaning(run, run.query.vector, max(shortlist, run.query.limit), shortlist)


@stage
def merge(run: Run, *, into: str = "vector", name: str = "immediate") -> Run:
    """Make one list of two whose scores are of one scale; each memory once, by its better score."""
    ours = [one for one in run.lists if one.name in (into, name)]
    best: dict[str, Row] = {}
    for row in (row for one in ours for row in one.rows):
        if row.id not in best or row.score > best[row.id].score:
            best[row.id] = row
    rows = sorted(best.values(), key=lambda row: (-round(row.score, 6), -row.updated_us, row.id))
    searched = any(one.searched for one in ours)
    others = tuple(one for one in run.lists if one.name not in (into, name))
    merged = RankedList(into, tuple(rows), searched)
    counted = {name: sum(len(one.rows) for one in ours if one.name == name)}
    run = run._replace(lists=(*others, merged), counts={**run.counts, **counted})
    return run.noting(**{one.name: len(one.rows) for one in ours})


@stage
def near_enough(run: Run, *, cosine: float = 0.3) -> Run:
    """Drop from the vector list what is less alike than that; words may still have found it."""
    if not -1 <= cosine <= 1:
        raise InvalidInput(f"near_enough.cosine is {cosine}; it must be between -1 and 1")
    lists = []
    dropped = 0
    for one in run.lists:
        if one.name == "vector":
            rows = tuple(row for row in one.rows if round(row.score, 6) >= cosine)
            dropped += len(one.rows) - len(rows)
            one = one._replace(rows=rows)
        lists.append(one)
    return run._replace(lists=tuple(lists)).noting(dropped=dropped)


def _check_ranks(*, vector: float, keyword: float, k: float) -> None:
    if vector < 0 or keyword < 0 or not vector + keyword > 0:
        raise InvalidInput(
            f"the weights of vector and keyword are {vector} and {keyword}; both must be 0 or more,"
            " and one above 0"
        )
    if k < 0:
        raise InvalidInput(f"by_rank.k is {k}; it must be 0 or more, 10 is usual")


@stage
@checked_by(_check_ranks)
def by_rank(run: Run, *, vector: float = 0.7, keyword: float = 0.3, k: float = 10) -> Run:
    """Sum weight x (k + 1) / (k + rank) over both lists: first in both is the sum of the weights.

    A list in which a memory is absent gives 0. What only the time found has a score of 0 so far.
    """
    weights = {"vector": vector, "keyword": keyword}
    pool: dict[str, Candidate] = {}
    for one in run.lists:
        weight = weights.get(one.name, 0.0)
        for rank, row in enumerate(one.rows, start=1):
            part = {one.name: weight * (k + 1) / (k + rank)} if one.name in weights else {}
            before = pool.get(row.id) or Candidate(row.id, updated_us=row.updated_us)
            why = {**before.why, **part}
            pool[row.id] = before._replace(
                score=sum(why.values()),
                why=why,
                found={**before.found, one.name: Found(rank, row.score)},
                # The list of vectors knows which passage it was.
                best_chunk=before.best_chunk if row.chunk is None else row.chunk,
            )
    return run._replace(pool=tuple(sorted(pool.values(), key=lambda one: one.order)))


@stage
def distinct(run: Run) -> Run:
    """Keep one of those that say the same, the best, and none that only says what was asked.

    Case, spaces, and punctuation at the ends do not count.
    """
    echo = fold_text(run.query.text)
    seen: set[str] = set()
    pool: list[Candidate] = []
    echoes = 0
    for one in run.pool:
        said = fold_text(one.memory.text) if one.memory else one.id
        if said == echo:
            echoes += 1
        elif said not in seen:
            seen.add(said)
            pool.append(one)
    same = len(run.pool) - len(pool) - echoes
    counts = {**run.counts, "same": same, "echoes": echoes}
    return run._replace(pool=tuple(pool), counts=counts).noting(same=same, echoes=echoes)

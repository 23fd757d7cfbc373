"""Compare two stores: every row by count and hash, and the results of searches."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from scrubjay.errors import StoreError
from scrubjay.ops.promote.mirror import Reader, grouped_rows
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.graph import SqlGraph
from scrubjay.storage.sql.mirror import MIRRORED
from scrubjay.storage.sql.readable import vector_or_zeros
from scrubjay.types import Neighbor, Row, Scope, Term

QUERIES = 20
_LIMIT = 50  # results of each search
_TOKENS = 4  # of each keyword query
_DEPTH = 2
_TOLERANCE = 1e-4
_WEIGHTS = {"title": 1.0, "text": 1.0, "topics": 1.0, "context": 1.0, "ident": 1.0}

Scores = Sequence[tuple[str, float]]


class Differs(StoreError):
    """Two stores that should be the same are not."""


class Digest(NamedTuple):
    """The number of rows of a table, and a hash of all of them."""

    rows: int
    sha256: str


def digests(of: Database, read: Reader | None = None) -> dict[str, Digest]:
    """Return a digest of every mirrored table; equal rows give equal digests in any database."""
    found: dict[str, Digest] = {}
    for table in MIRRORED:
        digest, count = hashlib.sha256(), 0
        for _, rows in grouped_rows(of, read or of.read, table):
            for row in rows:
                digest.update(repr(row).encode())
            count += len(rows)
        found[table.name] = Digest(count, digest.hexdigest())
    return found


def same_rows(source: Database, target: Database) -> dict[str, Digest]:
    """Return the digests of two stores with the same rows; Differs names the table that differs."""
    ours, theirs = digests(source), digests(target)
    for name, here in ours.items():
        there = theirs[name]
        if here != there:
            counted = f"{here.rows:,} rows here, {there.rows:,} there"
            what = "as many rows, but not the same" if here.rows == there.rows else counted
            raise Differs(f"{target.path} is not the same as {source.path}: table {name}: {what}")
    return ours


def same_searches(
    source: Database, target: Database, *, vectors: bool = True, queries: int
) -> int:
    """Run the same searches in both stores and return their number; Differs names one that differs.

    Keyword queries use tokens of some memories, vector queries their vectors, walks begin at them.
    Without `vectors` the target has them in a replica, and they are not searched.
    """
    count = 0
    with source.read() as db:
        samples = list(_samples(db, queries))
    for n, id_ in samples:
        for name, search in _searches(source, n, id_, vectors=vectors):
            wrong = difference(search(source), search(target), _LIMIT)
            if wrong is not None:
                raise Differs(
                    f"{target.path} does not answer as {source.path} does: a search {name} of"
                    f" {id_}: {wrong}"
                )
            count += 1
    return count


def warm(of: Database) -> None:
    """Have a store load its copies in memory, before others must wait for that."""
    with of.read() as db:
        samples = list(_samples(db, 1))
    for n, id_ in samples:
        for _, search in _searches(of, n, id_):
            search(of)


def difference(ours: Scores, theirs: Scores, limit: int) -> str | None:
    """Return how two lists of results differ; None when they do not.

    Scores may differ by a little; and ties of the last result may be missing in a list that was cut.
    """
    first, second = dict(ours), dict(theirs)
    for id_ in (*first, *second):
        here, there = first.get(id_), second.get(id_)
        if here is not None and there is not None:
            if abs(here - there) > _TOLERANCE * max(1.0, abs(here)):
                return f"{id_} scores {here:.6f} here, {there:.6f} there"
            continue
        score, other, side = (here, theirs, "there") if there is None else (there, ours, "here")
        assert score is not None
        cut = other[-1][1] if len(other) >= limit else None
        if cut is None or score > cut + _TOLERANCE * max(1.0, abs(cut)):
            return f"{id_} is not found {side}"
    return None


def _samples(db: Connection, count: int) -> Iterator[tuple[int, str]]:
    first, last = db.execute("SELECT min(n), max(n) FROM memories").fetchone()
    if first is None:
        return
    random = Random(last)
    numbers = {random.randint(first, last) for _ in range(count)}
    rows = (
        db.execute("SELECT n, id FROM memories WHERE n >= ? ORDER BY n LIMIT 1", (n,)).fetchone()
        for n in sorted(numbers)
    )
    yield from dict.fromkeys((n, id_) for n, id_ in rows)


def _searches(
    of: Database, n: int, id_: str, *, vectors: bool = True
) -> Iterator[tuple[str, Callable[[Database], Scores]]]:
    with of.read() as db:
        line = db.execute("SELECT title, text FROM words WHERE rowid = ?", (n,)).fetchone()
        own = db.execute(
            "SELECT m.name, v.vector, m.dims FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
            " JOIN models AS m ON m.n = v.model WHERE c.memory = ? ORDER BY m.name, c.ordinal"
            " LIMIT 1",
            (n,),
        ).fetchone()
    tokens = list(dict.fromkeys(" ".join(line or ()).split()))
    if tokens:
        terms = [
            Term(((token,),)) for token in Random(n).sample(tokens, min(_TOKENS, len(tokens)))
        ]
        yield (
            "by words",
            lambda at: _scores(
                at.keyword.search(terms, Scope(), _LIMIT, _WEIGHTS, every_first=False).rows
            ),
        )
    if own is not None and vectors:
        model, vector = own[0], vector_or_zeros(of.codec, *own[1:])
        yield (
            "by the vector",
            lambda at: _scores(at.vectors.search(vector, model, Scope(), _LIMIT).rows),
        )
    yield "by the links", lambda at: _scores(SqlGraph(at).walk([id_], Scope(), _DEPTH, _LIMIT))


def _scores(found: Sequence[Neighbor] | Sequence[Row]) -> Scores:
    return [(hit.id, hit.score) for hit in found]

"""Whether two stores hold the same: every row, by count and by hash, and what searches find in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.ops.promote.mirror import Reads, units
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.graph import SqlGraph
from scrubjay.storage.sql.mirror import MIRRORED
from scrubjay.types import Scope, Term

if TYPE_CHECKING:
    pass

QUERIES = 20
_FOUND = 50  # of each search
_TOKENS = 4  # of each query by word
_DEPTH = 2
_SAME = 1e-4
_WEIGHTS = {"title": 1.0, "text": 1.0, "topics": 1.0, "context": 1.0, "ident": 1.0}

Found = Sequence[tuple[str, float]]


class Differs(StoreError):
    """Two stores that should be the same are not."""


class Digest(NamedTuple):
    """How many rows a table has, and a hash of all of them."""

    rows: int
    sha256: str


def digests(of: Database, read: Reads | None = None) -> dict[str, Digest]:
    """Return a digest of every table that is mirrored; the same rows give the same in any database."""
    found: dict[str, Digest] = {}
    for table in MIRRORED:
        digest, count = hashlib.sha256(), 0
        for _, rows in units(of, read or of.read, table):
            for row in rows:
                digest.update(repr(row).encode())
            count += len(rows)
        found[table.name] = Digest(count, digest.hexdigest())
    return found


def same_rows(source: Database, target: Database) -> dict[str, Digest]:
    """Return the digests of two stores that hold the same rows; Differs says which table does not."""
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
    """Ask both stores the same, and return how often; Differs says which query had other answers.

    By word with tokens of some memories, by meaning with their own vectors, by link from them. Without
    `vectors` the target has them elsewhere, and is not asked for them.
    """
    asked = 0
    with source.read() as db:
        seeds = list(_seeds(db, queries))
    for n, id_ in seeds:
        for what, ask in _searches(source, n, id_, vectors=vectors):
            wrong = difference(ask(source), ask(target), _FOUND)
            if wrong is not None:
                raise Differs(
                    f"{target.path} does not answer as {source.path} does: a search {what} of"
                    f" {id_}: {wrong}"
                )
            asked += 1
    return asked


def warm(of: Database) -> None:
    """Have a store read what it keeps in memory, before others have to wait for it."""
    with of.read() as db:
        seeds = list(_seeds(db, 1))
    for n, id_ in seeds:
        for _, ask in _searches(of, n, id_):
            ask(of)


def difference(ours: Found, theirs: Found, limit: int) -> str | None:
    """Say in what two lists of results differ; None where they do not.

    Scores may differ by very little; and where a list was cut, what ties with its last may be missing.
    """
    first, second = dict(ours), dict(theirs)
    for id_ in (*first, *second):
        here, there = first.get(id_), second.get(id_)
        if here is not None and there is not None:
            if abs(here - there) > _SAME * max(1.0, abs(here)):
                return f"{id_} scores {here:.6f} here, {there:.6f} there"
            continue
        score, other, side = (here, theirs, "there") if there is None else (there, ours, "here")
        assert score is not None
        cut = other[-1][1] if len(other) >= limit else None
        if cut is None or score > cut + _SAME * max(1.0, abs(cut)):
            return f"{id_} is not found {side}"
    return None


def _seeds(db: Connection, count: int) -> Iterator[tuple[int, str]]:
    """Yield some memories, by number and id: always the same ones of the same store."""
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
) -> Iterator[tuple[str, Callable[[Database], Found]]]:
    """Yield what is asked about one memory, and how."""
    with of.read() as db:
        line = db.execute("SELECT title, text FROM words WHERE rowid = ?", (n,)).fetchone()
        own = db.execute(
            "SELECT m.name, v.vector FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
            " JOIN models AS m ON m.n = v.model WHERE c.memory = ? ORDER BY m.name, c.ordinal"
            " LIMIT 1",
            (n,),
        ).fetchone()
    tokens = list(dict.fromkeys(" ".join(line or ()).split()))
    if tokens:
        chosen = Random(n).sample(tokens, min(_TOKENS, len(tokens)))
        yield "by word for words", lambda at: _by_word(at, chosen)
    if own is not None and vectors:
        model, stored = own
        yield "by the vector", lambda at: _by_vector(at, model, of.codec.unseal_vector(stored))
    yield "by the links", lambda at: _by_link(at, id_)


def _by_word(of: Database, tokens: Sequence[str]) -> Found:
    terms = [Term(((token,),)) for token in tokens]
    found = of.keyword.search(terms, Scope(), _FOUND, _WEIGHTS, every_first=False)
    return [(row.id, row.score) for row in found.rows]


def _by_vector(of: Database, model: str, stored: bytes) -> Found:
    import numpy as np

    found = of.vectors.search(np.frombuffer(stored, "<f4"), model, Scope(), _FOUND)
    return [(row.id, row.score) for row in found.rows]


def _by_link(of: Database, id_: str) -> Found:
    walked = SqlGraph(of).walk([id_], Scope(), _DEPTH, _FOUND)
    return [(one.id, one.score) for one in walked]

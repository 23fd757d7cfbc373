"""Vectors in SQLite: float32 in the file, int8 in memory.

A search scans the int8 copy and scores the best again with the float32 vectors, so the cosine shown
is exact. The copy is kept in step with the file by two counters: vectors added since, vectors gone
since, by whichever process.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.stores.scope_sql import marks, where
from scrubjay.stores.sqlite import Database
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.stores.int8 import Codes

# How many more chunks than memories are scored exactly: int8 order is off by a few places only.
_RESCORE_FACTOR = 2


class SqliteVector:
    """The vectors of one file, for any number of models."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._codes: dict[str, Codes] = {}
        self._refreshing = threading.Lock()

    def search(
        self, vector: NDArray[np.float32], model: str, scope: Scope, limit: int
    ) -> RankedList:
        """Return the memories with the nearest chunk, by cosine; one row a memory, its best chunk."""
        if scope.ids is not None:
            return RankedList("vector", tuple(self._of_these(vector, model, scope)[:limit]))
        codes = self._fresh(model)
        if codes is None:
            return RankedList("vector")
        rows: list[Row] = []
        take = limit * _RESCORE_FACTOR
        with self._db.read() as db:
            allowed = None if scope.everything else self._allowed(db, scope)
            while True:
                nearest = codes.nearest(vector, take, allowed)
                rows = self._exact(db, vector, nearest, scope)
                # Several chunks of one memory fold into one row, so a search may have to look further.
                if len(rows) >= limit or len(nearest) < take:
                    break
                take *= 4
        return RankedList("vector", tuple(rows[:limit]))

    def add(self, model: str, vectors: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
        """Store the vectors of chunks that still exist and still want one; the first one stays."""
        seal = self._db.codec.seal_vector
        with self._db.write() as db:
            for chunk, vector in vectors:
                db.execute(
                    "INSERT OR IGNORE INTO vectors (model, chunk, vector)"
                    " SELECT models.n, chunks.n, ? FROM models, chunks"
                    " WHERE models.name = ? AND chunks.n = ?",
                    (seal(vector.astype("<f4").tobytes()), model, chunk),
                )
            db.executemany(
                "DELETE FROM wanting WHERE chunk = ?"
                " AND model = (SELECT n FROM models WHERE name = ?)",
                [(chunk, model) for chunk, _ in vectors],
            )

    def missing(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of this model yet."""
        condition, arguments = where(scope, self._db.codec)
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*) FROM wanting AS w JOIN chunks AS c ON c.n = w.chunk"
                " JOIN memories AS m ON m.n = c.memory"
                f" WHERE w.model = (SELECT n FROM models WHERE name = ?) AND {condition}",
                (model, *arguments),
            ).fetchone()
        return int(row[0])

    def _fresh(self, model: str) -> Codes | None:
        """Return the int8 copy of a model's vectors, in step with the file."""
        from scrubjay.stores.int8 import Codes

        with self._refreshing, self._db.read() as db:
            row = db.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return None
            n, dims = row
            codes = self._codes.setdefault(model, Codes(dims))
            counters = dict(
                db.execute(
                    "SELECT name, seq FROM sqlite_sequence WHERE name IN ('vectors', 'gone')"
                )
            )
            added, gone = counters.get("vectors", 0), counters.get("gone", 0)
            if gone > codes.seen_gone:
                lost = db.execute("SELECT vector FROM gone WHERE n > ?", (codes.seen_gone,))
                codes.drop([vector for (vector,) in lost])
            if added > codes.seen_added:
                unseal = self._db.codec.unseal_vector
                new = db.execute(
                    "SELECT v.n, c.memory, v.vector FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
                    " WHERE v.model = ? AND v.n > ? AND v.n <= ? ORDER BY v.n",
                    (n, codes.seen_added, added),
                )
                while batch := new.fetchmany(4096):
                    codes.extend([(at, memory, unseal(vector)) for at, memory, vector in batch])
            codes.seen_added, codes.seen_gone = added, gone
            return codes

    def _allowed(self, db: sqlite3.Connection, scope: Scope) -> NDArray[np.int64]:
        import numpy as np

        condition, arguments = where(scope, self._db.codec)
        rows = db.execute(f"SELECT m.n FROM memories AS m WHERE {condition}", arguments).fetchall()
        return np.fromiter((n for (n,) in rows), dtype=np.int64, count=len(rows))

    def _of_these(self, vector: NDArray[np.float32], model: str, scope: Scope) -> list[Row]:
        """Score the memories of a scope that names its ids: no scan is needed for those."""
        condition, arguments = where(scope, self._db.codec)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT v.n FROM memories AS m JOIN chunks AS c ON c.memory = m.n"
                " JOIN vectors AS v ON v.chunk = c.n"
                f" WHERE v.model = (SELECT n FROM models WHERE name = ?) AND {condition}",
                (model, *arguments),
            ).fetchall()
            return self._exact(db, vector, [n for (n,) in rows], scope)

    def _exact(
        self, db: sqlite3.Connection, vector: NDArray[np.float32], nearest: list[int], scope: Scope
    ) -> list[Row]:
        """Score these vectors by their float32 values, best chunk of each memory, in the one order."""
        import numpy as np

        condition, arguments = where(scope, self._db.codec)
        found: list[tuple[str, int, int, bytes]] = []
        for start in range(0, len(nearest), 500):
            part = nearest[start : start + 500]
            found += db.execute(
                "SELECT m.id, c.ordinal, m.updated_us, v.vector FROM vectors AS v"
                " JOIN chunks AS c ON c.n = v.chunk JOIN memories AS m ON m.n = c.memory"
                f" WHERE v.n IN ({marks(part)}) AND {condition}",
                (*part, *arguments),
            ).fetchall()
        if not found:
            return []
        unseal = self._db.codec.unseal_vector
        matrix = np.frombuffer(b"".join(unseal(row[3]) for row in found), dtype="<f4")
        cosines = matrix.reshape(len(found), -1) @ vector.astype(np.float32)
        best: dict[str, Row] = {}
        for (id_, ordinal, updated_us, _), cosine in zip(found, cosines.tolist(), strict=True):
            before = best.get(id_)
            if before is None or (cosine, -ordinal) > (before.score, -(before.chunk or 0)):
                best[id_] = Row(id_, cosine, ordinal, updated_us)
        return sorted(
            best.values(), key=lambda row: (-round(row.score, 6), -row.updated_us, row.id)
        )

"""Vectors in SQLite: float32 in the file, int8 in memory.

A search scans the int8 copy and scores the best again with the float32 vectors, so the cosine shown
is exact. With a shortlist, a copy of short vectors is scanned first, and of the other only what that
lists.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.stores.database import Connection, Database
from scrubjay.stores.scope_sql import in_parts, where
from scrubjay.stores.unchanged import Unchanged
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.stores.int8 import Codes, Place, Scan
    from scrubjay.stores.rotations import SqliteRotations
    from scrubjay.stores.short_codes import ShortCodes


class SqliteVector:
    """The vectors of one file, for any number of models."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.unchanged = Unchanged(db)
        self._codes: dict[str, Codes] = {}
        self._refreshing = threading.Lock()

    @cached_property
    def rotations(self) -> SqliteRotations:
        """What makes vectors short, fitted in the background."""
        from scrubjay.stores.rotations import SqliteRotations

        return SqliteRotations(self._db)

    @cached_property
    def short(self) -> ShortCodes:
        """Copies of short vectors, in memory."""
        from scrubjay.stores.short_codes import ShortCodes

        return ShortCodes(self._db, self.rotations)

    def search(
        self,
        vector: NDArray[np.float32],
        model: str,
        scope: Scope,
        limit: int,
        *,
        shortlist: int | None = None,
        short_dims: int | None = None,
    ) -> RankedList:
        """Return the memories with the nearest chunk, by cosine; one row a memory, its best chunk.

        With `shortlist`, so many memories are chosen by short vectors and then scored by whole ones,
        once there are enough vectors and a rotation is fitted; until then the search is exact.
        """
        _check("shortlist", shortlist)
        _check("short_dims", short_dims)
        if scope.ids is not None:
            return RankedList("vector", tuple(self._of_these(vector, model, scope)[:limit]))
        codes = self._fresh(model)
        if codes is None:
            return RankedList("vector")
        seen, scan = self.unchanged.seen_by(scope), None
        if shortlist is not None:
            most = max(shortlist, limit)
            scan = self._listed(codes, vector, model, seen, most, short_dims)
        if scan is None:
            scan = codes.scan(vector, seen)
        with self._db.read() as db:
            rows = self._named(db, self._nearest(db, scan, vector, limit), scope)
        return RankedList("vector", tuple(rows[:limit]))

    def nearest_of(
        self,
        memories: Sequence[int] | NDArray[np.int64],
        vector: NDArray[np.float32],
        model: str,
        limit: int,
    ) -> dict[int, tuple[float, int]]:
        """Return the nearest of these memories, by number, each with its cosine and its best chunk.

        Those that tie with the last come along; one that has no vector does not.
        """
        import numpy as np

        codes = self._fresh(model) if len(memories) else None
        if codes is None:
            return {}
        these = np.asarray(memories, np.int64)
        flags = np.zeros(int(these.max()) + 2, np.bool_)
        flags[these] = True
        with self._db.read() as db:
            return self._nearest(db, codes.scan(vector, flags), vector, limit)

    def add(
        self,
        model: str,
        vectors: Sequence[tuple[int, NDArray[np.float32]]],
        asked: Mapping[int, int] | None = None,
    ) -> None:
        """Store the vectors of chunks that still exist and still want one; the first one stays.

        `asked` has, by chunk, the number of a wish for another one, which then takes its place. What
        was asked for again meanwhile is not stored: the model has read what no longer stands there.
        """
        seal = self._db.codec.seal_vector
        with self._db.write() as db:
            row = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return
            for chunk, one in vectors:
                this = (row[0], chunk)
                number = asked.get(chunk, 0) if asked else 0
                wish = db.execute(
                    "SELECT asked FROM wanting WHERE model = ? AND chunk = ?", this
                ).fetchone()
                if wish is not None and wish[0] != number:
                    continue
                if wish is not None and number:
                    db.execute("DELETE FROM vectors WHERE model = ? AND chunk = ?", this)
                db.execute(
                    "INSERT OR IGNORE INTO vectors (model, chunk, vector)"
                    " SELECT ?, n, ? FROM chunks WHERE n = ?",
                    (row[0], seal(one.astype("<f4").tobytes()), chunk),
                )
                db.execute("DELETE FROM wanting WHERE model = ? AND chunk = ?", this)

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Fit what makes vectors short if that is due; False when nothing was fitted.

        `prefixes` are the lengths at which the model's vectors can be cut as they are.
        """
        if not self.rotations.due(model, prefixes):
            return False
        from scrubjay.stores.fitting import fit

        return fit(self._db, self.rotations, model, prefixes, stopped)

    def missing(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of this model yet."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            if not db.execute("SELECT 1 FROM wanting LIMIT 1").fetchone():
                return 0
            row = db.execute(
                "SELECT count(*) FROM wanting AS w JOIN chunks AS c ON c.n = w.chunk"
                " JOIN memories AS m ON m.n = c.memory"
                " LEFT JOIN vectors AS v ON v.chunk = w.chunk AND v.model = w.model"
                " WHERE w.model = (SELECT n FROM models WHERE name = ?) AND v.n IS NULL"
                f" AND {condition}",
                (model, *arguments),
            ).fetchone()
        return int(row[0])

    def without(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of a model, also of one that the file does not know."""
        with self._db.read() as db:
            if db.execute("SELECT 1 FROM models WHERE name = ?", (model,)).fetchone():
                return self.missing(model, scope)
            condition, arguments = where(scope, self._db)
            row = db.execute(
                "SELECT count(*) FROM chunks AS c JOIN memories AS m ON m.n = c.memory"
                f" WHERE {condition}",
                arguments,
            ).fetchone()
        return int(row[0])

    def _fresh(self, model: str) -> Codes | None:
        """Return the int8 copy of a model's vectors, in step with the file."""
        from scrubjay.stores.in_step import catch_up
        from scrubjay.stores.int8 import Codes

        with self._refreshing, self._db.read() as db:
            row = db.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return None
            codes = self._codes.setdefault(model, Codes(row[1]))
            catch_up(codes, db, self._db.codec, row[0])
            return codes

    def _listed(
        self,
        codes: Codes,
        vector: NDArray[np.float32],
        model: str,
        seen: NDArray[np.bool_] | None,
        shortlist: int,
        short_dims: int | None,
    ) -> Scan | None:
        """Score a shortlist by short vectors; None where whole ones are as fast, or there are no short."""
        from scrubjay.stores.rotations import LEAST_VECTORS

        few = len(codes) if seen is None else min(len(codes), int(seen.sum()))
        short = self.short.fresh(model, short_dims) if few >= LEAST_VECTORS else None
        if short is None:
            return None
        scan = short.codes.scan(short.turn.query(vector), seen)
        return codes.scan_these(vector, *scan.best_rows(shortlist))

    def _nearest(
        self, db: Connection, scan: Scan, vector: NDArray[np.float32], limit: int
    ) -> dict[int, tuple[float, int]]:
        """Return the best memories of a scan by their exact cosines."""
        return _with_ties(self._best_chunks(db, vector, scan.best(limit)), limit)

    def _of_these(self, vector: NDArray[np.float32], model: str, scope: Scope) -> list[Row]:
        """Score the memories of a scope that names its ids: no scan is needed for those."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            found = db.execute(
                "SELECT m.id, c.ordinal, m.updated_us, v.vector FROM memories AS m"
                " JOIN chunks AS c ON c.memory = m.n JOIN vectors AS v ON v.chunk = c.n"
                f" WHERE v.model = (SELECT n FROM models WHERE name = ?) AND {condition}",
                (model, *arguments),
            ).fetchall()
        best: dict[str, Row] = {}
        cosines = self._cosines(vector, [row[3] for row in found])
        for (id_, ordinal, updated_us, _), cosine in zip(found, cosines, strict=True):
            before = best.get(id_)
            if before is None or (cosine, -ordinal) > (before.score, -(before.chunk or 0)):
                best[id_] = Row(id_, cosine, ordinal, updated_us)
        return sorted(best.values(), key=_in_order)

    def _cosines(self, vector: NDArray[np.float32], stored: list[bytes]) -> list[float]:
        """Return the exact cosines of stored vectors."""
        import numpy as np

        if not stored:
            return []
        unseal = self._db.codec.unseal_vector
        matrix = np.frombuffer(b"".join(map(unseal, stored)), dtype="<f4")
        # In double precision: in single, the last bit depends on how many rows are multiplied at once,
        # and then two stores rounded the same cosine to different sixth places.
        cosines: list[float] = np.einsum(
            "ij,j->i", matrix.reshape(len(stored), -1), vector, dtype=np.float64
        ).tolist()
        return cosines

    def _best_chunks(
        self, db: Connection, vector: NDArray[np.float32], nearest: list[Place]
    ) -> dict[int, tuple[float, int]]:
        """Return each memory's best cosine, by its float32 values, and the chunk that has it."""
        places = {place.vector: place for place in nearest}
        found: list[tuple[int, bytes]] = []
        for several, part in in_parts(list(places)):
            found += db.execute(
                f"SELECT n, vector FROM vectors WHERE n IN ({several})", part
            ).fetchall()
        best: dict[int, tuple[float, int]] = {}
        cosines = self._cosines(vector, [row[1] for row in found])
        for (n, _), cosine in zip(found, cosines, strict=True):
            place = places[n]
            before = best.get(place.memory)
            if before is None or (cosine, -place.ordinal) > (before[0], -before[1]):
                best[place.memory] = (cosine, place.ordinal)
        return best

    def _named(
        self, db: Connection, best: dict[int, tuple[float, int]], scope: Scope
    ) -> list[Row]:
        """Add id and age to what the scope may see, in the one order."""
        condition, arguments = where(scope, self._db)
        rows: list[Row] = []
        for several, part in in_parts(list(best)):
            rows += (
                Row(id_, best[n][0], best[n][1], updated_us)
                for n, id_, updated_us in db.execute(
                    # By number and no other way: SQLite would rather read a whole namespace.
                    "SELECT m.n, m.id, m.updated_us FROM memories AS m NOT INDEXED"
                    f" WHERE m.n IN ({several}) AND {condition}",
                    (*part, *arguments),
                )
            )
        rows.sort(key=_in_order)
        return rows


def _check(name: str, given: int | None) -> None:
    if given is not None and (type(given) is not int or given < 1):
        raise InvalidInput(f"{name} is {given!r}; give a whole number of at least 1")


def _in_order(row: Row) -> tuple[float, int, str]:
    return (-round(row.score, 6), -row.updated_us, row.id)


def _with_ties(best: dict[int, tuple[float, int]], limit: int) -> dict[int, tuple[float, int]]:
    """Keep the best so many, and those that tie with the last: age and id decide between them."""
    if len(best) <= limit:
        return best
    last = round(sorted((cosine for cosine, _ in best.values()), reverse=True)[limit - 1], 6)
    return {memory: of for memory, of in best.items() if round(of[0], 6) >= last}

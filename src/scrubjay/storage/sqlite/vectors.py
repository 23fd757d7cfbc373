"""Vectors in SQLite: float32 in the file, int8 in memory.

A search scans the int8 copy and scores the best again with the float32 vectors, so the cosine shown
is exact. With a shortlist, a copy of short vectors is scanned first, and of the other only what that
lists.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sql.vectors import Best, SqlVectors, check_positive, with_ties
from scrubjay.types import RankedList, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.sqlite.int8 import Codes, Place, Scan
    from scrubjay.storage.sqlite.rotations import SqliteRotations
    from scrubjay.storage.sqlite.short_codes import ShortCodes


class SqliteVector(SqlVectors):
    """The vectors of one file, for any number of models."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._codes: dict[str, Codes] = {}
        self._refreshing = threading.Lock()

    @cached_property
    def rotations(self) -> SqliteRotations:
        """What makes vectors short, fitted in the background."""
        from scrubjay.storage.sqlite.rotations import SqliteRotations

        return SqliteRotations(self._db)

    @cached_property
    def short(self) -> ShortCodes:
        """Copies of short vectors, in memory."""
        from scrubjay.storage.sqlite.short_codes import ShortCodes

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
        check_positive("shortlist", shortlist)
        check_positive("short_dims", short_dims)
        if scope.ids is not None:
            return RankedList("vector", tuple(self._of_scope(vector, model, scope)[:limit]))
        codes = self._fresh(model)
        if codes is None:
            return RankedList("vector")
        seen, scan = self.sets.visible(scope), None
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
    ) -> Best:
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

    def fit_is_due(self, model: str, prefixes: Sequence[int]) -> bool:
        """True when there are many more vectors than a rotation was fitted on."""
        return self.rotations.due(model, prefixes)

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Fit what makes vectors short if that is due; False when nothing was fitted.

        `prefixes` are the lengths at which the model's vectors can be cut as they are.
        """
        if not self.fit_is_due(model, prefixes):
            return False
        from scrubjay.storage.sqlite.rotation_fit import fit

        return fit(self._db, self.rotations, model, prefixes, stopped)

    def _fresh(self, model: str) -> Codes | None:
        """Return the int8 copy of a model's vectors, in step with the file."""
        from scrubjay.storage.sqlite.int8 import Codes
        from scrubjay.storage.sqlite.vector_cache import catch_up

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
        from scrubjay.storage.sqlite.rotations import LEAST_VECTORS

        few = len(codes) if seen is None else min(len(codes), int(seen.sum()))
        short = self.short.fresh(model, short_dims) if few >= LEAST_VECTORS else None
        if short is None:
            return None
        scan = short.codes.scan(short.turn.query(vector), seen)
        return codes.scan_these(vector, *scan.best_rows(shortlist))

    def _nearest(
        self, db: Connection, scan: Scan, vector: NDArray[np.float32], limit: int
    ) -> Best:
        """Return the best memories of a scan by their exact cosines."""
        return with_ties(self._best_chunks(db, vector, scan.best(limit)), limit)

    def _best_chunks(
        self, db: Connection, vector: NDArray[np.float32], nearest: list[Place]
    ) -> Best:
        """Return each memory's best cosine, by its float32 values, and the chunk that has it."""
        places = {place.vector: place for place in nearest}
        found: list[tuple[int, bytes]] = []
        for several, part in in_parts(list(places)):
            found += db.execute(
                f"SELECT n, vector FROM vectors WHERE n IN ({several})", part
            ).fetchall()
        best: Best = {}
        self._keep_best(
            best, vector, [(places[n].memory, places[n].ordinal, stored) for n, stored in found]
        )
        return best

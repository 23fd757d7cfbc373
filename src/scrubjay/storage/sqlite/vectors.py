"""Vector search in SQLite: float32 in the file, int8 in memory.

A search scans the int8 copy and scores the best again with the float32 vectors, so the cosines are
exact. With a shortlist, it scans a copy of short vectors first, and then only what that lists.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.database import Database
from scrubjay.storage.sql.readable import named_damage
from scrubjay.storage.sql.vectors import (
    WHOLE,
    Best,
    Nearest,
    SqlVectors,
    VectorQuery,
    is_width,
    with_ties,
)
from scrubjay.types import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.sqlite.int8 import Int8Vectors, Scan
    from scrubjay.storage.sqlite.rotations import ShortVectorCache, SqliteRotations

# With fewer, an exact search is as fast: reading a shortlist costs as much as comparing them all.
MIN_ROTATED = 20_000


class SqliteVector(SqlVectors):
    """The vectors of one file, for any number of models."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._copies: dict[str, Int8Vectors] = {}
        self._refreshing = threading.Lock()

    @cached_property
    def rotations(self) -> SqliteRotations:
        from scrubjay.storage.sqlite.rotations import SqliteRotations

        return SqliteRotations(self._db)

    @cached_property
    def short(self) -> ShortVectorCache:
        from scrubjay.storage.sqlite.rotations import ShortVectorCache

        return ShortVectorCache(self._db, self.rotations)

    def _nearest(self, query: VectorQuery) -> Nearest:
        """Search the copy in memory.

        With a shortlist, that many memories are chosen by short vectors and then scored by whole ones,
        once there are enough vectors and a rotation is fitted; until then the search is exact.
        """
        copy = self._refreshed(query.model)
        if copy is None:
            return Nearest([], WHOLE)
        scan, compared = self._scan(copy, query, self.sets.visible(query.scope))
        with self._db.read():
            best = self._best_chunks(scan, query.vector, query.limit)
            return Nearest(self._named(best, query.scope), compared)

    def nearest_of(
        self,
        memories: Sequence[int] | NDArray[np.int64],
        vector: NDArray[np.float32],
        model: str,
        limit: int,
    ) -> Best:
        """Return the nearest of these memories with a vector, with ties of the last; cosine and chunk."""
        import numpy as np

        copy = self._refreshed(model) if len(memories) else None
        if copy is None:
            return {}
        numbers = np.asarray(memories, np.int64)
        flags = np.zeros(int(numbers.max()) + 2, np.bool_)
        flags[numbers] = True
        return self._best_chunks(copy.scan(vector, flags), vector, limit)

    def fit_is_due(self, model: str, prefixes: Sequence[int]) -> bool:
        """True when there are many more vectors than a rotation was fitted on; cheap."""
        row = self._row("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'")
        added = 0 if row is None else int(row[0])
        return added >= MIN_ROTATED and self.rotations.due(model, prefixes, added)

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Fit a rotation if that is due; `prefixes` are the lengths to which vectors can be cut."""
        if not self.fit_is_due(model, prefixes):
            return False
        from scrubjay.storage.sqlite.rotation_fit import fit

        return fit(self._db, self.rotations, model, prefixes, stopped)

    def release(self, model: str) -> None:
        with self._refreshing:
            self._copies.pop(model, None)
        self.short.release(model)

    def _refreshed(self, model: str) -> Int8Vectors | None:
        from scrubjay.storage.sqlite.int8 import Int8Vectors, catch_up

        with self._refreshing, self._db.read() as db:
            row = db.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return None
            if not is_width(row[1]):
                raise Unavailable(
                    "the width of its vectors is damaged; run:"
                    f" {to_type('doctor --repair', self._db.path)}"
                )
            copy = self._copies.get(model)
            if copy is None or copy.dims != row[1]:  # its index was removed and made again
                copy = self._copies[model] = Int8Vectors(row[1])
            catch_up(copy, db, self._db.codec, row[0])
            return copy

    def damage(self, model: str, scope: Scope) -> str:
        copy = self._copies.get(model)
        if copy is None or not copy.damaged:
            return ""
        memories = self._ids_and_times(set(copy.damaged.values()), scope)
        ids = sorted(id_ for _, id_, _ in memories)
        return named_damage("vector", "not searched", ids, self._db.path) if ids else ""

    def _scan(
        self, copy: Int8Vectors, query: VectorQuery, seen: NDArray[np.bool_] | None
    ) -> tuple[Scan, str]:
        """Score a shortlist by short vectors, or all vectors; return also which were compared."""
        if query.shortlist is None:
            return copy.scan(query.vector, seen), WHOLE
        count = len(copy) if seen is None else min(len(copy), int(seen.sum()))
        is_large = count >= MIN_ROTATED
        short = self.short.refreshed(query.model, query.short_dims) if is_large else None
        if short is None:
            scan = copy.scan(query.vector, seen)
            why = "none are ready" if is_large else f"they are used from {MIN_ROTATED:,} on"
            return scan, f"all {len(scan.scores):,} vectors, whole; not short ones: {why}"
        first = short.vectors.scan(short.rotation.shorten_query(query.vector), seen)
        scan = copy.scan_these(query.vector, *first.best_rows(max(query.shortlist, query.limit)))
        by = f"{short.rotation.dims} numbers, then {len(scan.scores):,} whole"
        return scan, f"{len(first.scores):,} vectors by {by}"

    def _best_chunks(self, scan: Scan, vector: NDArray[np.float32], limit: int) -> Best:
        """Return the best memories of a scan by their float32 cosines, each with its best chunk."""
        places = {place.vector: place for place in scan.best(limit)}
        found = self._rows_in("SELECT n, vector FROM vectors WHERE n IN ({values})", list(places))
        best: Best = {}
        self._keep_best(best, vector, [(*places[n][1:], stored) for n, stored in found])
        return with_ties(best, limit)

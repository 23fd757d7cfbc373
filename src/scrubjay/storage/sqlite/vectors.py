"""Vector search in SQLite: float32 in the file, int8 in memory or in a cache beside the file.

A search scans the int8 copy and scores the best again with the float32 vectors, so the cosines are
exact. In a large store it scans the nearest cells of it alone. With a shortlist, it scans a copy of short
vectors first, and then only what that lists; where there are cells, these make the shortlist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.storage.database import Database
from scrubjay.storage.sql.readable import named_damage
from scrubjay.storage.sql.vectors import (
    WHOLE,
    Best,
    Nearest,
    SqlVectors,
    VectorQuery,
    with_ties,
)
from scrubjay.storage.sqlite.cache.copies import VectorCopies
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
        self.copies = VectorCopies(db)

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
        seen = self.sets.visible(query.scope)
        scanned = self.copies.ask(query.model, lambda copy: self._scan(copy, query, seen))
        if scanned is None:
            return Nearest([], WHOLE)
        scan, compared = scanned
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

        if not len(memories):
            return {}
        numbers = np.asarray(memories, np.int64)
        flags = np.zeros(int(numbers.max()) + 2, np.bool_)
        flags[numbers] = True
        scan = self.copies.ask(model, lambda copy: copy.scan(vector, flags, limit))
        return {} if scan is None else self._best_chunks(scan, vector, limit)

    def fit_is_due(self, model: str, prefixes: Sequence[int]) -> bool:
        """True when there are many more vectors than a rotation was fitted on, or a cache was built of;
        cheap."""
        added = self._added()
        return self.copies.build_is_due(model, added) or self._rotation_is_due(
            model, prefixes, added
        )

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Build the cache and fit a rotation, as far as they are due; `prefixes` are the lengths to
        which vectors can be cut."""
        added = self._added()
        built = self.copies.build_is_due(model, added) and self.copies.build(model, stopped)
        if not self._rotation_is_due(model, prefixes, added):
            return built
        from scrubjay.storage.sqlite.rotation_fit import fit

        return fit(self._db, self.rotations, model, prefixes, stopped) or built

    def _rotation_is_due(self, model: str, prefixes: Sequence[int], added: int) -> bool:
        return added >= MIN_ROTATED and self.rotations.due(model, prefixes, added)

    def _added(self) -> int:
        row = self._row("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'")
        return 0 if row is None else int(row[0])

    def release(self, model: str) -> None:
        self.copies.release(model)
        self.short.release(model)

    def damage(self, model: str, scope: Scope) -> str:
        copy = self.copies.loaded(model)
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
            return copy.scan(query.vector, seen, query.limit), WHOLE
        if copy.has_cells:
            scan = copy.scan(query.vector, seen, max(query.shortlist, query.limit))
            return scan, f"{len(scan.scores):,} of {len(copy):,} vectors, whole, by cells"
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

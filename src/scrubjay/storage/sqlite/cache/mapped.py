"""The vectors of a cache file, mapped into memory, and in memory those that were added since.

A search of everything compares the nearest cells alone, once there are any. One of a part of the store
compares every vector of that part: cells are there for what is too much to be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scrubjay.storage.sqlite.cache import cells as vector_cells
from scrubjay.storage.sqlite.cache.file import VectorFile, ranges
from scrubjay.storage.sqlite.int8 import (
    COPY_COST,
    Int8Vectors,
    Part,
    Scan,
    Stored,
    dots,
    int8_query,
)

# With this share of the vectors and more, a filtered search compares cells too, and more of them.
_BROAD = 0.25
# In place, rows between others are scanned with them; shorter runs than this are copied together.
_MIN_RUN = 32
_ENOUGH = 16  # compared vectors for each memory of the list


class CachedVectors(Int8Vectors):
    """The vectors of one model. What was deleted is no longer used; the file keeps its place."""

    def __init__(self, file: VectorFile) -> None:
        super().__init__(file.about.dims)
        self.file = file
        self.seen_added, self.seen_gone = file.about.added, file.about.gone
        self.damaged = {int(n): memory for n, memory in file.about.damaged.items()}
        self.has_cells = file.about.probed > 0
        self._used: NDArray[np.bool_] | None = None  # None while every row is
        self._rows: NDArray[np.intp] | None = None
        # First segment of each cell.
        cells = np.arange(len(file.contents.centroids) + 1)
        self._first_segment = np.searchsorted(file.contents.segments[2], cells)

    def __len__(self) -> int:
        rows = self._rows
        return super().__len__() + (len(self.file) if rows is None else len(rows))

    @property
    def in_memory(self) -> int:
        """How many vectors were added since the file was written."""
        return super().__len__()

    @property
    def unused(self) -> int:
        """How many vectors of the file were deleted since."""
        return 0 if self._rows is None else len(self.file) - len(self._rows)

    def drop(self, vectors: Sequence[int]) -> None:
        super().drop(vectors)
        rows = self.file.rows_of(vectors)
        if len(rows):
            with self._changing:  # new arrays: a scan may be using the others
                used = (
                    np.ones(len(self.file), np.bool_) if self._used is None else self._used.copy()
                )
                used[rows] = False
                self._used, self._rows = used, np.flatnonzero(used)

    def stored(self) -> tuple[Stored, ...]:
        contents = self.file.contents
        self.file.check(slice(0, len(self.file)))
        cached = Stored(self.file.codes, contents.scales, contents.places, self._rows)
        return (cached, *super().stored())

    def scan(
        self, vector: NDArray[np.float32], allowed: NDArray[np.bool_] | None, limit: int = 1
    ) -> Scan:
        query, blur = int8_query(vector, self.file.about.max_scale)
        rows = self._candidates(vector, allowed, limit)
        places = self.file.contents.places
        if rows is None:
            self.file.check(slice(0, len(self.file)))
            scores = dots(query, self.file.codes, self.file.contents.scales)
        else:
            scores = self._scores(query, rows)
        scan = Scan(scores, (Part(places, rows),), blur)
        return scan.and_also(super().scan(vector, allowed, limit)) if self.in_memory else scan

    def scan_these(
        self, vector: NDArray[np.float32], numbers: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> Scan:
        query, blur = int8_query(vector, self.file.about.max_scale)
        here = np.sort(self.file.rows_of(numbers))
        if self._used is not None:
            here = here[self._used[here]]
        scan = Scan(self._scores(query, here), (Part(self.file.contents.places, here),), blur)
        return scan.and_also(super().scan_these(vector, numbers, rows))

    def _candidates(
        self, vector: NDArray[np.float32], allowed: NDArray[np.bool_] | None, limit: int
    ) -> NDArray[np.intp] | None:
        """Return the rows to be compared, in order; None for all."""
        if allowed is None:
            return self._in_cells(vector, 1.0, None, limit) if self.has_cells else self._rows
        memories = self.file.about.memories
        count = int(np.count_nonzero(allowed)) if self.has_cells else 0
        if count > max(vector_cells.MIN_CELLED, _BROAD * memories):
            return self._in_cells(vector, min(count / memories, 1.0), allowed, limit)
        rows = self.file.rows_of_memories(allowed)
        return rows if self._used is None else rows[self._used[rows]]

    def _in_cells(
        self,
        vector: NDArray[np.float32],
        share: float,
        allowed: NDArray[np.bool_] | None,
        limit: int,
    ) -> NDArray[np.intp]:
        """Return the allowed rows of the nearest cells. Where a share of all is allowed, their nearest are
        in more cells: in as many as have the same number of them. A long list needs more cells, too."""
        nearness = np.einsum("ij,j->i", self.file.contents.centroids, vector)
        probed = min(int(np.ceil(self.file.about.probed / share)), len(nearness))
        while True:
            rows = self._rows_in(np.argpartition(-nearness, probed - 1)[:probed])
            if allowed is not None:
                rows = rows[allowed.take(self.file.contents.places[1, rows], mode="clip")]
            if self._used is not None:
                rows = rows[self._used[rows]]
            if len(rows) >= limit * _ENOUGH or probed == len(nearness):
                return rows
            probed = min(probed * 2, len(nearness))

    def _rows_in(self, cells: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of cells, in order."""
        first, last = self._first_segment[cells], self._first_segment[cells + 1]
        starts, stops = self.file.contents.segments[:2, ranges(first, last)]
        order = np.argsort(starts)
        return ranges(starts[order], stops[order])

    def _scores(self, query: NDArray[np.int8], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Score rows, given in order: in place where many lie together, such as those of a cell or of
        a namespace; others are copied together first."""
        if not len(rows):
            return np.empty(0, np.float32)
        breaks = np.flatnonzero(np.diff(rows) > COPY_COST) + 1
        if rows[-1] - rows[0] < len(rows) * COPY_COST:
            breaks = breaks[:0]
        starts = np.concatenate([[0], breaks])
        stops = np.concatenate([breaks, [len(rows)]])
        long = stops - starts >= _MIN_RUN
        codes, scales = self.file.codes, self.file.contents.scales
        scores = np.empty(len(rows), np.float32)
        for start, stop in zip(starts[long].tolist(), stops[long].tolist(), strict=True):
            some = rows[start:stop]
            run = slice(int(some[0]), int(some[-1]) + 1)
            self.file.check(run)
            found = dots(query, codes[run], scales[run])
            scores[start:stop] = found if len(found) == len(some) else found[some - run.start]
        if not long.all():
            short = ranges(starts[~long], stops[~long])
            some = rows[short]
            self.file.check(some)
            scores[short] = dots(query, codes.take(some, axis=0), scales.take(some))
        return scores

"""A growing matrix of int8 vectors that is fast to scan."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

_MOST_TIES = 4096


class Place(NamedTuple):
    """Which vector it is, and of which chunk of which memory."""

    vector: int
    memory: int
    ordinal: int


class Codes:
    """Vectors as int8 with one scale a row; rows are appended, and dropped rows are compacted away."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.seen_added = 0
        self.seen_gone = 0
        self._changing = threading.Lock()
        self._count = 0
        self._codes = np.empty((0, dims), dtype=np.int8)
        self._scales = np.empty(0, dtype=np.float32)
        self._places = np.empty((0, 3), dtype=np.int64)

    def __len__(self) -> int:
        return self._count

    def extend(self, places: Sequence[Place], vectors: Sequence[bytes]) -> None:
        """Append vectors, given as float32 bytes."""
        matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, self.dims)
        peaks = np.maximum(np.abs(matrix).max(axis=1), 1e-12)
        with self._changing:
            start, stop = self._count, self._count + len(places)
            self._make_room(stop)
            self._codes[start:stop] = np.rint(matrix * (127.0 / peaks)[:, None])
            self._scales[start:stop] = peaks / 127.0
            self._places[start:stop] = places
            self._count = stop

    def drop(self, vectors: Sequence[int]) -> None:
        """Remove vectors by number; those that are not there do not matter."""
        with self._changing:
            here = self._places[: self._count, 0]
            keep = np.flatnonzero(~np.isin(here, np.asarray(vectors, np.int64)))
            if len(keep) == self._count:
                return
            self._codes, self._scales = self._codes[keep], self._scales[keep]
            self._places = self._places[keep]
            self._count = len(keep)

    def nearest(
        self, vector: NDArray[np.float32], limit: int, allowed: NDArray[np.int64] | None
    ) -> list[Place]:
        """Return where the nearest vectors are, of all memories or of the allowed ones."""
        with self._changing:  # views only: later rows are appended behind them
            places = self._places[: self._count]
            codes, scales = self._codes[: self._count], self._scales[: self._count]
        if allowed is not None:
            rows = np.flatnonzero(np.isin(places[:, 1], allowed))
            places, codes, scales = places[rows], codes[rows], scales[rows]
        if not len(codes):
            return []
        query = np.rint(vector * (127.0 / max(float(np.abs(vector).max()), 1e-12))).astype(np.int8)
        dots = np.asarray(simsimd.cdist(query[None, :], codes, metric="dot"))[0]
        scores = dots * scales
        limit = min(limit, len(scores))
        best = np.argpartition(-scores, limit - 1)[:limit]
        ties = np.flatnonzero(scores >= scores[best].min())
        if len(ties) <= _MOST_TIES:  # age and id decide between equals, so all must come along
            best = ties
        return [Place(*place) for place in places[best].tolist()]

    def _make_room(self, rows: int) -> None:
        if rows <= len(self._codes):
            return
        # Grown by half at a time: appending one vector to many must not copy them all.
        more = max(rows, len(self._codes) * 3 // 2, 256) - len(self._codes)
        self._codes = np.concatenate([self._codes, np.zeros((more, self.dims), dtype=np.int8)])
        self._scales = np.concatenate([self._scales, np.zeros(more, dtype=np.float32)])
        self._places = np.concatenate([self._places, np.zeros((more, 3), dtype=np.int64)])

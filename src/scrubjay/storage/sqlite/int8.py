"""A growing matrix of int8 vectors that is fast to scan."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

_MOST_TIES = 4096
_BLURRED = 4
# An int8 is off by at most half, evenly: a score of many is then off by so much at the very most.
_OFF = 4 / 12**0.5
# To copy a row elsewhere takes as long as to scan so many where they are.
_COPIES = 4
_SAMPLED = 32


class Place(NamedTuple):
    """Which vector it is, and of which chunk of which memory."""

    vector: int
    memory: int
    ordinal: int


class Scan(NamedTuple):
    """The scores of one query, where each vector is (a column of three numbers), and of which column.

    Two scores that are no more than `blur` apart may stand in the wrong order.
    """

    scores: NDArray[np.float32]
    places: NDArray[np.int64]
    columns: NDArray[np.int64] | None
    blur: float

    def best(self, limit: int) -> list[Place]:
        """Return where all vectors are that can belong to the nearest memories, so many of these."""
        return [Place(*place) for place in self._at(self._near(limit, self.blur)).T.tolist()]

    def best_rows(self, limit: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Return the vectors of the best memories as the scores have it, with ties: numbers and rows."""
        near = self._near(limit, 0.0)
        return self._at(near)[0], near if self.columns is None else self.columns[near]

    def _near(self, limit: int, blur: float) -> NDArray[np.intp]:
        take = limit
        while take > 0:
            last = _last_of(self.scores, take)
            near = np.flatnonzero(self.scores >= last)
            # Several vectors of one memory count as one, so a search may have to look further.
            if len(near) < take or len(np.unique(self._at(near)[1])) >= limit:
                break
            take *= 4
        else:
            return np.empty(0, np.intp)
        near = np.flatnonzero(self.scores >= last - blur)
        # Age and id decide between equals, so all of these come along.
        most = take * _BLURRED + _MOST_TIES
        if len(near) > most:
            near = near[np.argpartition(-self.scores[near], most)[:most]]
        return near

    def _at(self, near: NDArray[np.intp]) -> NDArray[np.int64]:
        chosen = near if self.columns is None else self.columns[near]
        places: NDArray[np.int64] = self.places[:, chosen]
        return places


class _Whole(NamedTuple):
    """The scores of all vectors as they were after so many changes."""

    query: bytes
    changes: int
    scores: NDArray[np.float32]


class Codes:
    """Vectors as int8 with one scale a row; rows are appended, and dropped rows are compacted away."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.seen_added = 0
        self.seen_gone = 0
        self._changing = threading.Lock()
        self._scanning = threading.Lock()
        self._changes = 0
        self._count = 0
        self._codes = np.empty((0, dims), dtype=np.int8)
        self._scales = np.empty(0, dtype=np.float32)
        self._places = np.empty((3, 0), dtype=np.int64)
        self._asked = (b"", 0)
        self._last = _Whole(b"", 0, self._scales)

    def __len__(self) -> int:
        return self._count

    def extend(self, places: Sequence[Place], vectors: NDArray[np.float32]) -> None:
        """Append vectors, a row each."""
        codes, scales = as_int8(vectors)
        with self._changing:
            start, stop = self._count, self._count + len(places)
            self._make_room(stop)
            self._codes[start:stop] = codes
            self._scales[start:stop] = scales
            self._places[:, start:stop] = np.asarray(places, np.int64).T
            self._count = stop
            self._changes += 1

    def drop(self, vectors: Sequence[int]) -> None:
        """Remove vectors by number; those that are not there do not matter."""
        with self._changing:
            here = self._places[0, : self._count]
            keep = np.flatnonzero(~np.isin(here, np.asarray(vectors, np.int64)))
            if len(keep) == self._count:
                return
            self._codes, self._scales = self._codes[keep], self._scales[keep]
            self._places = self._places[:, keep]
            self._count = len(keep)
            self._changes += 1

    def scan(self, vector: NDArray[np.float32], allowed: NDArray[np.bool_] | None) -> Scan:
        """Score the vectors of all memories, or of those whose flag is set; the last flag is not."""
        codes, scales, places, changes = self._views()
        query, blur = _asked(vector, scales)
        if allowed is None:
            return Scan(self._whole(query, codes, scales, changes), places, None, blur)
        rows = np.flatnonzero(allowed.take(places[1], mode="clip"))
        asked = (query.tobytes(), changes)
        if asked in (self._asked, self._last[:2]) or len(rows) * _COPIES > len(codes):
            # Cut out, not marked: numpy takes twenty times as long to choose among many equals.
            scores = self._whole(query, codes, scales, changes)[rows]
        else:
            scores = _scores(query, codes[rows], scales[rows])
        return Scan(scores, places, rows, blur)

    def scan_these(
        self, vector: NDArray[np.float32], numbers: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> Scan:
        """Score vectors by their numbers, which may be in these rows; those that are not there are not."""
        codes, scales, places, _ = self._views()
        query, blur = _asked(vector, scales)
        here = places[0]
        # Two copies of the same vectors have the same rows, unless one has just changed. To look for
        # numbers takes longer than all else here: each is a dozen steps through memory.
        if not len(here) or not (here.take(rows, mode="clip") == numbers).all():
            rows = np.searchsorted(here, numbers)  # in order, since that is how they are appended
            rows = rows[here.take(rows, mode="clip") == numbers] if len(here) else rows[:0]
        return Scan(_scores(query, codes[rows], scales[rows]), places, rows, blur)

    def _views(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int64], int]:
        with self._changing:  # views only: later rows are appended behind them
            count = self._count
            codes, scales = self._codes[:count], self._scales[:count]
            return codes, scales, self._places[:, :count], self._changes

    def _whole(
        self,
        query: NDArray[np.int8],
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        changes: int,
    ) -> NDArray[np.float32]:
        """Score all vectors, once for two who ask the same at the same time."""
        asked = self._asked = (query.tobytes(), changes)
        with self._scanning:
            last = self._last
            if last[:2] != asked:
                last = self._last = _Whole(*asked, _scores(query, codes, scales))
        return last.scores

    def _make_room(self, rows: int) -> None:
        if rows <= len(self._codes):
            return
        # Grown by half at a time: appending one vector to many must not copy them all.
        more = max(rows, len(self._codes) * 3 // 2, 256) - len(self._codes)
        self._codes = np.concatenate([self._codes, np.zeros((more, self.dims), dtype=np.int8)])
        self._scales = np.concatenate([self._scales, np.zeros(more, dtype=np.float32)])
        self._places = np.concatenate([self._places, np.zeros((3, more), dtype=np.int64)], axis=1)


def _asked(
    vector: NDArray[np.float32], scales: NDArray[np.float32]
) -> tuple[NDArray[np.int8], float]:
    """Return a query as int8, and how far apart two scores of it may be and stand in the wrong order."""
    scale = max(float(np.abs(vector).max()), 1e-12) / 127.0
    # Both sides of a score were rounded, and a difference has two of them.
    ratio = float(scales.max(initial=0.0)) / scale * float(np.linalg.norm(vector))
    return np.rint(vector / scale).astype(np.int8), 2 * _OFF * (1 + ratio**2) ** 0.5


def as_int8(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return rows as whole numbers up to 127, and what one of these is worth in each row."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127.0
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def _last_of(scores: NDArray[np.float32], limit: int) -> float:
    """Return the lowest of the best so many scores."""
    if limit >= len(scores):
        return float("-inf")
    # A few say about where it is, and most of the others need not be sorted out then.
    some = scores[::_SAMPLED]
    enough = 2 * limit // _SAMPLED + 16
    if enough < len(some) // 4:
        high = scores[scores >= np.partition(some, len(some) - enough)[len(some) - enough]]
        scores = high if len(high) >= limit else scores
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _scores(
    query: NDArray[np.int8], codes: NDArray[np.int8], scales: NDArray[np.float32]
) -> NDArray[np.float32]:
    if not len(codes):
        return np.empty(0, np.float32)
    dots = np.asarray(simsimd.cdist(query[None, :], codes, metric="dot", out_dtype="f32"))[0]
    scores: NDArray[np.float32] = dots * scales
    return scores

"""int8 copies of vectors in memory: fast to scan, and kept in step with the file."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

from scrubjay.storage.sql.readable import vectors_of

if TYPE_CHECKING:
    from scrubjay.storage.codec import Codec
    from scrubjay.storage.database import Connection
    from scrubjay.storage.sqlite.rotations import Rotation

_MAX_TIES = 4096
_BLUR_FACTOR = 4
# Rounding to int8 is off by at most one half, evenly spread: a sum of many is off by at most this.
_ROUNDING = 4 / 12**0.5
# Copying one row takes as long as scanning this many in place.
COPY_COST = 4
_SAMPLE_STEP = 32
_BATCH = 4096
_MANY = 20_000  # are counted before they are loaded


class Place(NamedTuple):
    """The number of a vector, and its chunk."""

    vector: int
    memory: int
    ordinal: int


class Part(NamedTuple):
    """The places of scored vectors: the columns of `places`, or some of them."""

    places: NDArray[np.int64]
    columns: NDArray[np.int64] | None

    def __len__(self) -> int:
        return self.places.shape[1] if self.columns is None else len(self.columns)

    def column(self, scored: NDArray[np.intp]) -> NDArray[np.int64]:
        return scored if self.columns is None else self.columns[scored]


class Scan(NamedTuple):
    """The scores of one query, and where the scored vectors are: those of one part after the other.

    Scores that differ by less than `blur` may be in the wrong order.
    """

    scores: NDArray[np.float32]
    parts: tuple[Part, ...]
    blur: float

    def best(self, limit: int) -> list[Place]:
        """Return all vectors that can belong to the nearest `limit` memories."""
        return [Place(*place) for place in self._at(self._near(limit, self.blur)).T.tolist()]

    def best_rows(self, limit: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Return the vectors of the best memories by these scores, with ties: numbers and rows."""
        near = self._near(limit, 0.0)
        return self._at(near)[0], self.parts[0].column(near)

    def and_also(self, other: Scan) -> Scan:
        """Return both as one."""
        if not len(other.scores):
            return self
        scores = np.concatenate([self.scores, other.scores])
        return Scan(scores, (*self.parts, *other.parts), max(self.blur, other.blur))

    def _near(self, limit: int, blur: float) -> NDArray[np.intp]:
        take = limit
        while take > 0:
            last = _nth_best(self.scores, take)
            near = np.flatnonzero(self.scores >= last)
            # Several vectors of one memory count as one, so more may be needed.
            if len(near) < take or len(np.unique(self._at(near)[1])) >= limit:
                break
            take *= 4
        else:
            return np.empty(0, np.intp)
        near = np.flatnonzero(self.scores >= last - blur)
        # All of them: age and id decide between ties.
        most = take * _BLUR_FACTOR + _MAX_TIES
        if len(near) > most:
            near = near[np.argpartition(-self.scores[near], most)[:most]]
        return near

    def _at(self, near: NDArray[np.intp]) -> NDArray[np.int64]:
        if len(self.parts) == 1:
            (part,) = self.parts
            return part.places[:, part.column(near)]
        found = np.empty((3, len(near)), np.int64)
        start = 0
        for part in self.parts:
            mine = (near >= start) & (near < start + len(part))
            found[:, mine] = part.places[:, part.column(near[mine] - start)]
            start += len(part)
        return found


class Stored(NamedTuple):
    """Vectors as they are in memory, and which rows of them are in use; None for all."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    places: NDArray[np.int64]
    rows: NDArray[np.intp] | None


class Int8Vectors:
    """Vectors as int8 with one scale a row. Rows are appended; dropped rows are compacted away."""

    has_cells = False  # True when a search of everything compares a part of them

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.seen_added = 0
        self.seen_gone = 0
        self.damaged: dict[int, int] = {}  # vectors that could not be read, with their memories
        self._changing = threading.Lock()
        self._scanning = threading.Lock()
        self._changes = 0
        self._count = 0
        self._codes = np.empty((0, dims), dtype=np.int8)
        self._scales = np.empty(0, dtype=np.float32)
        self._places = np.empty((3, 0), dtype=np.int64)
        # Query and number of changes of the last scan of all vectors: of the one begun, and the one done.
        self._under_way = self._last_key = (b"", 0)
        self._last_scores = self._scales

    def __len__(self) -> int:
        return self._count

    def extend(self, places: Sequence[Place], vectors: NDArray[np.float32]) -> None:
        codes, scales = as_int8(vectors)
        with self._changing:
            start, stop = self._count, self._count + len(places)
            self._make_room(stop)
            self._codes[start:stop] = codes
            self._scales[start:stop] = scales
            self._places[:, start:stop] = np.asarray(places, np.int64).T
            self._count = stop
            self._changes += 1

    def reserve(self, rows: int) -> None:
        """Make room for that many at once: growing step by step needs twice the memory."""
        with self._changing:
            self._make_room(rows)

    def stored(self) -> tuple[Stored, ...]:
        """Return what is in memory now; later changes leave these arrays as they are."""
        codes, scales, places, _ = self._views()
        return (Stored(codes, scales, places, None),)

    def drop(self, vectors: Sequence[int]) -> None:
        """Remove vectors by number; unknown numbers are ignored."""
        for vector in self.damaged.keys() & vectors if self.damaged else ():
            del self.damaged[vector]
        with self._changing:
            here = self._places[0, : self._count]
            keep = np.flatnonzero(~np.isin(here, np.asarray(vectors, np.int64)))
            if len(keep) == self._count:
                return
            self._codes, self._scales = self._codes[keep], self._scales[keep]
            self._places = self._places[:, keep]
            self._count = len(keep)
            self._changes += 1

    def scan(
        self, vector: NDArray[np.float32], allowed: NDArray[np.bool_] | None, limit: int = 1
    ) -> Scan:
        """Score the vectors of all memories, or of those whose flag is set; the last flag is not. With
        cells, of as many as a list of `limit` memories needs."""
        codes, scales, places, changes = self._views()
        query, blur = int8_query(vector, float(scales.max(initial=0.0)))
        if allowed is None:
            scores = self._full_scan(query, codes, scales, changes)
            return Scan(scores, (Part(places, None),), blur)
        rows = np.flatnonzero(allowed.take(places[1], mode="clip"))
        key = (query.tobytes(), changes)
        if key in (self._under_way, self._last_key) or len(rows) * COPY_COST > len(codes):
            # Selected, not masked: numpy takes twenty times as long to choose among many equals.
            scores = self._full_scan(query, codes, scales, changes)[rows]
        else:
            scores = dots(query, codes[rows], scales[rows])
        return Scan(scores, (Part(places, rows),), blur)

    def scan_these(
        self, vector: NDArray[np.float32], numbers: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> Scan:
        """Score vectors by number; `rows` is where they probably are. Unknown numbers are ignored."""
        codes, scales, places, _ = self._views()
        query, blur = int8_query(vector, float(scales.max(initial=0.0)))
        here = places[0]
        # Two copies of the same vectors have the same rows, unless one has just changed. A search for
        # numbers takes longer than all else here: each is a dozen steps through memory.
        if not len(here) or not (here.take(rows, mode="clip") == numbers).all():
            rows = np.searchsorted(here, numbers)  # they are appended in order
            rows = rows[here.take(rows, mode="clip") == numbers] if len(here) else rows[:0]
        scores = dots(query, codes[rows], scales[rows])
        return Scan(scores, (Part(places, rows),), blur)

    def _views(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int64], int]:
        with self._changing:  # views only: later rows are appended behind them
            count = self._count
            codes, scales = self._codes[:count], self._scales[:count]
            return codes, scales, self._places[:, :count], self._changes

    def _full_scan(
        self,
        query: NDArray[np.int8],
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        changes: int,
    ) -> NDArray[np.float32]:
        """Score all vectors, once for two equal queries at the same time."""
        key = self._under_way = (query.tobytes(), changes)
        with self._scanning:
            if self._last_key != key:
                self._last_scores = dots(query, codes, scales)
                self._last_key = key
            return self._last_scores

    def _make_room(self, rows: int) -> None:
        if rows <= len(self._codes):
            return
        # Grown by half at a time: appending one vector to many must not copy them all.
        more = max(rows, len(self._codes) * 3 // 2, 256) - len(self._codes)
        self._codes = np.concatenate([self._codes, np.zeros((more, self.dims), dtype=np.int8)])
        self._scales = np.concatenate([self._scales, np.zeros(more, dtype=np.float32)])
        self._places = np.concatenate([self._places, np.zeros((3, more), dtype=np.int64)], axis=1)


def catch_up(
    copy: Int8Vectors,
    db: Connection,
    codec: Codec,
    model: int,
    rotation: Rotation | None = None,
    limit: int | None = None,
) -> bool:
    """Drop deleted vectors and append new ones, shortened by a rotation; True when more are left.

    Two counters in the file, of vectors added and deleted by any process, show what is new. `limit` is
    the maximum number of vectors to read, so that a long load lets others in between.
    """
    counters = dict(
        db.execute("SELECT name, seq FROM sqlite_sequence WHERE name IN ('vectors', 'gone')")
    )
    added, gone = counters.get("vectors", 0), counters.get("gone", 0)
    if not copy.seen_added:
        copy.seen_gone = gone  # what was deleted before was never loaded
    if gone > copy.seen_gone:
        deleted = db.execute("SELECT vector FROM gone WHERE n > ?", (copy.seen_gone,))
        copy.drop([vector for (vector,) in deleted])
    copy.seen_gone = gone
    if added > copy.seen_added:
        (dims,) = db.execute("SELECT dims FROM models WHERE n = ?", (model,)).fetchone()
        if added - copy.seen_added >= _MANY and limit is None:
            count = "SELECT count(*) FROM vectors WHERE model = ? AND n > ?"
            copy.reserve(db.execute(count, (model, copy.seen_added)).fetchone()[0])
        new = db.execute(
            # A damaged ordinal is -1, which no chunk has.
            "SELECT v.n, c.memory, CASE typeof(c.ordinal) WHEN 'integer' THEN c.ordinal ELSE -1 END,"
            " v.vector FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
            " WHERE typeof(c.memory) = 'integer' AND v.model = ? AND v.n > ? AND v.n <= ?"
            " ORDER BY v.n LIMIT ?",
            (model, copy.seen_added, added, -1 if limit is None else limit),
        )
        read = 0
        while batch := new.fetchmany(_BATCH):
            rows, sound = vectors_of(codec, [row[3] for row in batch], dims)
            places = [Place(*batch[place][:3]) for place in sound]
            if len(sound) < len(batch):
                lost = {row[0]: row[1] for row in batch if type(row[1]) is int}
                copy.damaged |= {n: lost[n] for n in lost.keys() - {one[0] for one in places}}
            copy.extend(places, rows if rotation is None else rotation.shorten(rows))
            copy.seen_added = batch[-1][0]
            read += len(batch)
            if read == limit:
                return True
        copy.seen_added = added
    return False


def as_int8(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return rows as whole numbers up to 127, and the scale of each row."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127.0
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def int8_query(vector: NDArray[np.float32], max_scale: float) -> tuple[NDArray[np.int8], float]:
    """Return a query as int8, and by how much two of its scores may differ in the wrong order."""
    scale = max(float(np.abs(vector).max()), 1e-12) / 127.0
    # Both factors of a score were rounded, and a difference has two scores.
    ratio = max_scale / scale * float(np.linalg.norm(vector))
    return np.rint(vector / scale).astype(np.int8), 2 * _ROUNDING * (1 + ratio**2) ** 0.5


def _nth_best(scores: NDArray[np.float32], n: int) -> float:
    if n >= len(scores):
        return float("-inf")
    # A sample shows about where it is, so that most of the others need not be sorted.
    sample = scores[::_SAMPLE_STEP]
    enough = 2 * n // _SAMPLE_STEP + 16
    if enough < len(sample) // 4:
        high = scores[scores >= np.partition(sample, len(sample) - enough)[len(sample) - enough]]
        scores = high if len(high) >= n else scores
    return float(np.partition(scores, len(scores) - n)[len(scores) - n])


def dots(
    query: NDArray[np.int8], codes: NDArray[np.int8], scales: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the scores of vectors: their products with the query, times their scales."""
    if not len(codes):
        return np.empty(0, np.float32)
    products = np.asarray(simsimd.cdist(query[None, :], codes, metric="dot", out_dtype="f32"))[0]
    scores: NDArray[np.float32] = products * scales
    return scores

"""Fits the rotation of a model, and measures the recall of shortlists by it.

The directions are eigenvectors of the second moments; with the mean removed first, recall was the
same. Long directions are shortened a little: what a short vector leaves out resembles its last numbers,
not its first, so the last may count for more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scrubjay.storage.database import Database
from scrubjay.storage.sql.readable import vectors_of
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sqlite.int8 import as_int8
from scrubjay.storage.sqlite.rotations import (
    GOOD_RECALL,
    SHORTLIST,
    Rotation,
    SqliteRotations,
    short_dims_of,
)

_MAX_SAMPLED = 20_000
_MAX_DIRECTIONS = 128  # stored, for callers that set a longer short_dims
_TRIALS = 200
_NEAREST = 10
_BATCH = 2048
_SHORTENING = 0.25  # the power of its variance by which a direction is shortened
_EQUAL = 1e-6  # cosines that differ by less count as equal


def fit(
    db: Database,
    rotations: SqliteRotations,
    model: str,
    prefixes: Sequence[int],
    stopped: Callable[[], bool],
) -> bool:
    with db.read() as reading:
        row = reading.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
        if row is None:
            return False
        n, dims = row
        before = rotations.version(reading, n)
        every = reading.execute("SELECT n FROM vectors WHERE model = ?", (n,))
        numbers = sorted(number for (number,) in every)
    lengths, cut = short_dims_of(dims, prefixes)
    matrix = None if cut else _directions(db, _spread(numbers, _MAX_SAMPLED), dims)
    candidates = [
        Rotation((0, 0), short, None if matrix is None else matrix[:, :short]) for short in lengths
    ]
    recalls = _recalls(db, numbers, dims, candidates, stopped)
    if not recalls:
        return False
    tried = list(zip(lengths, recalls, strict=True))
    short, recall = next((one for one in tried if one[1] >= GOOD_RECALL), tried[-1])
    trials = min(_TRIALS, len(numbers))
    fitted = Rotation((0, 0), short, matrix)
    return rotations.write(n, before, fitted, len(numbers), trials, recall)


def _recalls(
    db: Database,
    numbers: list[int],
    dims: int,
    rotations: list[Rotation],
    stopped: Callable[[], bool],
) -> list[float]:
    query_numbers, queries = _read(db, _spread(numbers, _TRIALS), dims)
    nearest = _Best(len(query_numbers), _NEAREST)
    trials = [_Trial(rotation, queries) for rotation in rotations]
    for start in range(0, len(numbers), _BATCH):
        if stopped() or not len(query_numbers):
            return []
        there, rows = _read(db, numbers[start : start + _BATCH], dims)
        cosines = queries @ rows.T
        cosines[query_numbers[:, None] == there] = -np.inf  # a query does not find itself
        nearest.add(cosines, cosines)
        for trial in trials:
            trial.add(rows, cosines)
    return [trial.recall(nearest) for trial in trials]


def _spread(numbers: list[int], most: int) -> list[int]:
    """Return at most `most` of all, evenly spread: equal stores fit equal rotations."""
    if len(numbers) <= most:
        return numbers
    return [numbers[place * len(numbers) // most] for place in range(most)]


def _read(
    db: Database, numbers: list[int], dims: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    found: list[tuple[int, bytes]] = []
    with db.read() as reading:
        for several, part in in_parts(numbers):
            found += reading.execute(
                f"SELECT n, vector FROM vectors WHERE n IN ({several}) ORDER BY n", part
            ).fetchall()
    matrix, sound = vectors_of(db.codec, [vector for _, vector in found], dims)
    return np.array([found[place][0] for place in sound], np.int64), matrix


def _directions(db: Database, numbers: list[int], dims: int) -> NDArray[np.float32]:
    moments = np.zeros((dims, dims))
    for start in range(0, len(numbers), _BATCH):
        _, rows = _read(db, numbers[start : start + _BATCH], dims)
        moments += rows.T @ rows
    lengths, columns = np.linalg.eigh(moments / len(numbers))
    first = columns[:, ::-1][:, : min(_MAX_DIRECTIONS, dims)]
    # Either sign is right; making the largest number positive gives the same on every machine.
    signs = np.sign(first[np.abs(first).argmax(axis=0), np.arange(first.shape[1])])
    shortening = np.maximum(lengths[::-1][: first.shape[1]], 1e-9) ** -_SHORTENING
    return np.ascontiguousarray(first * (signs * shortening), np.float32)


class _Best:
    """For each query, the cosines of the vectors with the best scores so far."""

    def __init__(self, queries: int, most: int) -> None:
        self._most = most
        self._scores = np.empty((queries, 0), np.float32)
        self.cosines = np.empty((queries, 0), np.float32)

    def add(self, scores: NDArray[np.float32], cosines: NDArray[np.float32]) -> None:
        scores = np.hstack([self._scores, scores])
        cosines = np.hstack([self.cosines, cosines])
        if scores.shape[1] > self._most:
            best = np.argpartition(-scores, self._most - 1)[:, : self._most]
            scores = np.take_along_axis(scores, best, 1)
            cosines = np.take_along_axis(cosines, best, 1)
        self._scores, self.cosines = scores, cosines


class _Trial:
    """Shortlists of stored vectors by one rotation."""

    def __init__(self, rotation: Rotation, queries: NDArray[np.float32]) -> None:
        self._rotation = rotation
        self._queries = as_int8(rotation.shorten(queries))[0].astype(np.float32)
        self._listed = _Best(len(queries), SHORTLIST)

    def add(self, rows: NDArray[np.float32], cosines: NDArray[np.float32]) -> None:
        codes, scales = as_int8(self._rotation.shorten(rows))
        scores = (self._queries @ codes.T.astype(np.float32)) * scales
        self._listed.add(np.where(np.isfinite(cosines), scores, -np.inf), cosines)

    def recall(self, nearest: _Best) -> float:
        """Return the share of the nearest, or of others as near, that the shortlists contain."""
        last = nearest.cosines.min(axis=1, keepdims=True)
        held = (self._listed.cosines >= last - _EQUAL).sum(axis=1)
        most = nearest.cosines.shape[1]
        return float(np.minimum(held, most).mean() / most)

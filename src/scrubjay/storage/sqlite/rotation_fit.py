"""Fits what makes a model's vectors short, and measures how often a shortlist by it holds the nearest.

The directions are eigenvectors of the second moments; with the mean taken away first, recall was the
same. Long directions are drawn in a little: what a short vector leaves out is like its last numbers, not
like its first, so these may count for more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sqlite.int8 import as_int8
from scrubjay.storage.sqlite.rotations import (
    GOOD_RECALL,
    SHORTLIST,
    Found,
    SqliteRotations,
    Turn,
    short_dims_of,
)
from scrubjay.storage.sqlite.vector_cache import as_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.database import Database

_MOST_SAMPLED = 20_000
_MOST_KEPT = 128  # directions that are stored, for who wants longer short vectors
_TRIALS = 200
_NEAREST = 10
_AT_ONCE = 2048
_DRAWN_IN = 0.25  # the power of its variance by which a direction is shortened
_EQUAL = 1e-6  # cosines that differ by less are the same text, or as good as


def fit(
    db: Database,
    rotations: SqliteRotations,
    model: str,
    prefixes: Sequence[int],
    stopped: Callable[[], bool],
) -> bool:
    """Fit a rotation if one is due, measure it and write it; False when nothing was written."""
    with db.read() as reading:
        row = reading.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
        if row is None or not rotations.due(model, prefixes):
            return False
        n, dims = row
        before = rotations.version(reading, n)
        every = reading.execute("SELECT n FROM vectors WHERE model = ?", (n,))
        numbers = sorted(number for (number,) in every)
    shorts, is_beginning = short_dims_of(dims, prefixes)
    matrix = None if is_beginning else _directions(db, _spread(numbers, _MOST_SAMPLED), dims)
    turns = [
        Turn((0, 0), short, None if matrix is None else matrix[:, :short]) for short in shorts
    ]
    recalls = _recalls(db, numbers, dims, turns, stopped)
    if not recalls:
        return False
    good = [place for place, recall in enumerate(recalls) if recall >= GOOD_RECALL]
    taken = good[0] if good else len(shorts) - 1
    trials = min(_TRIALS, len(numbers))
    found = Found(shorts[taken], matrix, len(numbers), trials, recalls[taken])
    return rotations.write(n, before, found)


def _recalls(
    db: Database,
    numbers: list[int],
    dims: int,
    turns: list[Turn],
    stopped: Callable[[], bool],
) -> list[float]:
    """Return the recall of each way to make vectors short, asked by stored ones; none when stopped."""
    asked, queries = _read(db, _spread(numbers, _TRIALS), dims)
    nearest = _Best(len(asked), _NEAREST)
    trials = [_Trial(turn, queries) for turn in turns]
    for start in range(0, len(numbers), _AT_ONCE):
        if stopped() or not len(asked):
            return []
        there, rows = _read(db, numbers[start : start + _AT_ONCE], dims)
        cosines = queries @ rows.T
        cosines[asked[:, None] == there] = -np.inf  # nobody is asked for itself
        nearest.add(cosines, cosines)
        for trial in trials:
            trial.look_at(rows, cosines)
    return [trial.recall(nearest) for trial in trials]


def _spread(numbers: list[int], most: int) -> list[int]:
    """Return so many of all, evenly: equal stores fit equal rotations."""
    if len(numbers) <= most:
        return numbers
    return [numbers[place * len(numbers) // most] for place in range(most)]


def _read(
    db: Database, numbers: list[int], dims: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the vectors of these numbers that are still there."""
    found: list[tuple[int, bytes]] = []
    with db.read() as reading:
        for several, part in in_parts(numbers):
            found += reading.execute(
                f"SELECT n, vector FROM vectors WHERE n IN ({several}) ORDER BY n", part
            ).fetchall()
    unseal = db.codec.unseal_vector
    kept = np.array([n for n, _ in found], np.int64)
    return kept, as_rows([unseal(vector) for _, vector in found], dims)


def _directions(db: Database, numbers: list[int], dims: int) -> NDArray[np.float32]:
    """Return the directions in which the vectors lie, a column each, the longest first."""
    moments = np.zeros((dims, dims))
    for start in range(0, len(numbers), _AT_ONCE):
        _, rows = _read(db, numbers[start : start + _AT_ONCE], dims)
        moments += rows.T @ rows
    lengths, columns = np.linalg.eigh(moments / len(numbers))
    first = columns[:, ::-1][:, : min(_MOST_KEPT, dims)]
    # Either sign is right: the one with which the largest number is positive is the same everywhere.
    signs = np.sign(first[np.abs(first).argmax(axis=0), np.arange(first.shape[1])])
    drawn_in = np.maximum(lengths[::-1][: first.shape[1]], 1e-9) ** -_DRAWN_IN
    return np.ascontiguousarray(first * (signs * drawn_in), np.float32)


class _Best:
    """For each of some queries, the cosines of what has the best scores of all that were shown."""

    def __init__(self, queries: int, most: int) -> None:
        self._most = most
        self._scores = np.empty((queries, 0), np.float32)
        self.cosines = np.empty((queries, 0), np.float32)

    def add(self, scores: NDArray[np.float32], cosines: NDArray[np.float32]) -> None:
        """Keep the best of these and of those before."""
        scores = np.hstack([self._scores, scores])
        cosines = np.hstack([self.cosines, cosines])
        if scores.shape[1] > self._most:
            best = np.argpartition(-scores, self._most - 1)[:, : self._most]
            scores = np.take_along_axis(scores, best, 1)
            cosines = np.take_along_axis(cosines, best, 1)
        self._scores, self.cosines = scores, cosines


class _Trial:
    """Shortlists of stored vectors, by one way to make vectors short."""

    def __init__(self, turn: Turn, queries: NDArray[np.float32]) -> None:
        self._turn = turn
        self._queries = as_int8(turn.rows(queries))[0].astype(np.float32)
        self._listed = _Best(len(queries), SHORTLIST)

    def look_at(self, rows: NDArray[np.float32], cosines: NDArray[np.float32]) -> None:
        """Compare some more vectors with every query, given their cosines as well."""
        codes, scales = as_int8(self._turn.rows(rows))
        scores = (self._queries @ codes.T.astype(np.float32)) * scales
        self._listed.add(np.where(np.isfinite(cosines), scores, -np.inf), cosines)

    def recall(self, nearest: _Best) -> float:
        """Return the share of the nearest that the shortlists hold, or of others exactly as near."""
        last = nearest.cosines.min(axis=1, keepdims=True)
        held = (self._listed.cosines >= last - _EQUAL).sum(axis=1)
        most = nearest.cosines.shape[1]
        return float(np.minimum(held, most).mean() / most)

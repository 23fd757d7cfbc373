"""Fits what makes a model's vectors short, and measures how often a shortlist by it holds the nearest.

By eigenvectors of the second moments, not of the covariance: a shortlist is made by products of whole
vectors, and their mean is part of those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.stores.in_step import as_rows
from scrubjay.stores.int8 import as_int8
from scrubjay.stores.rotations import SHORTLIST, Found, SqliteRotations, Turn, usual_short_dims
from scrubjay.stores.scope_sql import in_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.stores.sqlite import Database

_MOST_SAMPLED = 20_000
_MOST_KEPT = 128  # directions that are stored, for who wants longer short vectors
_TRIALS = 200
_NEAREST = 10
_AT_ONCE = 2048
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
        usual = None if row is None else usual_short_dims(row[1], prefixes)
        if usual is None or not rotations.due(model, prefixes):
            return False
        n = row[0]
        before = rotations.version(reading, n)
        rows = reading.execute("SELECT n FROM vectors WHERE model = ?", (n,))
        numbers = sorted(number for (number,) in rows)
    short, is_beginning = usual
    matrix = None if is_beginning else _directions(db, _spread(numbers, _MOST_SAMPLED), row[1])
    turn = Turn((0, 0), short, None if matrix is None else matrix[:, :short])
    asked = _spread(numbers, _TRIALS)
    trials = _Trials(turn, *_read(db, asked))
    for start in range(0, len(numbers), _AT_ONCE):
        if stopped():
            return False
        trials.look_at(*_read(db, numbers[start : start + _AT_ONCE]))
    found = Found(short, matrix, len(numbers), len(trials), trials.recall())
    return rotations.write(n, before, found)


def _spread(numbers: list[int], most: int) -> list[int]:
    """Return so many of all, evenly: equal stores fit equal rotations."""
    if len(numbers) <= most:
        return numbers
    return [numbers[place * len(numbers) // most] for place in range(most)]


def _read(db: Database, numbers: list[int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the vectors of these numbers that are still there."""
    found: list[tuple[int, bytes]] = []
    with db.read() as reading:
        for several, part in in_parts(numbers):
            found += reading.execute(
                f"SELECT n, vector FROM vectors WHERE n IN ({several}) ORDER BY n", part
            ).fetchall()
    unseal = db.codec.unseal_vector
    kept = np.array([n for n, _ in found], np.int64)
    return kept, as_rows([unseal(vector) for _, vector in found])


def _directions(db: Database, numbers: list[int], dims: int) -> NDArray[np.float32]:
    """Return the directions in which the vectors lie, a column each, the longest first."""
    moments = np.zeros((dims, dims))
    for start in range(0, len(numbers), _AT_ONCE):
        _, rows = _read(db, numbers[start : start + _AT_ONCE])
        moments += rows.T @ rows
    _, columns = np.linalg.eigh(moments)
    first = columns[:, ::-1][:, : min(_MOST_KEPT, dims)]
    # Either sign is right: the one with which the largest number is positive is the same everywhere.
    signs = np.sign(first[np.abs(first).argmax(axis=0), np.arange(first.shape[1])])
    return np.ascontiguousarray(first * signs, np.float32)


class _Trials:
    """Stored vectors as queries: their nearest by whole vectors, and what a shortlist holds of these."""

    def __init__(
        self, turn: Turn, numbers: NDArray[np.int64], queries: NDArray[np.float32]
    ) -> None:
        self._turn = turn
        self._numbers, self._queries = numbers, queries
        self._short = as_int8(turn.rows(self._queries))[0].astype(np.float32)
        count = len(self._numbers)
        self._nearest = np.empty((count, 0), np.float32)
        self._listed = np.empty((count, 0), np.float32)
        self._cosines = np.empty((count, 0), np.float32)

    def __len__(self) -> int:
        return len(self._numbers)

    def look_at(self, numbers: NDArray[np.int64], rows: NDArray[np.float32]) -> None:
        """Compare some more vectors with every query; a query does not find itself."""
        codes, scales = as_int8(self._turn.rows(rows))
        cosines = self._queries @ rows.T
        scores = (self._short @ codes.T.astype(np.float32)) * scales
        itself = self._numbers[:, None] == numbers
        cosines[itself] = scores[itself] = -np.inf
        nearest = np.hstack([self._nearest, cosines])
        self._nearest = -np.partition(-nearest, min(_NEAREST, nearest.shape[1]) - 1)[:, :_NEAREST]
        listed = np.hstack([self._listed, scores])
        cosines = np.hstack([self._cosines, cosines])
        if listed.shape[1] > SHORTLIST:
            best = np.argpartition(-listed, SHORTLIST - 1)[:, :SHORTLIST]
            listed = np.take_along_axis(listed, best, 1)
            cosines = np.take_along_axis(cosines, best, 1)
        self._listed, self._cosines = listed, cosines

    def recall(self) -> float:
        """Return the share of the nearest that the shortlists hold, or of others exactly as near."""
        last = self._nearest.min(axis=1, keepdims=True, initial=np.inf)
        held = (self._cosines >= last - _EQUAL).sum(axis=1)
        return float(np.minimum(held, self._nearest.shape[1]).mean() / self._nearest.shape[1])

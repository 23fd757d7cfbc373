"""Cells: vectors grouped around centroids, so that a search compares a few groups instead of all.

How many cells a search needs is measured on the vectors themselves, and so is the recall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# With fewer vectors, a search compares all of them.
MIN_CELLED = 50_000
GOOD_RECALL = 0.998
TRIALS = 512
NEAREST = 10
MIN_CELLS, MAX_CELLS = 8, 4096
_SAMPLED = 40  # vectors for each cell
_ROUNDS = 8
_BATCH = 8192
# Of all rows: beyond that, a scan of everything is as fast.
_MAX_SHARE = 0.25
# Half of the trials ask for a stored vector, the others for one at this cosine from one: a question is
# not one of the texts.
_BLURRED = 0.8

Rows = NDArray[np.float32]
# Vectors in batches, with the rows they have.
Batches = Callable[[], Iterable[tuple[NDArray[np.intp], Rows]]]


class Cells(NamedTuple):
    """Centroids, the cell of each vector, and how many cells a search has to compare for `recall`.

    `probed` is 0 where comparing all is as fast.
    """

    centroids: Rows
    of: NDArray[np.int64]
    probed: int
    recall: float
    trials: int


def count_of(vectors: int) -> int:
    """Return the number of cells: about the square root of the number of vectors, a power of two."""
    return min(max(1 << round(math.log2(max(vectors, 1)) / 2), MIN_CELLS), MAX_CELLS)


def make(
    rows: int,
    at: Callable[[NDArray[np.intp]], Rows],
    batches: Batches,
    stopped: Callable[[], bool],
) -> Cells | None:
    """Group vectors, and measure; None when stopped. `at` returns vectors by row, `batches` all."""
    chance = np.random.default_rng(rows)  # equal stores get equal cells
    count = count_of(rows)
    sample = np.sort(chance.choice(rows, min(rows, count * _SAMPLED), replace=False))
    centroids = _centroids(at(sample), count, chance, stopped)
    asked = np.sort(chance.choice(rows, min(rows, TRIALS), replace=False))
    queries = _blurred(at(asked), chance)
    of = np.empty(rows, np.int64)
    nearest = _Nearest(len(asked))
    for here, vectors in batches():
        if stopped():
            return None
        of[here] = (vectors @ centroids.T).argmax(axis=1)
        cosines = queries @ vectors.T
        cosines[asked[:, None] == here] = -np.inf  # a query does not find itself
        nearest.add(cosines, here)
    probed, recall = _measured(queries @ centroids.T, of, nearest, rows)
    return Cells(centroids, of, probed, recall, len(asked))


def _centroids(
    sample: Rows, count: int, chance: np.random.Generator, stopped: Callable[[], bool]
) -> Rows:
    """Group a sample by spherical k-means."""
    centroids = sample[chance.choice(len(sample), min(count, len(sample)), replace=False)].copy()
    for _ in range(_ROUNDS):
        if stopped():
            break
        sums = np.zeros_like(centroids)
        for start in range(0, len(sample), _BATCH):
            batch = sample[start : start + _BATCH]
            of = (batch @ centroids.T).argmax(axis=1)
            order = np.argsort(of, kind="stable")
            held, first = np.unique(of[order], return_index=True)
            sums[held] += np.add.reduceat(batch[order], first, axis=0)
        empty = np.flatnonzero(~sums.any(axis=1))
        sums[empty] = sample[chance.choice(len(sample), len(empty))]
        centroids = sums
        centroids /= np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-12)
    return np.ascontiguousarray(centroids, np.float32)


def _blurred(vectors: Rows, chance: np.random.Generator) -> Rows:
    """Move every second vector away from where it is."""
    noise = chance.standard_normal(vectors[1::2].shape).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    queries = vectors.copy()
    queries[1::2] = _BLURRED * queries[1::2] + (1 - _BLURRED**2) ** 0.5 * noise
    return queries


class _Nearest:
    """The rows nearest to each query so far."""

    def __init__(self, queries: int) -> None:
        self._cosines = np.full((queries, NEAREST), -np.inf, np.float32)
        self.rows = np.full((queries, NEAREST), -1, np.intp)

    def add(self, cosines: Rows, here: NDArray[np.intp]) -> None:
        # Most batches have nothing for most queries.
        due = np.flatnonzero(cosines.max(axis=1) > self._cosines.min(axis=1))
        both = np.hstack([self._cosines[due], cosines[due]])
        rows = np.hstack([self.rows[due], np.broadcast_to(here, (len(due), len(here)))])
        best = np.argpartition(-both, NEAREST - 1)[:, :NEAREST]
        self._cosines[due] = np.take_along_axis(both, best, 1)
        self.rows[due] = np.take_along_axis(rows, best, 1)


def _measured(
    nearness: Rows, of: NDArray[np.int64], nearest: _Nearest, rows: int
) -> tuple[int, float]:
    """Return how many cells hold nearly all of the nearest, and which share those hold."""
    order = np.argsort(-nearness, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], 1)
    found = nearest.rows >= 0
    cells = of[np.maximum(nearest.rows, 0)]
    needed = np.sort(np.take_along_axis(ranks, cells, 1)[found])
    if not len(needed):
        return 0, 1.0
    probed = int(needed[int(np.ceil(len(needed) * GOOD_RECALL)) - 1]) + 1
    sizes = np.bincount(of, minlength=order.shape[1])
    compared = sizes[order[:, :probed]].sum(axis=1).mean()
    if compared > rows * _MAX_SHARE:
        return 0, 1.0
    return probed, float((needed < probed).mean())

"""Layout of the map: place vectors on a plane so that similar ones are neighbors, with numpy alone.

The first two principal axes of many texts hold a seventh or less of the variance: of a text's ten nearest,
one at most is near it in such a picture. So the axes only give the start. Then each point is attracted by
its ten nearest and repelled by others, in rounds with shrinking steps. There is no randomness: equal
vectors in the same order give an equal picture (docs/map.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

AXES = 50  # principal axes used for comparison; more give the same picture
_NEIGHBOURS = 10
_ROUNDS = 200
_PUSHES = 10  # number of others that repel a point in each round
_STEP = 0.1
_SPREAD = 10.0  # width of the picture while forces act, whose reach is about 1
_MOST_FORCE = 8.0
_LEAST = 20  # for fewer points the axes alone make a good picture
_AT_ONCE = 256
_AMONG = 3  # a later vector is placed among this number of its nearest
_STRIDE = 2_654_435_761  # visits the points in a fixed order without a pattern
_TRIALS = 200
_TRUE_NEAREST, _SHOWN_NEAREST = 10, 50


class Layout(NamedTuple):
    """Vectors with their places, and what is needed to place others among them."""

    mean: Rows
    axes: Rows  # a column each, the longest first
    rows: Rows  # the vectors along these axes
    places: Rows
    explained: float | None
    kept: float | None

    def along(self, vectors: Rows) -> Rows:
        return np.asarray((vectors - self.mean) @ self.axes, np.float32)

    def among(self, vectors: Rows) -> Rows:
        """Return the places of other vectors: the weighted mean of their nearest places."""
        return self._middle(*_nearest(self.along(vectors), self.rows, _AMONG))

    def _middle(self, nearest: NDArray[np.int64], distances: Rows) -> Rows:
        closeness = 1.0 / np.maximum(distances, 1e-6)
        closeness /= closeness.sum(axis=1, keepdims=True)
        return np.asarray(
            np.einsum("ij,ijk->ik", closeness, self.places[nearest]), np.float32
        ).reshape(-1, 2)


def laid_out(vectors: Rows) -> Layout:
    """Return the layout of one or more vectors, with places in -1..1."""
    mean = vectors.mean(axis=0)
    axes, explained = _axes(vectors - mean)
    rows = np.ascontiguousarray((vectors - mean) @ axes)
    places = _fitted(rows[:, :2], 1.0)
    if len(rows) >= _LEAST and explained is not None:
        places = _fitted(_drawn(rows, places * _SPREAD), 1.0)
    layout = Layout(mean, axes, rows, places, explained, None)
    return layout._replace(kept=_kept(vectors, places))


def _axes(centred: Rows) -> tuple[Rows, float | None]:
    """Return the principal axes, and the share of the variance that the first two hold. The sign of
    an axis is that in which its largest number is positive, so that it is always the same."""
    # In double precision: in single, equal vectors differ in their last bits, and these would be axes.
    moments = centred.T.astype(np.float64) @ centred / len(centred)
    lengths, columns = np.linalg.eigh(moments)
    first = columns[:, ::-1][:, :AXES]
    if first.shape[1] < 2:
        first = np.hstack([first, np.zeros((len(first), 2 - first.shape[1]))])
    signs = np.sign(first[np.abs(first).argmax(axis=0), np.arange(first.shape[1])])
    whole = float(np.maximum(lengths, 0).sum())
    explained = min(float(lengths[::-1][:2].sum()) / whole, 1.0) if whole > 1e-9 else None
    return np.asarray(first * signs, np.float32), explained


def _fitted(places: Rows, half: float) -> Rows:
    """Return places centered and scaled, equally in both directions, to fill the picture."""
    low, high = places.min(axis=0), places.max(axis=0)
    widest = float((high - low).max()) / 2
    if widest < 1e-6:
        return np.zeros_like(places)
    middle = (low + high) / 2
    return np.asarray(np.clip((places - middle) * (half / widest), -half, half), np.float32)


def _nearest(
    rows: Rows, among: Rows, most: int, *, themselves: bool = False
) -> tuple[NDArray[np.int64], Rows]:
    """Return the nearest of `among` for each row, and their distances; `themselves` skips the row."""
    most = min(most, len(among) - themselves)
    found = np.empty((len(rows), most), np.int64)
    far = np.empty((len(rows), most), np.float32)
    squares = (among * among).sum(axis=1)
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        distances = squares - 2 * (
            part @ among.T
        )  # without the part that is equal in all of a row
        if themselves:
            here = np.arange(len(part))
            distances[here, here + start] = np.inf
        best = np.argpartition(distances, most - 1)[:, :most]
        there = np.take_along_axis(distances, best, 1) + (part * part).sum(axis=1, keepdims=True)
        found[start : start + len(part)] = best
        far[start : start + len(part)] = np.sqrt(np.maximum(there, 0))
    return found, far


def _drawn(rows: Rows, places: Rows) -> Rows:
    """Attract each point to its nearest and repel it from others, in rounds with shrinking steps."""
    count = len(rows)
    nearest, far = _nearest(rows, rows, _NEIGHBOURS, themselves=True)
    beyond = far - far.min(axis=1, keepdims=True)
    pull = np.exp(-beyond / np.maximum(beyond.mean(axis=1, keepdims=True), 1e-6)).ravel()
    here, there = np.repeat(np.arange(count), nearest.shape[1]), nearest.ravel()
    sides = np.ascontiguousarray(places.T)  # one array per coordinate: half the time
    for turn in range(_ROUNDS):
        apart = sides[:, here] - sides[:, there]
        apart *= pull / (1 + (apart * apart).sum(axis=0))
        force = np.empty_like(sides)
        for side in (0, 1):
            force[side] = np.bincount(there, apart[side], count)
            force[side] -= np.bincount(here, apart[side], count)
        force *= 2
        twice = np.hstack([sides, sides])
        pushed = np.zeros((2, 2 * count), np.float32)
        for push in range(_PUSHES):
            # Each point is repelled by the one `shift` places after it, all at once.
            shift = 1 + (turn * _PUSHES + push) * _STRIDE % (count - 1)
            apart = sides - twice[:, shift : shift + count]
            square = (apart * apart).sum(axis=0)
            apart *= 2 / ((0.001 + square) * (1 + square))
            np.clip(apart, -4, 4, out=apart)
            force += apart
            pushed[:, shift : shift + count] += apart
        force -= pushed[:, :count] + pushed[:, count:]
        np.clip(force, -_MOST_FORCE, _MOST_FORCE, out=force)
        sides += _STEP * (1 - turn / _ROUNDS) * force
    return np.ascontiguousarray(sides.T)


def _kept(vectors: Rows, places: Rows) -> float | None:
    """Return the share of the ten nearest by meaning that are among the fifty nearest on the plane."""
    count = len(vectors)
    if count <= _SHOWN_NEAREST + 1:
        return None
    asked = np.arange(min(_TRIALS, count)) * count // min(_TRIALS, count)
    cosines = vectors[asked] @ vectors.T
    cosines[np.arange(len(asked)), asked] = -np.inf
    apart = ((places[asked, None] - places[None]) ** 2).sum(axis=2)
    apart[np.arange(len(asked)), asked] = np.inf
    true = np.argpartition(-cosines, _TRUE_NEAREST - 1)[:, :_TRUE_NEAREST]
    shown = np.sort(apart, axis=1)[:, _SHOWN_NEAREST - 1, None]
    return float((np.take_along_axis(apart, true, 1) <= shown).mean())

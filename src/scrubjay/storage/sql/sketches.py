"""Sketches: 60 bits that say on which side of 60 fixed planes a vector lies.

Vectors that point nearly the same way differ in few bits. Three parts of 20 bits are three buckets; who
looks into a vector's buckets, and into those beyond the planes that it nearly touches, meets its
near-duplicates and few others: 99 of 100 pairs with a cosine of 0.95 or more, among 100,000 sentences
(docs/decisions/013-near-duplicates.md).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLES = 3
TABLE_BITS = 20
BITS = TABLES * TABLE_BITS
BUCKET = (1 << TABLE_BITS) - 1
_UNSURE_BITS = 8  # of each table: those whose planes the vector nearly touches
_LOOKS = 32  # into each table, at the likeliest ways to read these
_READINGS = np.arange(1 << _UNSURE_BITS)[:, None] >> np.arange(_UNSURE_BITS) & 1
_BYTES_A_NUMBER = 4


class Sketch(NamedTuple):
    """The bits of a vector, and the buckets to look into, `(table, bucket)`, the likeliest first."""

    bits: int
    probes: tuple[tuple[int, int], ...]


def sketch(vector: NDArray[np.float32], place: str) -> Sketch:
    """Return the sketch of a vector among those of one place: a namespace and a model.

    Each place turns bits around in its own way, which leaves distances within it as they are. So a
    crowd of like memories in one namespace does not fill the buckets of another.
    """
    sides = _planes(len(vector)) @ vector
    signs = np.packbits(sides >= 0, bitorder="little").tobytes()
    bits = int.from_bytes(signs, "little") ^ _turned(place)
    near = np.abs(sides).reshape(TABLES, TABLE_BITS)
    unsure = np.argsort(near, axis=1, kind="stable")[:, :_UNSURE_BITS]
    # To flip bits whose planes are far away is as unlikely as these are far, taken together.
    unlikely = np.take_along_axis(near, unsure, axis=1) @ _READINGS.T
    readings = _READINGS[np.argsort(unlikely, axis=1, kind="stable")[:, :_LOOKS]]
    flips = (readings << unsure[:, None, :]).sum(axis=2)
    return Sketch(
        bits,
        tuple(
            (table, bucket_of(bits, table) ^ flip)
            for some in flips.T.tolist()
            for table, flip in enumerate(some)
        ),
    )


def bucket_of(bits: int, table: int) -> int:
    """Return the part of a sketch that is its bucket in a table."""
    return bits >> (table * TABLE_BITS) & BUCKET


@lru_cache(maxsize=8)
def _planes(dims: int) -> NDArray[np.float32]:
    """Return the planes for vectors of this width: the same in every process and version, for ever.

    The sum of a few random bytes is near enough to a normal number. numpy's own generators may give
    others in its next version, and then no stored sketch would be met again.
    """
    drawn = hashlib.shake_128(b"scrubjay near-duplicates").digest(BITS * dims * _BYTES_A_NUMBER)
    sums = np.frombuffer(drawn, np.uint8).reshape(BITS, dims, _BYTES_A_NUMBER).sum(axis=2)
    return np.asarray(sums - 127.5 * _BYTES_A_NUMBER, np.float32)


@lru_cache(maxsize=256)
def _turned(place: str) -> int:
    """Return the bits that a place flips."""
    digest = hashlib.blake2b(place.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") & ((1 << BITS) - 1)

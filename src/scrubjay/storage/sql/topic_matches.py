"""How many keywords the topics of very many memories match, counted as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def matches(
    sets: Sequence[NDArray[Any]], counts_for: Sequence[int], seen: NDArray[np.bool_] | None
) -> NDArray[np.uint16]:
    """Return for each memory, by its number, how many keywords it matches; 0 where it is not seen.

    A set has a flag for each memory, or the numbers of those that are in it. What it counts for is
    a bit for each keyword, and each bit counts once, in however many sets a memory is.
    """
    by_bit: dict[int, list[NDArray[Any]]] = {}
    for one, bits in zip(sets, counts_for, strict=True):
        while bits and len(one):
            lowest = bits & -bits
            by_bit.setdefault(lowest, []).append(one)
            bits ^= lowest
    size = _size(sets, seen)
    counted = np.zeros(size, np.uint16)
    for several in by_bit.values():
        one = several[0] if len(several) == 1 else _union(several, size)
        if one.dtype == np.bool_:
            counted += one
        else:
            counted[one] += 1
    if seen is not None:
        counted *= seen
    return counted


def cut(counted: NDArray[np.uint16], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return who is in any case among the best so many, and who ties for the places that are left."""
    above = np.empty(0, np.int64)
    for last in range(int(counted.max(initial=0)), 0, -1):
        tied = np.flatnonzero(counted == last)
        if len(above) + len(tied) >= limit or last == 1:
            return above, tied
        above = np.concatenate((above, tied))
    return above, above


def _size(sets: Sequence[NDArray[Any]], seen: NDArray[np.bool_] | None) -> int:
    flags = [one for one in (*sets, seen) if one is not None and one.dtype == np.bool_]
    if flags:
        return len(flags[0])  # all of one state of the file, so all are of one length
    return 1 + max((int(one.max()) for one in sets if len(one)), default=0)


def _union(several: Sequence[NDArray[Any]], size: int) -> NDArray[np.bool_]:
    union = np.zeros(size, np.bool_)
    for one in several:
        if one.dtype == np.bool_:
            union |= one
        else:
            union[one] = True
    return union

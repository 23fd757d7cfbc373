"""Token vectors as they are stored: rotated, cut to the first dimensions, one byte a number.

A rotation that puts the variance first lets most dimensions be dropped; what is left is scaled to
length one again, so that a product of two is still a cosine. One scale serves a whole passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_STEPS = 127
_SCALE_BYTES = 4
_LEAST_SCALE = float(np.finfo(np.float32).tiny)


class TokenCodes(NamedTuple):
    """The tokens of one passage: whole numbers, and what one of them is worth."""

    codes: NDArray[np.int8]
    scale: float


def rotated(tokens: Matrix, rotation: Matrix | None) -> Matrix:
    """Return token vectors in the dimensions that are stored, of length one."""
    turned = tokens if rotation is None else tokens @ rotation
    lengths = np.linalg.norm(turned, axis=-1, keepdims=True)
    units: Matrix = (turned / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return units


def pack(tokens: Matrix) -> bytes:
    """Return the bytes of a passage's tokens: the scale, then a row a token."""
    peak = float(np.abs(tokens).max()) if tokens.size else 0.0
    # A 127th of the smallest numbers there are would be 0.
    scale = np.float32(max(peak / _STEPS, _LEAST_SCALE) if peak else 1.0)
    codes = np.rint(tokens / scale).astype(np.int8)
    return b"".join((scale.astype("<f4").tobytes(), codes.tobytes()))


def unpack(stored: bytes, dims: int) -> TokenCodes:
    """Return what `pack` was given, to the nearest step."""
    scale = float(np.frombuffer(stored, "<f4", 1)[0])
    codes = np.frombuffer(stored, np.int8, offset=_SCALE_BYTES)
    return TokenCodes(codes.reshape(-1, dims), scale)


def max_sim(query: Matrix, passages: Sequence[TokenCodes]) -> list[float]:
    """Return, for each passage, how near its nearest token comes to each token of the query, on average.

    A passage without tokens is not near to anything: 0.
    """
    scores = np.zeros(len(passages), np.float32)
    full = [number for number, one in enumerate(passages) if len(one.codes)]
    if not full or not len(query):
        return scores.tolist()
    tokens = np.concatenate([passages[number].codes for number in full]).astype(np.float32)
    starts = np.cumsum([0, *(len(passages[number].codes) for number in full[:-1])])
    nearest = np.maximum.reduceat(tokens @ query.T, starts, axis=0)
    scales = np.array([passages[number].scale for number in full], np.float32)
    scores[full] = nearest.mean(axis=1) * scales
    return scores.tolist()

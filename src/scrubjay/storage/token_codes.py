"""Token vectors as they are stored: rotated, cut to the first dimensions, half a byte a number.

A rotation that puts the variance first lets most dimensions be dropped; what is left is scaled to
length one again, so that a product of two is still a cosine. One scale serves a whole passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_STEPS = 7
_ZERO = 8  # what stands for 0, so that every code is positive
_SCALE_BYTES = 4
_MOST_PRODUCTS = 200_000
_LEAST_SCALE = float(np.finfo(np.float32).tiny)


class TokenCodes(NamedTuple):
    """The tokens of one passage: whole numbers, and what one of them is worth."""

    codes: NDArray[np.int8]
    scale: float


def rotated(tokens: Matrix, rotation: Matrix | None) -> Matrix:
    """Return token vectors in the dimensions that are stored, of length one."""
    turned = tokens if rotation is None else _product(tokens, rotation)
    lengths = np.linalg.norm(turned, axis=-1, keepdims=True)
    units: Matrix = (turned / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return units


def _product(rows: Matrix, matrix: Matrix) -> Matrix:
    """Multiply in small blocks.

    A larger product wakes threads of the matrix library, which then wait in a busy loop for ten times
    as long as the product took.
    """
    step = max(1, _MOST_PRODUCTS // matrix.size)
    made = np.empty((len(rows), matrix.shape[1]), np.float32)
    for at in range(0, len(rows), step):
        np.matmul(rows[at : at + step], matrix, out=made[at : at + step])
    return made


def pack(tokens: Matrix) -> bytes:
    """Return the bytes of a passage's tokens: the scale, then a row a token, two numbers a byte."""
    peak = float(np.abs(tokens).max()) if tokens.size else 0.0
    # A seventh of the smallest numbers there are would be 0.
    scale = np.float32(max(peak / _STEPS, _LEAST_SCALE) if peak else 1.0)
    codes = (np.rint(tokens / scale) + _ZERO).astype(np.uint8)
    if codes.shape[1] % 2:
        codes = np.pad(codes, ((0, 0), (0, 1)), constant_values=_ZERO)
    halves = codes[:, 0::2] << 4 | codes[:, 1::2]
    return b"".join((scale.astype("<f4").tobytes(), halves.tobytes()))


def unpack(stored: bytes, dims: int) -> TokenCodes:
    """Return what `pack` was given, to the nearest step."""
    scale = float(np.frombuffer(stored, "<f4", 1)[0])
    halves = np.frombuffer(stored, np.uint8, offset=_SCALE_BYTES).reshape(-1, -(-dims // 2))
    codes = np.empty((len(halves), 2 * halves.shape[1]), np.int8)
    codes[:, 0::2], codes[:, 1::2] = halves >> 4, halves & 0x0F
    return TokenCodes(codes[:, :dims] - np.int8(_ZERO), scale)


def max_sim(query: Matrix, passages: Sequence[TokenCodes]) -> list[float]:
    """Return, for each passage, how near its nearest token comes to each token of the query, on average.

    A passage without tokens is not near to anything: 0.
    """
    if not len(query):
        return [0.0] * len(passages)
    return [_nearest(query, one) if len(one.codes) else 0.0 for one in passages]


def _nearest(query: Matrix, passage: TokenCodes) -> float:
    # Passage by passage: all of them at once would be a gigabyte for a query of a page.
    near = _product(passage.codes.astype(np.float32), query.T)
    return float(near.max(axis=0).mean()) * passage.scale

"""Token vectors for late interaction: rotated, cut to the first dimensions, packed to 4 bits a number.

The rotation puts the variance first, so most dimensions can be dropped. The rest is scaled to length one
again, so that the product of two vectors is still a cosine. One scale serves a whole passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_STEPS = 7
_ZERO = 8  # the code of 0, so that every code is positive
_SCALE_BYTES = 4
_MAX_PRODUCTS = 200_000
_MIN_SCALE = float(np.finfo(np.float32).tiny)


class TokenCodes(NamedTuple):
    """The tokens of one passage: a row of whole numbers each, and the value of one step; or as they are."""

    codes: NDArray[np.int8] | Matrix
    scale: float


def rotate(tokens: Matrix, rotation: Matrix | None) -> Matrix:
    """Return token vectors in the stored dimensions, of length one."""
    rotated = tokens if rotation is None else _product(tokens, rotation)
    lengths = np.linalg.norm(rotated, axis=-1, keepdims=True)
    units: Matrix = (rotated / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return units


def _product(rows: Matrix, matrix: Matrix) -> Matrix:
    """Multiply in small blocks: a larger product wakes threads that wait in a busy loop long after it."""
    step = max(1, _MAX_PRODUCTS // matrix.size)
    product = np.empty((len(rows), matrix.shape[1]), np.float32)
    for at in range(0, len(rows), step):
        np.matmul(rows[at : at + step], matrix, out=product[at : at + step])
    return product


def pack(tokens: Matrix) -> bytes:
    """Return the bytes of a passage's tokens: the scale, then a row a token, two numbers a byte."""
    peak = float(np.abs(tokens).max()) if tokens.size else 0.0
    # A seventh of the smallest float32 would round to 0.
    scale = np.float32(max(peak / _STEPS, _MIN_SCALE) if peak else 1.0)
    codes = (np.rint(tokens / scale) + _ZERO).astype(np.uint8)
    if codes.shape[1] % 2:
        codes = np.pad(codes, ((0, 0), (0, 1)), constant_values=_ZERO)
    halves = codes[:, 0::2] << 4 | codes[:, 1::2]
    return b"".join((scale.astype("<f4").tobytes(), halves.tobytes()))


def unpack(stored: bytes, dims: int) -> TokenCodes:
    scale = float(np.frombuffer(stored, "<f4", 1)[0])
    halves = np.frombuffer(stored, np.uint8, offset=_SCALE_BYTES).reshape(-1, -(-dims // 2))
    codes = np.empty((len(halves), 2 * halves.shape[1]), np.int8)
    codes[:, 0::2], codes[:, 1::2] = halves >> 4, halves & 0x0F
    return TokenCodes(codes[:, :dims] - np.int8(_ZERO), scale)


def max_sim(query: Matrix, passages: Sequence[TokenCodes]) -> list[float]:
    """Return each passage's mean, over the query's tokens, of the nearest cosine; 0 without tokens."""
    if not len(query):
        return [0.0] * len(passages)
    # Passage by passage: all of them at once would be a gigabyte for a query of a page.
    cosines = (_product(codes.astype(np.float32), query.T) for codes, _ in passages)
    return [
        float(each.max(axis=0).mean()) * passage.scale if len(each) else 0.0
        for each, passage in zip(cosines, passages, strict=True)
    ]

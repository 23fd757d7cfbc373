"""Sparse vectors of words: two dimensions of one vector for each term, and one of another.

A term is hashed to a dimension. Two terms of one dimension add up there, so a memory may get a score that
is too high, and never one that is too low: the list of candidates has one more, which the database drops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from math import log
from typing import NamedTuple

from scrubjay.storage.sql.keyword_ranking import K1, B

_DIMENSIONS = 2**31  # Qdrant numbers them in 32 bits, and a term has two


class Sparse(NamedTuple):
    """Dimensions, in no order, and their values."""

    indices: list[int]
    values: list[float]


class WordVectors(NamedTuple):
    """The vectors of one memory."""

    bm25: Sparse
    cover_density: Sparse


def word_vectors(tokens: Iterable[str], length: int, mean_length: float) -> WordVectors:
    """Return the vectors of a memory: its weight in BM25 and a 1 for each term, without the rarity; and its
    part of a cover density. Every field counts 1, so a field of less weight makes a score too high."""
    often: dict[int, int] = {}
    for token in tokens:
        at = dimension(token)
        often[at] = often.get(at, 0) + 1
    longer = K1 * (1 - B + B * length / mean_length)
    indices = [at for place in often for at in (2 * place, 2 * place + 1)]
    values = [
        value for count in often.values() for value in (count * (K1 + 1) / (count + longer), 1.0)
    ]
    by_length = 1 / log(1 + max(1, length))
    density = [count * by_length for count in often.values()]
    return WordVectors(Sparse(indices, values), Sparse([*often], density))


def asking_bm25(weights: Mapping[str, float], each: float = 0.0) -> Sparse:
    """Return the query that adds up the BM25 of terms by their weights, and `each` for each that is held."""
    summed: dict[int, float] = {}
    for token, weight in weights.items():
        place = 2 * dimension(token)
        summed[place] = summed.get(place, 0.0) + weight
        if each:
            summed[place + 1] = summed.get(place + 1, 0.0) + each
    return Sparse([*summed], [*summed.values()])


def asking_cover_density(tokens: Iterable[str]) -> Sparse:
    places = dict.fromkeys(map(dimension, tokens))
    return Sparse([*places], [1.0] * len(places))


@lru_cache(maxsize=1 << 17)
def dimension(token: str) -> int:
    """Return the number of a term, the same on every machine and in every version."""
    hashed = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(hashed) % _DIMENSIONS

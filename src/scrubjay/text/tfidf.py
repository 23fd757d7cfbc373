"""TF-IDF: the cosine of two texts by their tokens, weighted by count (TF) and by rarity (IDF)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum, log, sqrt
from typing import NamedTuple


class TokenCounts(NamedTuple):
    """The number of memories, and how many of them contain each token; without tokens of none."""

    memories: int
    held_by: Mapping[str, int]


class Bag(NamedTuple):
    """The tokens of a text with their counts, and the language that they were stemmed in."""

    language: str
    tokens: Mapping[str, int]


def merge_counts(counts: Iterable[TokenCounts]) -> TokenCounts:
    memories, held_by = 0, Counter[str]()
    for each in counts:
        memories += each.memories
        held_by.update(each.held_by)
    return TokenCounts(memories, held_by)


def idf(memories: int, held_by: int) -> float:
    """Return the IDF of a token that `held_by` of all memories contain; at least 1."""
    return log((memories + 1) / (held_by + 1)) + 1


def idfs(counted: TokenCounts) -> dict[str, float]:
    return {token: idf(counted.memories, held) for token, held in counted.held_by.items()}


def cosine(query: Mapping[str, int], bag: Mapping[str, int], idf: Mapping[str, float]) -> float:
    """Return the similarity from 0 to 1, by exact sums; a token without an IDF is ignored."""
    one = _weights(query, idf)
    other = _weights(bag, idf)
    if not one or not other:
        return 0.0
    shared = fsum(weight * other[token] for token, weight in one.items() if token in other)
    return min(1.0, shared / sqrt(_square(one) * _square(other)))


def _weights(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    return {token: count * idf[token] for token, count in counts.items() if token in idf}


def _square(weights: Mapping[str, float]) -> float:
    return fsum([weight * weight for weight in weights.values()])

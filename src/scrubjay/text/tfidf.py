"""How alike two texts are by their rare words: the cosine of their TF-IDF weights.

A token weighs as often as it stands in a text (TF), times how few memories hold it (IDF).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum, log, sqrt
from typing import NamedTuple


class TokenCounts(NamedTuple):
    """How many memories there are, and how many of them hold each token; a token of none is left out."""

    memories: int
    held_by: Mapping[str, int]


class Bag(NamedTuple):
    """The tokens of a text, with how often each stands in it, and the language by which they were made."""

    language: str
    tokens: Mapping[str, int]


def merge_counts(counts: Iterable[TokenCounts]) -> TokenCounts:
    """Return the counts of several databases as if all memories were in one."""
    memories, held_by = 0, dict[str, int]()
    for one in counts:
        memories += one.memories
        for token, held in one.held_by.items():
            held_by[token] = held_by.get(token, 0) + held
    return TokenCounts(memories, held_by)


def idf(memories: int, held_by: int) -> float:
    """Return how telling a token is that so many of all memories hold; never below 1."""
    return log((memories + 1) / (held_by + 1)) + 1


def idfs(counted: TokenCounts) -> dict[str, float]:
    """Return how telling each token is, of those that any memory holds."""
    return {token: idf(counted.memories, held) for token, held in counted.held_by.items()}


def cosine(asked: Mapping[str, int], bag: Mapping[str, int], idf: Mapping[str, float]) -> float:
    """Return how alike two counts of tokens are, from 0 to 1; a token without an IDF is left out.

    The sums are exact, so the order of the tokens does not matter, and a text is like itself by 1.0.
    """
    one = _weights(asked, idf)
    other = _weights(bag, idf)
    if not one or not other:
        return 0.0
    shared = fsum(weight * other[token] for token, weight in one.items() if token in other)
    return min(1.0, shared / sqrt(_square(one) * _square(other)))


def _weights(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    return {token: count * idf[token] for token, count in counts.items() if token in idf}


def _square(weights: Mapping[str, float]) -> float:
    return fsum([weight * weight for weight in weights.values()])

"""A list of postings as arrays, as searches keep it.

The score of a memory depends on its counts and its length alone. Few pairs of these occur in a list, so each
memory has the place of its pair, and what a search computes is a score for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scrubjay.storage.sql.keyword_ranking import K1, B
from scrubjay.storage.sqlite.postings.arithmetic import Norm, Postings
from scrubjay.storage.sqlite.postings.blocks import SMALL, Counts, Posting, StoredBlock, decode
from scrubjay.storage.sqlite.postings.bulk import large_columns

Array = np.ndarray[Any, Any]

_DENSE = 8  # a list with more than an eighth of the numbers has a place for each
_LEAST_DENSE = 4096


class Weighed(NamedTuple):
    """Scores of pairs, without the rarity of the token."""

    key: tuple[object, ...]  # of the norm
    scores: Array
    most: float
    best: Array  # scores, highest first
    up_to: Array  # how many memories have at least that score


class Decoded:
    """The memories that hold a token, in order, and the place of the pair of each."""

    def __init__(self, numbers: Array, pairs: Array, of: Pairs) -> None:
        self._of = of
        self.held_by = len(numbers)
        self._weighed: Weighed | None = None
        self._dense: Array | None = None
        self._numbers: Array | None = numbers
        self._pairs: Array | None = pairs
        last = int(numbers[-1]) if len(numbers) else 0
        if last < len(numbers) * _DENSE and len(numbers) >= _LEAST_DENSE:
            # By number: 0 where a memory does not hold the token, else the place and 1.
            many = len(of.lengths) >= (1 << 8) - 1
            self._dense = np.zeros(last + 2, np.uint32 if many else np.uint8)
            if many and len(of.lengths) < (1 << 16) - 1:
                self._dense = np.zeros(last + 2, np.uint16)
            self._dense[numbers] = pairs + 1
            self._numbers = self._pairs = None
        stored = self._dense, self._numbers, self._pairs
        self.bytes = 1000 + 40 * len(of.lengths) + sum(a.nbytes for a in stored if a is not None)

    @property
    def numbers(self) -> Array:
        if self._numbers is not None:
            return self._numbers
        assert self._dense is not None
        return np.flatnonzero(self._dense).astype(np.int32)

    @property
    def _all_pairs(self) -> Array:
        if self._pairs is not None:
            return self._pairs
        assert self._dense is not None
        return self._dense[np.flatnonzero(self._dense)] - 1

    def holds(self, numbers: Array) -> Array:
        """Return which of some memories hold the token."""
        if self._dense is not None:
            return self._dense.take(numbers, mode="clip") > 0
        return self._find(numbers)[1]

    def _find(self, numbers: Array) -> tuple[Array, Array]:
        """Return the place of each memory in the list, and whether it is there."""
        assert self._numbers is not None
        among = self._numbers
        if not len(among):
            return np.zeros(len(numbers), np.int64), np.zeros(len(numbers), np.bool_)
        places = among.searchsorted(numbers.astype(among.dtype, copy=False))
        places[places == len(among)] = 0
        return places, among[places] == numbers

    def weighed(self, norm: Norm) -> Weighed:
        """Return the score of each pair."""
        known = self._weighed
        if known is not None and known.key == norm.key:
            return known
        often = np.array(list(map(norm.weigh, self._of.counts)))[self._of.kinds]
        longer = self._of.lengths * (K1 * B / norm.mean) + K1 * (1 - B)
        scores = often * (K1 + 1) / (often + longer)
        order = np.argsort(scores)[::-1]
        best = scores[order]
        most = float(best[0]) if len(best) else 0.0
        made = Weighed(norm.key, scores, most, best, np.cumsum(self._of.held_by[order]))
        self._weighed = made
        return made

    def kth(self, k: int, norm: Norm) -> float:
        """Return the k-th highest score, 0 if there are fewer."""
        weighed = self.weighed(norm)
        at = int(weighed.up_to.searchsorted(k))
        return float(weighed.best[at]) if at < len(weighed.best) else 0.0

    def scores(self, numbers: Array, norm: Norm) -> Array:
        """Return the score of each of some memories, 0 where one does not hold the token."""
        scores = self.weighed(norm).scores
        if self._dense is not None:
            padded = np.concatenate(((0.0,), scores))
            return padded[self._dense.take(numbers, mode="clip")]
        places, found = self._find(numbers)
        assert self._pairs is not None
        if not len(self._pairs):
            return np.zeros(len(numbers))
        made: Array = scores[self._pairs[places]]
        made[~found] = 0.0
        return made

    def at_least(self, floor: float, norm: Norm) -> tuple[Array, Array]:
        """Return the memories with at least this score, and their scores."""
        weighed = self.weighed(norm)
        scores = weighed.scores
        if not len(scores) or floor <= weighed.best[-1]:
            return self.numbers, scores[self._all_pairs]
        enough = scores >= floor
        if self._dense is not None:
            padded = np.concatenate(((False,), enough))
            numbers = np.flatnonzero(padded[self._dense])
            return numbers.astype(np.int32), scores[self._dense[numbers] - 1]
        assert self._numbers is not None
        assert self._pairs is not None
        places = np.flatnonzero(enough[self._pairs])
        return self._numbers[places], scores[self._pairs[places]]

    def postings(self, norm: Norm) -> Postings:
        return self._postings(self.numbers, self._all_pairs, norm)

    def only(self, numbers: Array, norm: Norm) -> Postings:
        """Return the postings of these memories."""
        if self._dense is not None:
            pairs = self._dense.take(numbers, mode="clip")
            found = pairs > 0
            return self._postings(numbers[found], pairs[found] - 1, norm)
        places, found = self._find(numbers)
        assert self._pairs is not None
        return self._postings(numbers[found], self._pairs[places[found]], norm)

    def _postings(self, numbers: Array, pairs: Array, norm: Norm) -> Postings:
        often = np.array(list(map(norm.weigh, self._of.counts)), np.float64)[self._of.kinds]
        return Postings(numbers.astype(np.int64), often[pairs], self._of.lengths[pairs])


class Pairs(NamedTuple):
    """Pairs of counts and length: the place of the counts in a list, the length, and how many memories
    have them."""

    counts: Sequence[Counts]
    kinds: Array
    lengths: Array
    held_by: Array


def decode_list(blocks: Sequence[StoredBlock], others: Sequence[Posting] = ()) -> Decoded:
    """Return the postings of blocks, and other ones, that have no memory in common."""
    intern: dict[Counts, int] = {}
    parts: list[tuple[Array, Array, Array]] = []
    small: tuple[list[int], list[int], list[int]] = ([], [], [])
    for stored in blocks:
        block = large_columns(stored) if stored.size > SMALL else decode(stored)
        known = [intern.setdefault(counts, len(intern)) for counts in block.counts]
        if isinstance(block.numbers, list):
            small[0].extend(block.numbers)
            small[1].extend(map(known.__getitem__, block.codes))
            small[2].extend(block.lengths)
        else:
            parts.append((block.numbers, np.array(known)[block.codes], block.lengths))
    for number, counts, length in others:
        small[0].append(number)
        small[1].append(intern.setdefault(counts, len(intern)))
        small[2].append(length)
    if small[0] or not parts:
        first, second, third = (np.array(column, np.int64) for column in small)
        parts.append((first, second, third))
    numbers, kinds, lengths = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not bool((numbers[1:] > numbers[:-1]).all()):
        order = np.argsort(numbers, kind="stable")  # of a few runs that are in order
        numbers, kinds, lengths = numbers[order], kinds[order], lengths[order]
    if not len(numbers) or int(numbers[-1]) < 1 << 31:
        numbers = numbers.astype(np.int32)
    width = int(lengths.max(initial=0)) + 1
    pairs: Array = kinds * width + lengths.astype(np.int64)
    held_by: Array
    present: Array
    if len(intern) * width <= 4 * len(numbers) + (1 << 16):
        held_by = np.bincount(pairs, minlength=1)
        present = np.flatnonzero(held_by)
        places = np.empty(len(held_by), np.uint16 if len(present) < 1 << 16 else np.uint32)
        places[present] = np.arange(len(present))
        pairs, held_by = places[pairs], held_by[present]
    else:
        present, pairs, held_by = np.unique(pairs, return_inverse=True, return_counts=True)
    of_kinds, of_lengths = np.divmod(present, width)
    return Decoded(
        numbers, pairs, Pairs(list(intern), of_kinds, of_lengths.astype(np.float64), held_by)
    )

"""Arithmetic on postings and scores with numpy. Memories with scores are two arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scrubjay.storage.sql.keyword_ranking import K1, B
from scrubjay.storage.sqlite.postings.arithmetic import (
    CLOSE,
    Arithmetic,
    Norm,
    Numbers,
    Postings,
    Ranked,
    Scored,
)
from scrubjay.storage.sqlite.postings.blocks import Posting, StoredBlock
from scrubjay.storage.sqlite.postings.decoded import Array, Decoded, decode_list

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.postings.runs import Run

_NONE = Postings(np.empty(0, np.int64), np.empty(0), np.empty(0))


class Vectors(Arithmetic):
    """Arithmetic on arrays."""

    decodes = True

    def decode(self, blocks: Sequence[StoredBlock], norm: Norm) -> Postings:
        return decode_list(blocks).postings(norm)

    def of(self, postings: Sequence[Posting], norm: Norm) -> Postings:
        if not postings:
            return _NONE
        return Postings(
            np.array([n for n, _, _ in postings], np.int64),
            np.array([norm.weigh(counts) for _, counts, _ in postings], np.float64),
            np.array([length for _, _, length in postings], np.float64),
        )

    def joined(self, several: Sequence[Postings]) -> Postings:
        if len(several) == 1:
            return several[0]
        return Postings(*map(np.concatenate, zip(*several, strict=True)))

    def summed(self, several: Sequence[Postings]) -> Postings:
        numbers, often, lengths = self.joined(several)
        unique, first, places = np.unique(numbers, return_index=True, return_inverse=True)
        return Postings(unique, np.bincount(places, often, len(unique)), lengths[first])

    def touched(self, blocks: Sequence[StoredBlock], numbers: Numbers) -> list[int]:
        ends = np.array([(block.first, block.last) for block in blocks], np.int64).reshape(-1, 2)
        begin = np.searchsorted(numbers, ends[:, 0], "left")
        end = np.searchsorted(numbers, ends[:, 1], "right")
        return np.flatnonzero(end > begin).tolist()

    def numbers_of(self, several: Sequence[Postings], *, counted: bool = False) -> Numbers:
        parts = [
            postings.numbers[postings.often > 0] if counted else postings.numbers
            for postings in several
        ]
        if not parts:
            return np.empty(0, np.int64)
        return _united(parts)

    def common(self, numbers: Numbers, others: Numbers) -> Numbers:
        return numbers[_places(others, numbers) >= 0]

    def without(self, numbers: Numbers, others: Numbers) -> Numbers:
        return numbers[_places(others, numbers) < 0]

    def only(self, postings: Postings, numbers: Numbers) -> Postings:
        kept = _places(numbers, postings.numbers) >= 0
        return Postings(*(column[kept] for column in postings))

    def score(self, postings: Postings, idf: float, norm: Norm) -> Scored:
        numbers, often, lengths = postings
        longer = lengths * (K1 * B / norm.mean) + K1 * (1 - B)
        scores = often * (idf * (K1 + 1)) / (often + longer)
        return numbers, scores

    def best(self, scored: Scored, k: int, among: Numbers | None = None) -> Ranked:
        numbers, scores = scored
        if among is not None:
            kept = _places(among, numbers) >= 0
            numbers, scores = numbers[kept], scores[kept]
        if len(numbers) > k:
            last = _kth(scores, k)
            above = np.flatnonzero(scores > last)
            ties = np.flatnonzero(scores == last)
            ties = ties[np.argsort(numbers[ties])][len(above) - k :]
            chosen = np.concatenate((above, ties))
            numbers, scores = numbers[chosen], scores[chosen]
        order = np.lexsort((numbers, scores))[::-1]
        return list(zip(numbers[order].tolist(), scores[order].tolist(), strict=True))

    def ordered(self, numbers: Iterable[int]) -> Numbers:
        return np.unique(np.fromiter(numbers, np.int64))

    def best_of_any(
        self, runs: Sequence[tuple[Run, float]], k: int, norm: Norm, among: Numbers | None
    ) -> Ranked:
        numbers: list[Array] = []
        scores: list[Array] = []
        for lists in _apart([(run, idf) for run, idf in runs if run.held_by], norm):
            found = _max_score(lists, k, among)
            numbers.append(found[0])
            scores.append(found[1])
        if not numbers:
            return []
        return self.best((np.concatenate(numbers), np.concatenate(scores)), k)

    def complete(
        self, terms: Sequence[Sequence[Run]], runs: Sequence[tuple[Run, float]], norm: Norm
    ) -> Scored:
        weights = {id(run): idf for run, idf in runs}
        numbers: list[Array] = [np.empty(0, np.int64)]
        scores: list[Array] = [np.empty(0)]
        each = [(run, weights[id(run)]) for term in terms for run in term]
        for lists in _apart(each, norm):
            at = iter(lists)
            by_term = [[next(at) for _ in term] for term in terms]
            found = _united([one.numbers for one in by_term[0]])
            for term in by_term[1:]:
                if not len(found):
                    break
                held = term[0].holds(found)
                for one in term[1:]:
                    held |= one.holds(found)
                found = found[held]
            if len(found):
                numbers.append(found)
                scores.append(sum((one.at(found) for one in lists), np.zeros(len(found))))
        return np.concatenate(numbers), np.concatenate(scores)


class _List(NamedTuple):
    """A run with its weight, as it is ranked: a decoded list, or memories in order with their scores."""

    idf: float
    norm: Norm
    decoded: Decoded | None
    plain: tuple[Array, Array] | None

    @property
    def numbers(self) -> Array:
        if self.decoded is not None:
            return self.decoded.numbers
        assert self.plain is not None
        return self.plain[0]

    @property
    def most(self) -> float:
        if self.decoded is not None:
            return self.idf * self.decoded.weighed(self.norm).most
        assert self.plain is not None
        return float(self.plain[1].max(initial=0.0))

    def kth(self, k: int) -> float:
        return 0.0 if self.decoded is None else self.idf * self.decoded.kth(k, self.norm)

    def holds(self, numbers: Array) -> Array:
        if self.decoded is not None:
            return self.decoded.holds(numbers)
        assert self.plain is not None
        return _places(self.plain[0], numbers) >= 0

    def at(self, numbers: Array) -> Array:
        """Return the score of each memory, 0 where one does not hold it."""
        if self.decoded is not None:
            return self.idf * self.decoded.scores(numbers, self.norm)
        assert self.plain is not None
        among, scores = self.plain
        if not len(among):
            return np.zeros(len(numbers))
        places = _places(among, numbers)
        return np.where(places >= 0, scores[places], 0.0)

    def at_least(self, floor: float) -> tuple[Array, Array]:
        """Return the memories with at least this score, with their scores."""
        if self.decoded is not None:
            numbers, scores = self.decoded.at_least(floor / self.idf, self.norm)
            return numbers, self.idf * scores
        assert self.plain is not None
        enough = self.plain[1] >= floor
        return self.plain[0][enough], self.plain[1][enough]


def _apart(runs: Sequence[tuple[Run, float]], norm: Norm) -> Iterator[list[_List]]:
    """Yield the lists of the memories in segments, and those of the memories that are in none: no memory
    is in both, so that neither have to be joined."""
    yield [
        _plain(run.decoded_all(), idf, norm)
        if run.decoded is None
        else _List(idf, norm, run.decoded, None)
        for run, idf in runs
    ]
    if any(run.has_latest for run, _ in runs):
        yield [_plain(run.latest_all(), idf, norm) for run, idf in runs]


def _plain(postings: Postings, idf: float, norm: Norm) -> _List:
    numbers, scores = Vectors().score(postings, idf, norm)
    if not bool((numbers[1:] > numbers[:-1]).all()):
        order = np.argsort(numbers, kind="stable")
        numbers, scores = numbers[order], scores[order]
    return _List(idf, norm, None, (numbers, scores))


def _max_score(lists: Sequence[_List], k: int, among: Numbers | None) -> tuple[Array, Array]:
    """Return memories with scores, the `k` best among them, by MaxScore.

    A list adds only memories that can be among the best with it and those after it.
    """
    bounded = sorted(((one.most, one) for one in lists), key=lambda pair: -pair[0])
    left = sum(bound for bound, _ in bounded)
    last = 0.0 if among is not None else max((one.kth(k) for _, one in bounded), default=0.0)
    numbers: Array = np.empty(0, np.int32)
    scores: Array = np.empty(0)
    for bound, one in bounded:
        if len(numbers):
            kept = scores >= last - CLOSE - left
            if not kept.all():
                numbers, scores = numbers[kept], scores[kept]
        left -= bound
        floor = last - CLOSE - left
        new: tuple[Array, Array] | None = None
        if bound >= floor:
            new = one.at_least(floor)
            if among is not None:
                allowed = _places(among, new[0]) >= 0
                new = new[0][allowed], new[1][allowed]
        if len(numbers):
            scores = scores + one.at(numbers)
            if new is not None and len(new[0]):
                other = _places(numbers, new[0]) < 0
                numbers = np.concatenate((numbers, new[0][other]))
                scores = np.concatenate((scores, new[1][other]))
                order = np.argsort(numbers, kind="stable")  # two runs that are in order
                numbers, scores = numbers[order], scores[order]
        elif new is not None:
            numbers, scores = new
        if len(scores) >= k:
            last = max(last, _kth(scores, k))
    return numbers, scores


def _kth(scores: Array, k: int) -> float:
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _united(parts: Sequence[Array]) -> Array:
    """Return the memories in any of several lists, in order."""
    numbers = np.concatenate(parts) if len(parts) > 1 else parts[0]
    if bool((numbers[1:] > numbers[:-1]).all()):
        return numbers
    numbers = np.sort(numbers, kind="stable")  # a few runs that are in order
    return numbers[np.diff(numbers, prepend=-1) > 0]


def _places(among: Numbers, numbers: Numbers) -> Array:
    """Return the place of each number among others in order, and -1 where it is not there."""
    if not len(among):
        return np.full(len(numbers), -1)
    places: Array = among.searchsorted(numbers)
    places[places == len(among)] = 0
    places[among[places] != numbers] = -1
    return places

"""Arithmetic on postings and scores, with the standard library; `vectors.py` has the same with numpy.

A search of one shell command ends before numpy would be loaded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.storage.sql.keyword_ranking import K1, B
from scrubjay.storage.sqlite.postings.blocks import Counts, Posting, StoredBlock, decode

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.postings.runs import Run

# What lists and arrays have in common is not worth a type of its own.
Numbers = Any  # of memories, ascending
Scored = Any  # memories with scores
Ranked = list[tuple[int, float]]  # best first

CLOSE = 2e-6  # scores that differ by less may be equal when rounded


class Postings(NamedTuple):
    """Memories that hold a token, in any order: numbers, weighted counts and lengths."""

    numbers: Any
    often: Any
    lengths: Any


class Norm:
    """What BM25 needs besides a posting: the weights of the fields, and the mean length."""

    def __init__(self, weights: tuple[float, ...], mean: float) -> None:
        self.mean = mean
        self._weights = weights
        self._weighed: dict[Counts, float] = {}  # the same few counts come again and again

    @property
    def key(self) -> tuple[object, ...]:
        """What scores depend on."""
        return (*self._weights, self.mean)

    def weigh(self, counts: Counts) -> float:
        weighed = self._weighed.get(counts)
        if weighed is None:
            pairs = zip(self._weights, counts, strict=True)
            weighed = sum(weight * count for weight, count in pairs)
            self._weighed[counts] = weighed
        return weighed

    def bound(self, idf: float, often: float, shortest: float) -> float:
        """Return the score of a posting."""
        longer = K1 * (1 - B + B * shortest / self.mean)
        return idf * often * (K1 + 1) / (often + longer) if often else 0.0


class Arithmetic(ABC):
    """What ranking does with many postings at once. `decodes`: lists are decoded into arrays, and kept."""

    decodes = False

    @abstractmethod
    def decode(self, blocks: Sequence[StoredBlock], norm: Norm) -> Postings:
        """Return the postings of blocks that have no memory in common."""

    @abstractmethod
    def of(self, postings: Sequence[Posting], norm: Norm) -> Postings:
        """Return these postings."""

    @abstractmethod
    def joined(self, several: Sequence[Postings]) -> Postings:
        """Return postings that have no memory in common, as one."""

    @abstractmethod
    def summed(self, several: Sequence[Postings]) -> Postings:
        """Return postings as one, with the sum of the counts of each memory."""

    @abstractmethod
    def touched(self, blocks: Sequence[StoredBlock], numbers: Numbers) -> list[int]:
        """Return the places of the blocks that may have any of these memories."""

    @abstractmethod
    def numbers_of(self, several: Sequence[Postings], *, counted: bool = False) -> Numbers:
        """Return the memories in any of several; `counted` leaves out those without weight."""

    @abstractmethod
    def common(self, numbers: Numbers, others: Numbers) -> Numbers:
        """Return the memories in both."""

    @abstractmethod
    def without(self, numbers: Numbers, others: Numbers) -> Numbers:
        """Return the memories that are not among others."""

    @abstractmethod
    def only(self, postings: Postings, numbers: Numbers) -> Postings:
        """Return the postings of these memories."""

    @abstractmethod
    def score(self, postings: Postings, idf: float, norm: Norm) -> Scored: ...

    @abstractmethod
    def best(self, scored: Scored, k: int, among: Numbers | None = None) -> Ranked:
        """Return the `k` best memories, best first, and of equal scores the last written."""

    @abstractmethod
    def best_of_any(
        self, runs: Sequence[tuple[Run, float]], k: int, norm: Norm, among: Numbers | None
    ) -> Ranked:
        """Return the best memories that hold any of several runs, each with its weight."""

    @abstractmethod
    def complete(
        self, terms: Sequence[Sequence[Run]], runs: Sequence[tuple[Run, float]], norm: Norm
    ) -> Scored:
        """Score the memories that hold every term, each given by its runs, the rarest first."""

    def ordered(self, numbers: Iterable[int]) -> Numbers:
        return sorted(numbers)


class Plain(Arithmetic):
    """Arithmetic on lists; memories with scores are a dict."""

    def decode(self, blocks: Sequence[StoredBlock], norm: Norm) -> Postings:
        numbers: list[int] = []
        often: list[float] = []
        lengths: list[int] = []
        for stored in blocks:
            block = decode(stored)
            weighed = list(map(norm.weigh, block.counts))
            numbers += block.numbers
            often += map(weighed.__getitem__, block.codes)
            lengths += block.lengths
        return Postings(numbers, often, lengths)

    def of(self, postings: Sequence[Posting], norm: Norm) -> Postings:
        return Postings(
            [n for n, _, _ in postings],
            [norm.weigh(counts) for _, counts, _ in postings],
            [length for _, _, length in postings],
        )

    def joined(self, several: Sequence[Postings]) -> Postings:
        numbers, often, lengths = (
            [x for part in parts for x in part] for parts in zip(*several, strict=True)
        )
        return Postings(numbers, often, lengths)

    def summed(self, several: Sequence[Postings]) -> Postings:
        often: dict[int, float] = {}
        lengths: dict[int, int] = {}
        for postings in several:
            for n, weight, length in zip(*postings, strict=True):
                often[n] = often.get(n, 0.0) + weight
                lengths[n] = length
        return Postings(list(often), list(often.values()), list(lengths.values()))

    def touched(self, blocks: Sequence[StoredBlock], numbers: Numbers) -> list[int]:
        found = []
        for place, block in enumerate(blocks):
            at = bisect_left(numbers, block.first)
            if at < len(numbers) and numbers[at] <= block.last:
                found.append(place)
        return found

    def numbers_of(self, several: Sequence[Postings], *, counted: bool = False) -> Numbers:
        return sorted(
            {
                n
                for postings in several
                for n, often in zip(postings.numbers, postings.often, strict=True)
                if often or not counted
            }
        )

    def common(self, numbers: Numbers, others: Numbers) -> Numbers:
        among = set(others)
        return [n for n in numbers if n in among]

    def without(self, numbers: Numbers, others: Numbers) -> Numbers:
        among = set(others)
        return [n for n in numbers if n not in among]

    def only(self, postings: Postings, numbers: Numbers) -> Postings:
        among = set(numbers)
        rows = [row for row in zip(*postings, strict=True) if row[0] in among]
        return Postings(*map(list, zip(*rows, strict=True))) if rows else Postings([], [], [])

    def score(self, postings: Postings, idf: float, norm: Norm) -> Scored:
        most, base, by_length = idf * (K1 + 1), K1 * (1 - B), K1 * B / norm.mean
        return {
            n: most * often / (often + base + by_length * length) if often else 0.0
            for n, often, length in zip(*postings, strict=True)
        }

    def best(self, scored: Scored, k: int, among: Numbers | None = None) -> Ranked:
        pairs = scored.items()
        if among is not None:
            allowed = set(among)
            pairs = [pair for pair in pairs if pair[0] in allowed]
        return nlargest(k, pairs, key=lambda pair: (pair[1], pair[0]))

    def best_of_any(
        self, runs: Sequence[tuple[Run, float]], k: int, norm: Norm, among: Numbers | None
    ) -> Ranked:
        """Rank by MaxScore: once no memory that only holds the runs that are left can be among the best,
        these are read where they have the memories found so far."""
        bounded = [(run.bound(idf), run, idf) for run, idf in runs if run.held_by]
        bounded.sort(key=lambda one: -one[0])
        scores: dict[int, float] = {}
        left = sum(bound for bound, _, _ in bounded)
        last: float | None = None
        for bound, run, idf in bounded:
            if last is None or left >= last - CLOSE:
                postings = run.all() if among is None else self.only(run.all(), among)
                for n, score in self.score(postings, idf, norm).items():
                    scores[n] = scores.get(n, 0.0) + score
            else:
                floor = last - CLOSE - left
                scores = {n: score for n, score in scores.items() if score >= floor}
                _add_to(scores, self.score(run.covering(sorted(scores)), idf, norm))
            left -= bound
            last = nlargest(k, scores.values())[-1] if len(scores) >= k else None
        return self.best(scores, k)

    def complete(
        self, terms: Sequence[Sequence[Run]], runs: Sequence[tuple[Run, float]], norm: Norm
    ) -> Scored:
        numbers = self.numbers_of([run.all() for run in terms[0]])
        for term in terms[1:]:
            if not numbers:
                break
            numbers = self.common(
                numbers, self.numbers_of([run.covering(numbers) for run in term])
            )
        scores = dict.fromkeys(numbers, 0.0)
        for run, idf in runs:
            if run.held_by and numbers:
                _add_to(scores, self.score(run.covering(numbers), idf, norm))
        return scores


def _add_to(scores: dict[int, float], more: dict[int, float]) -> None:
    """Add scores to the memories that are there already."""
    if len(more) < len(scores):
        for n, score in more.items():
            if n in scores:
                scores[n] += score
    else:
        for n in scores:
            if n in more:
                scores[n] += more[n]

"""Runs of tokens: the memories that hold a token, a prefix, or tokens side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.storage.sqlite.postings.arithmetic import Arithmetic, Norm, Numbers, Postings
from scrubjay.storage.sqlite.postings.blocks import Posting, StoredBlock, decode, read_head

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.postings.decoded import Decoded
    from scrubjay.storage.sqlite.postings.lookup import Lookup

_FEW_BLOCKS = 3


class Run:
    """The memories that hold a run of tokens, all of which were read. `latest` are in no segment."""

    decoded: Decoded | None = None  # with numpy: what is in segments

    def __init__(
        self, arithmetic: Arithmetic, postings: Sequence[Postings], latest: Postings, norm: Norm
    ) -> None:
        self._arithmetic = arithmetic
        self._norm = norm
        self._stored = postings
        self._latest = latest
        self.held_by = len(latest.numbers) + sum(len(part.numbers) for part in postings)

    def bound(self, idf: float) -> float:
        """Return a score that no memory exceeds."""
        if not self.held_by:
            return 0.0
        postings = self.all()
        often, shortest = max(postings.often), min(postings.lengths)
        return self._norm.bound(idf, float(often), float(shortest))

    def all(self) -> Postings:
        return self._all

    @cached_property
    def _all(self) -> Postings:
        return self._arithmetic.joined([*self._stored, self._latest])

    def covering(self, numbers: Numbers) -> Postings:
        """Return the postings of these memories, and perhaps of others."""
        return self._all

    @property
    def has_latest(self) -> bool:
        return len(self._latest.numbers) > 0

    def latest_all(self) -> Postings:
        """Return the postings of memories that are in no segment."""
        return self._latest

    def decoded_all(self) -> Postings:
        """Return the postings of memories in segments."""
        return self._arithmetic.joined(self._stored) if self._stored else self._none

    @property
    def _none(self) -> Postings:
        return self._arithmetic.of([], self._norm)


class DecodedRun(Run):
    """The memories that hold one token, decoded into arrays."""

    def __init__(
        self, arithmetic: Arithmetic, decoded: Decoded, latest: Postings, norm: Norm
    ) -> None:
        super().__init__(arithmetic, (), latest, norm)
        self.decoded: Decoded = decoded
        self.held_by += decoded.held_by

    @cached_property
    def _all(self) -> Postings:
        return self._with_latest(self.decoded.postings(self._norm))

    def covering(self, numbers: Numbers) -> Postings:
        return self._with_latest(self.decoded.only(numbers, self._norm))

    def _with_latest(self, postings: Postings) -> Postings:
        if not self.has_latest:
            return postings
        return self._arithmetic.joined([postings, self._latest])


class StoredRun(Run):
    """The memories that hold one token. Blocks are read when they are needed."""

    def __init__(
        self,
        lookup: Lookup,
        token: str,
        blocks: Sequence[tuple[int, StoredBlock]],
        on_pages: Sequence[Posting],
        latest: Sequence[Posting],
    ) -> None:
        read = (*on_pages, *latest)  # these need no further reading
        super().__init__(
            lookup.arithmetic, (), lookup.arithmetic.of(read, lookup.norm), lookup.norm
        )
        self._lookup = lookup
        self._token = token
        self._blocks = list(blocks)
        self._kinds = [counts for _, counts, _ in read]
        self.held_by += sum(block.size for _, block in blocks)

    def bound(self, idf: float) -> float:
        if not self.held_by:
            return 0.0
        kinds = set(self._kinds)
        lengths = list(self._latest.lengths)
        for _, block in self._blocks:
            head = read_head(block.head, block.size)
            kinds.update(head.counts)
            lengths.append(min(decode(block).lengths) if head.shortest is None else head.shortest)
        return self._norm.bound(idf, max(map(self._norm.weigh, kinds)), min(lengths))

    @cached_property
    def _all(self) -> Postings:
        self._read(range(len(self._blocks)))
        return self._decoded(range(len(self._blocks)))

    def covering(self, numbers: Numbers) -> Postings:
        if "_all" in self.__dict__:
            return self._all
        places = self._arithmetic.touched([block for _, block in self._blocks], numbers)
        # The same run is asked up to three times, and all of it is decoded once.
        if len(self._blocks) <= _FEW_BLOCKS or 2 * len(places) > len(self._blocks):
            return self._all
        self._read(places)
        return self._decoded(places)

    def _read(self, places: Collection[int]) -> None:
        """Read the bodies that are still missing."""
        missing = [at for at in places if not self._blocks[at][1].is_read]
        if not missing:
            return
        read = self._lookup.bodies([self._token]) if len(missing) > _FEW_BLOCKS else {}
        for at in missing:
            segment, block = self._blocks[at]
            key = segment, self._token, block.first
            body = read[key] if key in read else self._lookup.body(key)
            self._blocks[at] = segment, block._replace(body=body)

    def _decoded(self, places: Collection[int]) -> Postings:
        blocks = sorted(self._blocks[place][1] for place in places)
        decoded = self._arithmetic.decode(blocks, self._norm)
        return self._arithmetic.joined([decoded, self._latest]) if self.has_latest else decoded

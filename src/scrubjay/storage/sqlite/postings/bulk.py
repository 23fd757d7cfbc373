"""Encoding of many postings at once, with numpy. `pages.py` and `blocks.py` do the same for one token after
the other."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from scrubjay.storage.sqlite.postings import pages, tables
from scrubjay.storage.sqlite.postings.blocks import (
    MAX_POSTINGS,
    SMALL,
    TYPES,
    Counts,
    DamagedBlock,
    StoredBlock,
    encode,
    make_head,
    parts_of,
    read_head,
    type_for,
)
from scrubjay.storage.sqlite.postings.lines import tokens_of
from scrubjay.storage.sqlite.postings.pages import StoredPage
from scrubjay.storage.sqlite.postings.tables import Written

_DTYPES = {kind: np.dtype(f"<u{width}") for kind, width in zip("BHIQ", (1, 2, 4, 8), strict=True)}
_FIELDS = 5
_COUNT_BITS = 12  # five counts fit into one number

Array = np.ndarray[Any, Any]


class Columns(NamedTuple):
    """Postings as arrays, those of one token after those of another; `sizes` has how many each token has,
    and `kinds` places in a list of counts."""

    sizes: Array
    numbers: Array
    kinds: Array
    lengths: Array

    def of(self, tokens: Array) -> Columns:
        """Return the postings of some tokens."""
        if tokens.all():
            return self
        kept = np.repeat(tokens, self.sizes)
        return Columns(self.sizes[tokens], *(column[kept] for column in self[1:]))


def segment_of(rows: Sequence[Sequence[Any]]) -> Written:
    """Return what is written of memories, each given by its number and its lines."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    tokens = array("q")
    sizes = array("q")
    for _, *lines in rows:
        for line in lines:
            held = tokens_of(line)
            tokens.extend(map(ids.__getitem__, held))
            sizes.append(len(held))
    if not tokens:
        return [], []
    names = sorted(ids)
    ranks = np.empty(len(names), np.int64)
    ranks[np.fromiter(map(ids.__getitem__, names), np.int64, len(names))] = np.arange(len(names))
    by_field = np.array(sizes)
    each = ranks[np.array(tokens)] * len(by_field)
    each += np.repeat(np.arange(len(by_field)), by_field)
    each.sort()
    held_at, field = np.divmod(each, _FIELDS)  # which token and memory
    begin = np.flatnonzero(np.diff(held_at, prepend=-1))
    if int(np.diff(begin, append=len(each)).max()) >= 1 << _COUNT_BITS:
        return tables.segment_of(rows)
    counted = np.add.reduceat(np.left_shift(1, _COUNT_BITS * field), begin)
    rank, memory = np.divmod(held_at[begin], len(rows))
    different, kinds = np.unique(counted, return_inverse=True)
    mask = (1 << _COUNT_BITS) - 1
    counts = [
        tuple(value >> _COUNT_BITS * at & mask for at in range(_FIELDS))
        for value in different.tolist()
    ]
    lengths = by_field.reshape(-1, _FIELDS).sum(axis=1)
    numbers = np.array([row[0] for row in rows], np.int64)
    columns = Columns(np.bincount(rank), numbers[memory], kinds, lengths[memory])
    return _written(names, columns, counts, ())


def united(several: Sequence[bytes], apart: Collection[str]) -> Written:
    """Return the postings of pages in new ones; those of many memories, and of some tokens, in blocks."""
    if not several:
        return [], []
    intern: dict[Counts, int] = {}
    tokens: list[str] = []
    sizes = bytearray()
    columns: list[tuple[Array, Array, Array]] = []
    for data in several:
        page = pages.decode(data)
        tokens += page.tokens
        sizes += page.sizes
        known = np.array([intern.setdefault(counts, len(intern)) for counts in page.counts])
        numbers = np.array(page.offsets, np.int64) + page.base
        columns.append((numbers, known[np.array(page.codes)], np.array(page.lengths, np.int64)))
    names = sorted(set(tokens))
    places = {name: place for place, name in enumerate(names)}
    of_token = np.fromiter(map(places.__getitem__, tokens), np.int64, len(tokens))
    rank = np.repeat(of_token, np.frombuffer(sizes, np.uint8))
    numbers, kinds, lengths = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.lexsort((numbers, rank))
    made = Columns(np.bincount(rank), numbers[order], kinds[order], lengths[order])
    return _written(names, made, list(intern), apart)


def _written(
    names: Sequence[str], columns: Columns, counts: Sequence[Counts], apart: Collection[str]
) -> Written:
    """Return pages and blocks of tokens in order."""
    large = columns.sizes > SMALL
    if apart:
        large |= np.fromiter((name in apart for name in names), np.bool_, len(names))
    blocks = _blocks(columns.of(large), counts) if large.any() else []
    of_large = [names[at] for at in np.flatnonzero(large).tolist()]
    made = [(name, block) for name, of in zip(of_large, blocks, strict=True) for block in of]
    of_small = [names[at] for at in np.flatnonzero(~large).tolist()]
    return (_pages(of_small, columns.of(~large), counts) if of_small else []), made


def _pages(names: Sequence[str], columns: Columns, counts: Sequence[Counts]) -> list[StoredPage]:
    sizes, numbers, kinds, lengths = columns
    stops = np.cumsum(sizes)
    wide = int(numbers.max()) - int(numbers.min()) >> 16 > 0
    names_end = np.cumsum(np.fromiter(map(len, names), np.int64, len(names)) + 2)
    in_bytes = names_end + stops * (6 if wide else 4)
    of_page = in_bytes // pages.BYTES
    begin = np.flatnonzero(np.diff(of_page, prepend=-1))
    ends = np.append(begin[1:], len(names))
    packed_sizes = sizes.astype(np.uint8).tobytes()
    made = []
    for first, end, start, stop in zip(
        begin.tolist(),
        ends.tolist(),
        (stops - sizes)[begin].tolist(),
        stops[ends - 1].tolist(),
        strict=True,
    ):
        here = numbers[start:stop]
        base = int(here.min())
        different, codes = np.unique(kinds[start:stop], return_inverse=True)
        packed_codes = b""
        if len(different) > 1:
            packed_codes = codes.astype(_DTYPES[TYPES[type_for(len(different))]]).tobytes()
        made.append(
            pages.assemble(
                names[first:end],
                packed_sizes[first:end],
                base,
                _packed(here - base),
                _packed(lengths[start:stop]),
                packed_codes,
                [counts[kind] for kind in different.tolist()],
            )
        )
    return made


def joined(groups: Sequence[Sequence[StoredBlock]]) -> list[list[StoredBlock]]:
    """Return the postings of each group of blocks in as few blocks as they need."""
    made = []
    for group in groups:
        intern: dict[Counts, int] = {}
        columns: list[tuple[Array, Array, Array]] = []
        for stored in group:
            one = large_columns(stored)
            known = np.array([intern.setdefault(counts, len(intern)) for counts in one.counts])
            columns.append((one.numbers, known[one.codes], one.lengths))
        numbers, kinds, lengths = (np.concatenate(column) for column in zip(*columns, strict=True))
        order = np.argsort(numbers, kind="stable")
        size = np.array([len(order)])
        of = Columns(size, numbers[order], kinds[order], lengths[order])
        made += _blocks(of, list(intern))
    return made


class LargeBlock(NamedTuple):
    """A block as arrays."""

    numbers: Array
    codes: Array
    lengths: Array
    counts: Sequence[Counts]


def large_columns(stored: StoredBlock) -> LargeBlock:
    """Return a block as arrays; for a small one `decode` takes less time."""
    head = read_head(stored.head, stored.size)
    to_lengths, to_codes = parts_of(head, stored)
    size, body = stored.size, stored.body
    numbers = np.empty(size, np.int64)
    numbers[0] = stored.first
    numbers[1:] = np.frombuffer(body, _DTYPES[head.gaps], size - 1)
    np.cumsum(numbers, out=numbers)
    if numbers[-1] != stored.last:
        raise DamagedBlock("the numbers of a block are wrong")
    codes: Array = np.zeros(size, np.uint8)
    if head.codes:
        codes = np.frombuffer(body, _DTYPES[head.codes], size, to_codes)
        if int(codes.max()) >= len(head.counts):
            raise DamagedBlock("a block refers to counts that it does not have")
    lengths = np.frombuffer(body, _DTYPES[head.lengths], size, to_lengths)
    return LargeBlock(numbers, codes, lengths, head.counts)


def _blocks(columns: Columns, counts: Sequence[Counts]) -> list[list[StoredBlock]]:
    """Return the blocks of each token."""
    stops = np.cumsum(columns.sizes)
    return [
        [
            _encode(columns, counts, at, min(at + MAX_POSTINGS, stop))
            for at in range(start, stop, MAX_POSTINGS)
        ]
        for start, stop in zip((stops - columns.sizes).tolist(), stops.tolist(), strict=True)
    ]


def _encode(columns: Columns, counts: Sequence[Counts], start: int, stop: int) -> StoredBlock:
    numbers, kinds, lengths = (column[start:stop] for column in columns[1:])
    size = stop - start
    if size <= SMALL:
        of_each = map(counts.__getitem__, kinds.tolist())
        return encode(list(zip(numbers.tolist(), of_each, lengths.tolist(), strict=True)))
    here, codes = np.unique(kinds, return_inverse=True)
    gap_type, gaps = _packed(np.diff(numbers))
    length_type, long = _packed(lengths)
    body = gaps + long
    if len(here) > 1:
        body += codes.astype(_DTYPES[TYPES[type_for(len(here))]]).tobytes()
    of = [counts[kind] for kind in here.tolist()]
    first = int(numbers[0])
    head = make_head(gap_type, length_type, of, body, size, int(lengths.min()))
    return StoredBlock(first, int(numbers[-1]) - first, size, head, body)


def _packed(values: Array) -> tuple[int, bytes]:
    kind = type_for(int(values.max(initial=0)))
    return kind, values.astype(_DTYPES[TYPES[kind]]).tobytes()

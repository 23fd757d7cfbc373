"""Blocks of postings: which memories hold a token, how often in each field, and how long these are.

A block has up to MAX_POSTINGS memories, in the order of their numbers. Numbers are stored as gaps, in as
many bytes as the largest needs; after these come the lengths, and where counts differ a code for each
memory's. All numbers of a kind have the same width, so numpy reads a block without a loop, and `array` does
where numpy is not loaded.

The head says how wide these are, and lists the different counts. Most tokens are in few memories, once, in
one field: that takes one byte, and none where it is the text.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import sub
from typing import NamedTuple
from zlib import crc32

MAX_POSTINGS = (
    480  # four or five blocks fill a page of the file; a larger row would not stay in one
)
SMALL = 64  # postings: up to this number a block has no checksum, and is read at once
FIELD_COUNT = 5
# Of a large block, after its widths: checksum of the body, and smallest length (or the largest that fits).
_LARGE = struct.Struct("<II")
_MOST_SHORTEST = (1 << 32) - 1
TYPES = "BHIQ"
WIDTHS = (1, 2, 4, 8)
_SEVERAL = 15  # instead of a place in _ONCE: the counts follow

Counts = tuple[int, ...]  # of a token, by field
Posting = tuple[int, Counts, int]  # a memory's number, counts, and the number of its tokens

# Once, in one field; that which is the most frequent first.
_ONCE: tuple[Counts, ...] = tuple(
    tuple(int(at == field) for at in range(FIELD_COUNT)) for field in (1, 0, 2, 3, 4)
)
_ONCE_AT = {counts: at for at, counts in enumerate(_ONCE)}


class DamagedBlock(ValueError):
    """A block is not what was written."""


class StoredBlock(NamedTuple):
    """A block as it is stored: the first memory, how far from it the last is, how many there are, and the
    bytes."""

    first: int
    span: int
    size: int
    head: bytes
    body: bytes

    @property
    def last(self) -> int:
        return self.first + self.span

    @property
    def is_read(self) -> bool:
        """False where a search has only read the head."""
        return self.body is not None


class Block(NamedTuple):
    """A block: numbers of memories, the index of each one's counts, and the length of each."""

    numbers: list[int]
    codes: Sequence[int]
    lengths: Sequence[int]
    counts: Sequence[Counts]

    @property
    def postings(self) -> list[Posting]:
        counts = map(self.counts.__getitem__, self.codes)
        return list(zip(self.numbers, counts, self.lengths, strict=True))


class Head(NamedTuple):
    """The head of a block: the type of the numbers of each kind, and the counts that occur. Small blocks
    have neither a checksum nor the smallest length."""

    gaps: str
    lengths: str
    codes: str  # empty where all have the same counts
    counts: Sequence[Counts]
    checksum: int | None
    shortest: int | None


def encode(postings: Sequence[Posting]) -> StoredBlock:
    """Return a block of postings, each a number, counts by field and the length of the memory."""
    numbers, counts, lengths = zip(*postings, strict=True)
    kinds = list(dict.fromkeys(counts))
    gaps = list(map(sub, numbers[1:], numbers))
    widths = type_for(max(gaps, default=0)), type_for(max(lengths))
    body = packed(widths[0], gaps) + packed(widths[1], lengths)
    if len(kinds) > 1:
        codes = {each: code for code, each in enumerate(kinds)}
        body += packed(type_for(len(kinds)), list(map(codes.__getitem__, counts)))
    head = make_head(*widths, kinds, body, len(numbers), min(lengths))
    return StoredBlock(numbers[0], numbers[-1] - numbers[0], len(numbers), head, body)


def make_head(
    gap_type: int, length_type: int, kinds: Sequence[Counts], body: bytes, size: int, shortest: int
) -> bytes:
    head = _small_head(gap_type, length_type, tuple(kinds))
    if size <= SMALL:
        return head
    widths, rest = head[:1] or b"\0", head[1:]
    return widths + _LARGE.pack(crc32(body), min(shortest, _MOST_SHORTEST)) + rest


@lru_cache(maxsize=1024)
def _small_head(gap_type: int, length_type: int, kinds: tuple[Counts, ...]) -> bytes:
    once = _ONCE_AT.get(kinds[0], _SEVERAL) if len(kinds) == 1 else _SEVERAL
    widths = gap_type | length_type << 2 | once << 4
    if once != _SEVERAL:
        return bytes((widths,)) if widths else b""
    return bytes((widths,)) + b"".join(map(pack_counts, kinds))


def pack_counts(counts: Counts) -> bytes:
    """Return which fields have a token, and how often they do, in seven bits of each byte."""
    made = bytearray([sum(1 << at for at, count in enumerate(counts) if count)])
    for count in filter(None, counts):
        while count >= 0x80:
            made.append(count & 0x7F | 0x80)
            count >>= 7
        made.append(count)
    return bytes(made)


@lru_cache(maxsize=1024)
def unpack_counts(data: bytes) -> Sequence[Counts]:
    """Return all counts that were packed one after the other."""
    values = iter(data)
    found: list[Counts] = []
    for fields in values:
        if fields >> FIELD_COUNT:
            raise DamagedBlock("a block has counts of a field that does not exist")
        counts = [0] * FIELD_COUNT
        for at in range(FIELD_COUNT):
            shift, more = 0, fields >> at & 1
            while more:
                byte = next(values, None)
                if byte is None:
                    raise DamagedBlock("the head of a block is cut off")
                counts[at] |= (byte & 0x7F) << shift
                shift, more = shift + 7, byte >> 7
        found.append(tuple(counts))
    return tuple(found)


def blocks_of(postings: Sequence[Posting]) -> list[StoredBlock]:
    """Return as many blocks as postings need."""
    return [
        encode(postings[start : start + MAX_POSTINGS])
        for start in range(0, len(postings), MAX_POSTINGS)
    ]


@lru_cache(maxsize=4096)
def read_head(head: bytes, size: int) -> Head:
    widths = head[0] if head else 0
    checksum = shortest = None
    rest = head[1:]
    if size > SMALL:
        if len(head) < 1 + _LARGE.size:
            raise DamagedBlock("the head of a block is cut off")
        checksum, shortest = _LARGE.unpack_from(head, 1)
        rest = head[1 + _LARGE.size :]
    once = widths >> 4
    if once != _SEVERAL:
        if once >= len(_ONCE) or rest:
            raise DamagedBlock("the head of a block contradicts itself")
        counts: Sequence[Counts] = _ONCE[once : once + 1]
    else:
        counts = unpack_counts(rest)
        if not 0 < len(counts) <= size:
            raise DamagedBlock("the head of a block contradicts itself")
    return Head(
        TYPES[widths & 3],
        TYPES[widths >> 2 & 3],
        TYPES[type_for(len(counts))] if len(counts) > 1 else "",
        counts,
        checksum,
        shortest,
    )


def parts_of(head: Head, stored: StoredBlock) -> tuple[int, int]:
    """Return where the lengths of a block begin, and where its codes do; check its size and checksum."""
    lengths = (stored.size - 1) * _width(head.gaps)
    codes = lengths + stored.size * _width(head.lengths)
    if len(stored.body) != codes + stored.size * _width(head.codes):
        raise DamagedBlock("a block does not have its size")
    if head.checksum is not None and crc32(stored.body) != head.checksum:
        raise DamagedBlock("the checksum of a block is wrong")
    return lengths, codes


def decode(stored: StoredBlock) -> Block:
    """Return what a block contains."""
    first, span, count, packed_head, body = stored
    if count == 1 and len(body) == 1 and not packed_head and not span:  # most blocks are such
        return Block([first], b"\0", body, _ONCE)
    head = read_head(packed_head, count)
    lengths, codes = parts_of(head, stored)
    gaps = unpacked(head.gaps, body[:lengths])
    numbers = list(accumulate(gaps, initial=first))
    if numbers[-1] != first + span:
        raise DamagedBlock("the numbers of a block are wrong")
    coded: Sequence[int] = bytes(count)
    if head.codes:
        coded = unpacked(head.codes, body[codes:])
        if max(coded) >= len(head.counts):
            raise DamagedBlock("a block refers to counts that it does not have")
    return Block(numbers, coded, unpacked(head.lengths, body[lengths:codes]), head.counts)


def without(stored: StoredBlock, gone: Collection[int]) -> list[StoredBlock]:
    """Return a block without some memories; the block itself if it has none of them."""
    if stored.size == 1:
        decode(stored)
        return [] if stored.first in gone else [stored]
    if len(gone) == 1 and (cut := _without_one(stored, next(iter(gone)))) is not None:
        return [cut]
    postings = decode(stored).postings
    left = [posting for posting in postings if posting[0] not in gone]
    if len(left) == len(postings):
        return [stored]
    return blocks_of(left)


def _without_one(stored: StoredBlock, number: int) -> StoredBlock | None:
    """Cut one memory out of the bytes, which takes a tenth of the time; None if that cannot be done."""
    head = read_head(stored.head, stored.size)
    body, size = stored.body, stored.size
    lengths, codes = parts_of(head, stored)
    gaps = unpacked(head.gaps, body[:lengths])
    numbers = list(accumulate(gaps, initial=stored.first))
    if numbers[-1] != stored.last:
        raise DamagedBlock("the numbers of a block are wrong")
    at = bisect_left(numbers, number)
    if at == size or numbers[at] != number:
        return stored
    if size == SMALL + 1:
        return None  # its head loses the checksum
    if 0 < at < size - 1:
        joined = gaps[at - 1] + gaps[at]
        if joined >= 1 << 8 * _width(head.gaps):
            return None
        gaps[at] = joined
    del gaps[max(at - 1, 0)], numbers[at]
    if len(head.counts) > len(numbers):
        return None
    of_length, of_code = _width(head.lengths), _width(head.codes)
    cut = (
        packed(TYPES.index(head.gaps), gaps)
        + body[lengths : lengths + at * of_length]
        + body[lengths + (at + 1) * of_length : codes + at * of_code]
        + body[codes + (at + 1) * of_code :]
    )
    made = stored.head
    if head.shortest is not None:
        made = made[:1] + _LARGE.pack(crc32(cut), head.shortest) + made[1 + _LARGE.size :]
    return StoredBlock(numbers[0], numbers[-1] - numbers[0], size - 1, made, cut)


def _width(kind: str) -> int:
    return WIDTHS[TYPES.index(kind)] if kind else 0


def type_for(most: int) -> int:
    return 0 if most < 1 << 8 else 1 if most < 1 << 16 else 2 if most < 1 << 32 else 3


def packed(kind: int, values: Sequence[int]) -> bytes:
    made = array(TYPES[kind], values)
    if sys.byteorder == "big":
        made.byteswap()
    return made.tobytes()


def unpacked(kind: str, data: bytes) -> array[int]:
    if kind == "B":
        return array(kind, data)
    values = array(kind)
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values

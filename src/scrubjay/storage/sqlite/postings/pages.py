"""Pages: the postings of many tokens, each of which few memories of a segment hold.

Nearly every token is such. A row for each took most of the file, and most of the time of writing it. A page
has the tokens in order and the number of postings of each, then the columns of a block for all of them:
numbers, lengths, and codes of counts. Numbers are counted from the smallest one of the page.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

from scrubjay.storage.sqlite.postings.blocks import (
    SMALL,
    TYPES,
    WIDTHS,
    Counts,
    DamagedBlock,
    Posting,
    StoredBlock,
    blocks_of,
    pack_counts,
    packed,
    type_for,
    unpack_counts,
    unpacked,
)

BYTES = 1800  # of a page, about: a larger row would not stay in one page of the file
# Checksum, number of tokens, bytes of counts and of tokens, smallest number, types of numbers and lengths.
_HEAD = struct.Struct("<IHHIQBB")
_CHECKSUM = struct.Struct("<I")
_OF_POSTING = 5  # bytes, with numbers of two or three
_END = b"\n"  # of a token, which contains no control characters

Held = tuple[str, list[Posting]]  # a token with its postings


class StoredPage(NamedTuple):
    """A page as it is stored, with its first token."""

    token: str
    data: bytes


class Page(NamedTuple):
    """The columns of a page."""

    tokens: list[str]
    sizes: bytes
    base: int
    offsets: array[int]
    lengths: array[int]
    codes: array[int]
    counts: Sequence[Counts]

    def postings(self) -> Iterator[Held]:
        start = 0
        for token, size in zip(self.tokens, self.sizes, strict=True):
            stop = start + size
            yield (
                token,
                [
                    (self.base + offset, self.counts[code], length)
                    for offset, code, length in zip(
                        self.offsets[start:stop],
                        self.codes[start:stop],
                        self.lengths[start:stop],
                        strict=True,
                    )
                ],
            )
            start = stop


class _Layout(NamedTuple):
    """Where the parts of a page begin, and what its head says."""

    size: int  # tokens
    counts: Sequence[Counts]
    base: int
    number_type: int
    length_type: int
    sizes: int
    tokens: int
    columns: int


def split(
    tokens: Sequence[Held], apart: Collection[str]
) -> tuple[list[StoredPage], list[tuple[str, StoredBlock]]]:
    """Return the pages of tokens in order, and blocks for those that many memories hold, and for some
    tokens."""
    pages: list[StoredPage] = []
    blocks: list[tuple[str, StoredBlock]] = []
    waiting: list[Held] = []
    size = 0
    for token, postings in tokens:
        if len(postings) > SMALL or token in apart:
            blocks += [(token, block) for block in blocks_of(postings)]
            continue
        waiting.append((token, postings))
        size += len(token) + 2 + _OF_POSTING * len(postings)
        if size >= BYTES:
            pages.append(encode(waiting))
            waiting, size = [], 0
    if waiting:
        pages.append(encode(waiting))
    return pages, blocks


def encode(tokens: Sequence[Held]) -> StoredPage:
    """Return a page of tokens in order."""
    postings = [one for _, of_token in tokens for one in of_token]
    numbers, counts, lengths = zip(*postings, strict=True)
    base = min(numbers)
    kinds = {each: code for code, each in enumerate(dict.fromkeys(counts))}
    return assemble(
        [token for token, _ in tokens],
        bytes(len(of_token) for _, of_token in tokens),
        base,
        _column([n - base for n in numbers]),
        _column(lengths),
        packed(type_for(len(kinds)), [kinds[each] for each in counts]) if len(kinds) > 1 else b"",
        list(kinds),
    )


def assemble(
    tokens: Sequence[str],
    sizes: bytes,
    base: int,
    numbers: tuple[int, bytes],
    lengths: tuple[int, bytes],
    codes: bytes,
    counts: Sequence[Counts],
) -> StoredPage:
    """Return a page of columns, each with its type."""
    kinds = b"".join(map(pack_counts, counts))
    names = _END + "\n".join(tokens).encode() + _END
    made = _HEAD.pack(
        0, len(tokens), len(kinds), len(names), base, numbers[0], lengths[0]
    ) + b"".join((kinds, sizes, names, numbers[1], lengths[1], codes))
    checksum = crc32(memoryview(made)[_CHECKSUM.size :])
    return StoredPage(tokens[0], _CHECKSUM.pack(checksum) + made[_CHECKSUM.size :])


def parts(stored: StoredPage, token: str) -> list[StoredPage]:
    """Return a page as two: the tokens before one, and the others; only one if all are on one side."""
    tokens = list(decode(stored.data).postings())
    before = [one for one in tokens if one[0] < token]
    return [encode(part) for part in (before, tokens[len(before) :]) if part]


def find(data: bytes, token: str) -> list[Posting]:
    """Return the postings of one token; none if the page does not have it."""
    layout = _layout(data)
    _check(data)
    at = data.find(_END + token.encode() + _END, layout.tokens, layout.columns)
    if at < 0:
        return []
    place = data.count(_END, layout.tokens, at)
    start = sum(data[layout.sizes : layout.sizes + place])
    stop = start + data[layout.sizes + place]
    offsets, lengths, codes = _columns(data, layout)
    width, long = WIDTHS[layout.number_type], WIDTHS[layout.length_type]
    numbers = unpacked(TYPES[layout.number_type], offsets[start * width : stop * width])
    of_lengths = unpacked(TYPES[layout.length_type], lengths[start * long : stop * long])
    coded: Sequence[int] = bytes(stop - start)
    if codes:
        wide = len(codes) // (len(offsets) // width)
        coded = unpacked(TYPES[wide - 1], codes[start * wide : stop * wide])
    try:
        return [
            (layout.base + n, layout.counts[code], length)
            for n, code, length in zip(numbers, coded, of_lengths, strict=True)
        ]
    except IndexError as error:
        raise DamagedBlock("a page refers to counts that it does not have") from error


def decode(data: bytes) -> Page:
    """Return all of a page."""
    layout = _layout(data)
    _check(data)
    sizes = data[layout.sizes : layout.tokens]
    tokens = data[layout.tokens + 1 : layout.columns - 1].decode().split("\n")
    offsets, lengths, codes = _columns(data, layout)
    if len(tokens) != layout.size:
        raise DamagedBlock("a page does not have its tokens")
    coded = array("B", bytes(sum(sizes)))
    if codes:
        coded = unpacked(TYPES[type_for(len(layout.counts))], codes)
    return Page(
        tokens,
        sizes,
        layout.base,
        unpacked(TYPES[layout.number_type], offsets),
        unpacked(TYPES[layout.length_type], lengths),
        coded,
        layout.counts,
    )


def without(stored: StoredPage, gone: Mapping[str, Collection[int]]) -> StoredPage | None:
    """Return a page without some memories of some tokens; None if nothing is left. A token that no memory
    holds any more is gone, too."""
    page = decode(stored.data)
    sizes = bytearray(page.sizes)
    starts = list(accumulate(sizes, initial=0))
    cut: list[int] = []
    for token, numbers in gone.items():
        try:
            place = page.tokens.index(token)
        except ValueError:
            continue
        for at in range(starts[place], starts[place + 1]):
            if page.base + page.offsets[at] in numbers:
                cut.append(at)
                sizes[place] -= 1
    if not cut:
        return stored
    for at in sorted(cut, reverse=True):
        del page.offsets[at], page.lengths[at], page.codes[at]
    tokens = page.tokens
    if 0 in sizes:
        tokens = [token for token, size in zip(tokens, sizes, strict=True) if size]
        sizes = bytearray(filter(None, sizes))
    if not tokens:
        return None
    return assemble(
        tokens,
        bytes(sizes),
        page.base,
        (TYPES.index(page.offsets.typecode), _bytes(page.offsets)),
        (TYPES.index(page.lengths.typecode), _bytes(page.lengths)),
        _bytes(page.codes) if len(page.counts) > 1 else b"",
        page.counts,
    )


def _bytes(values: array[int]) -> bytes:
    return packed(TYPES.index(values.typecode), values)


def _column(values: Sequence[int]) -> tuple[int, bytes]:
    kind = type_for(max(values))
    return kind, packed(kind, values)


def _layout(data: bytes) -> _Layout:
    try:
        _, count, kinds, names, base, number_type, length_type = _HEAD.unpack_from(data)
    except struct.error as error:
        raise DamagedBlock("a page is cut off") from error
    sizes = _HEAD.size + kinds
    tokens = sizes + count
    columns = tokens + names
    if number_type >= len(WIDTHS) or length_type >= len(WIDTHS) or columns > len(data):
        raise DamagedBlock("the head of a page contradicts itself")
    counts = unpack_counts(data[_HEAD.size : sizes])
    return _Layout(count, counts, base, number_type, length_type, sizes, tokens, columns)


def _columns(data: bytes, layout: _Layout) -> tuple[bytes, bytes, bytes]:
    count = sum(data[layout.sizes : layout.tokens])
    lengths = layout.columns + count * WIDTHS[layout.number_type]
    codes = lengths + count * WIDTHS[layout.length_type]
    wide = WIDTHS[type_for(len(layout.counts))] if len(layout.counts) > 1 else 0
    if not count or not layout.counts or len(data) != codes + count * wide:
        raise DamagedBlock("a page does not have its size")
    return data[layout.columns : lengths], data[lengths:codes], data[codes:]


def _check(data: bytes) -> None:
    (checksum,) = _CHECKSUM.unpack_from(data)
    if crc32(memoryview(data)[_CHECKSUM.size :]) != checksum:
        raise DamagedBlock("the checksum of a page is wrong")

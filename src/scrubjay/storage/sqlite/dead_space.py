"""Space in the pages of an SQLite file that holds nothing, and what was left in it.

`PRAGMA secure_delete` overwrites a row where it is. When SQLite moves rows between neighboring pages,
it leaves copies behind where they were, between the list of rows and the first row; no statement
reaches these. A page is recognized by its first byte: the other kinds of page begin with a page number, and
that byte of it is less than 2 in a file of up to 2**25 pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scrubjay.errors import StoreError
from scrubjay.storage.sqlite.raw_file import RawFile

_MAX_PAGES = 1 << 25
_FILE_HEADER_BYTES = 100  # on the first page
_INTERIOR = (2, 5)  # pages that refer to others; their header has four more bytes
_LEAVES = (10, 13)
_CHUNK_BYTES = 1 << 20  # a multiple of every size of a page
# SQLite locks bytes of the page that begins here, and has nothing else on it. Windows refuses to read
# what another program has locked.
_LOCKED_AT = 1 << 30


class _Layout(NamedTuple):
    """The size of a page, and how much of it SQLite uses."""

    page_bytes: int
    usable_bytes: int


def dirty_pages(file: RawFile, numbers: Iterable[int] | None = None) -> Iterator[int]:
    """Yield the pages with something in their dead space: of these, or of the whole file."""
    layout = _layout(file)
    zeros = bytes(layout.page_bytes)
    for number, page in (
        _all_pages(file, layout) if numbers is None else _pages(file, layout, numbers)
    ):
        ranges = dead_ranges(page, layout.usable_bytes, _header_bytes(number))
        if any(page[first:stop] != zeros[: stop - first] for first, stop in ranges):
            yield number


def overwrite(file: RawFile, numbers: Iterable[int]) -> None:
    """Write zeros to the dead space of pages. No one may write the file meanwhile."""
    layout = _layout(file)
    for number, page in _pages(file, layout, numbers):
        for first, stop in dead_ranges(page, layout.usable_bytes, _header_bytes(number)):
            if any(page[first:stop]):
                file.write((number - 1) * layout.page_bytes + first, bytes(stop - first))


def _layout(file: RawFile) -> _Layout:
    header = file.read(0, _FILE_HEADER_BYTES)
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    if page_bytes < 512 or file.size >= _MAX_PAGES * page_bytes:
        raise StoreError("the kinds of pages in this file are not known")
    if any(header[52:56]):  # it vacuums itself: some pages list the kinds of others
        raise StoreError("a file with auto_vacuum cannot be searched for deleted text")
    return _Layout(page_bytes, page_bytes - header[20])


def _all_pages(file: RawFile, layout: _Layout) -> Iterator[tuple[int, bytes]]:
    size, number = layout.page_bytes, 1
    while (start := (number - 1) * size) + size <= file.size:
        if start == _LOCKED_AT:
            number += 1
            continue
        chunk = file.read(start, _CHUNK_BYTES)
        for at in range(0, len(chunk) - size + 1, size):
            yield number, chunk[at : at + size]
            number += 1


def _pages(file: RawFile, layout: _Layout, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    size = layout.page_bytes
    for number in sorted(numbers):
        page = file.read((number - 1) * size, size)
        if len(page) == size:
            yield number, page


def dead_ranges(page: bytes, usable: int, header: int = 0) -> list[tuple[int, int]]:
    """Return where a page of a table or index holds nothing; nothing for a page that is damaged."""
    kind = page[header]
    if kind not in _LEAVES and kind not in _INTERIOR:
        return []
    rows = _number(page, header + 3)
    content = _number(page, header + 5) or 65536
    first = header + (12 if kind in _INTERIOR else 8) + 2 * rows
    if not first <= content <= usable:
        return []
    ranges = [(first, content)]
    before, block = content - 1, _number(page, header + 1)
    while block:
        if not before < block <= usable - 4:
            return []
        after, size = _number(page, block), _number(page, block + 2)
        if size < 4 or block + size > usable:
            return []
        ranges.append((block + 4, block + size))
        before, block = block + size - 1, after
    return ranges


def _header_bytes(number: int) -> int:
    return _FILE_HEADER_BYTES if number == 1 else 0


def _number(page: bytes, at: int) -> int:
    return page[at] << 8 | page[at + 1]

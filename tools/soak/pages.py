"""Where the rows of a table lie in an SQLite file: the pages of each, and those of an index.

The format is fixed (https://www.sqlite.org/fileformat2.html). The file must be whole, and without a log.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

HEADER_BYTES = 100  # at the beginning of the first page
TABLE_INTERIOR, TABLE_LEAF, INDEX_INTERIOR = 0x05, 0x0D, 0x02


class Pages:
    """The pages of one file."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        (self.size,) = struct.unpack_from(">H", self._data, 16)
        with closing(sqlite3.connect(path)) as db:
            rows = db.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0")
            self._roots = dict(rows.fetchall())

    def of_rows(self, table: str) -> dict[int, frozenset[int]]:
        """Return the pages of each row by its number: the one that lists it, and those it runs on to."""
        found: dict[int, frozenset[int]] = {}
        for number in self.of_tree(table):
            page, kind, places = self._cells(number)
            if kind != TABLE_LEAF:
                continue
            for place in places:
                length, at = varint(page, place)
                row, at = varint(page, at)
                found[row] = frozenset({number, *self._overflow(page, at, length)})
        return found

    def of_tree(self, name: str) -> Iterator[int]:
        """Yield the pages of a table or an index, without those that rows run on to."""
        waiting = [self._roots[name]]
        while waiting:
            number = waiting.pop()
            yield number
            page, kind, places = self._cells(number)
            if kind in (TABLE_INTERIOR, INDEX_INTERIOR):
                start = HEADER_BYTES if number == 1 else 0
                waiting += [struct.unpack_from(">I", page, place)[0] for place in places]
                waiting += struct.unpack_from(">I", page, start + 8)

    def _cells(self, number: int) -> tuple[bytes, int, tuple[int, ...]]:
        page = self._data[(number - 1) * self.size : number * self.size]
        start = HEADER_BYTES if number == 1 else 0
        kind = page[start]
        (count,) = struct.unpack_from(">H", page, start + 3)
        first = start + (12 if kind in (TABLE_INTERIOR, INDEX_INTERIOR) else 8)
        return page, kind, struct.unpack_from(f">{count}H", page, first)

    def _overflow(self, page: bytes, at: int, length: int) -> Iterator[int]:
        most = self.size - 35
        if length <= most:
            return
        least = (self.size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.size - 4)
        here = here if here <= most else least
        (number,) = struct.unpack_from(">I", page, at + here)
        while number:
            yield number
            (number,) = struct.unpack_from(">I", self._data, (number - 1) * self.size)


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and the place after it."""
    number = 0
    for place in range(at, at + 8):
        number = number << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return number, place + 1
    return number << 8 | data[at + 8], at + 9

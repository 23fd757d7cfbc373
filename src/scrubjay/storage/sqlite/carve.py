"""Read memories out of the pages of a file, without its tables of contents.

When a page that leads to others is damaged, SQLite cannot reach rows that are still there. Every page that
holds rows says so itself, and the format of a row is fixed (https://www.sqlite.org/fileformat2.html), so
each page is read alone. Only rows that a page lists are read: deleted ones are not found again.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

_MAGIC = b"SQLite format 3\0"
_PAGE_SIZE = 8192  # of every store; the header of the file says so too, where it can be read
_LEAF = 0x0D  # a page with rows of a table
_HEADER_BYTES = 100  # at the beginning of the first page
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_FRAME_BYTES = 24  # before each page in the log
_LOG_BYTES = 32
_MAX_ROW_BYTES = 1 << 30
_MAX_PAGES = 1 << 26  # half a terabyte; a damaged number is likely to be larger

Carved = tuple[int, list[Any]]


class CarvedFile:
    """The pages of a file, with those of its log in their place. The file stays open until `close`:
    closing it releases the locks that this process has on it."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115
        self._bytes = self._file.read()
        self.size = _page_size(self._bytes)
        self._logged = _pages_in_log(f"{path}-wal", self.size)
        in_file = -(-len(self._bytes) // self.size)
        self.count = max(in_file, max(self._logged, default=0))

    def close(self) -> None:
        self._file.close()

    def length_in_header(self) -> int:
        """Return the length that the file says it has; 0 where it does not say it."""
        header = self[1] if self.count else b""
        if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
            return 0
        (pages,) = struct.unpack_from(">I", header, 28)
        return pages * self.size if pages <= _MAX_PAGES else 0

    def rows(self, columns: range) -> Iterator[Carved]:
        """Yield rowid and values of every row whose number of columns is in a range."""
        for number in range(1, self.count + 1):
            try:
                yield from _rows_on(self, number, columns)
            except (IndexError, struct.error):
                continue  # a page that is cut off

    def __getitem__(self, number: int) -> bytes:
        if number in self._logged:
            return self._logged[number]
        return self._bytes[(number - 1) * self.size : number * self.size]


def _page_size(file: bytes) -> int:
    if not file.startswith(_MAGIC):
        return _PAGE_SIZE
    (size,) = struct.unpack_from(">H", file, 16)
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else _PAGE_SIZE


def _pages_in_log(path: str, size: int) -> dict[int, bytes]:
    """Return the last committed version of each page in a log; nothing of another file's log."""
    if not os.path.isfile(path):
        return {}
    with open(path, "rb") as file:
        log = file.read()
    if len(log) < _LOG_BYTES or struct.unpack_from(">I", log, 8)[0] != size:
        return {}
    salts = log[16:24]
    committed: dict[int, bytes] = {}
    open_: dict[int, bytes] = {}
    for start in range(_LOG_BYTES, len(log) - _FRAME_BYTES - size + 1, _FRAME_BYTES + size):
        number, pages = struct.unpack_from(">II", log, start)
        if log[start + 8 : start + 16] != salts:
            break  # the rest is of an earlier round
        open_[number] = log[start + _FRAME_BYTES : start + _FRAME_BYTES + size]
        if pages:  # the last frame of a commit
            committed |= open_
            open_ = {}
    return committed


def _rows_on(pages: CarvedFile, number: int, columns: range) -> Iterator[Carved]:
    page = pages[number]
    start = _HEADER_BYTES if number == 1 else 0
    if page[start] != _LEAF:
        return
    (cells,) = struct.unpack_from(">H", page, start + 3)
    if start + 8 + 2 * cells > len(page):
        return
    for place in struct.unpack_from(f">{cells}H", page, start + 8):
        try:
            row = _row_at(pages, page, place, columns)
        except (IndexError, ValueError, struct.error):
            continue  # a damaged row; the others have places of their own
        if row is not None:
            yield row


def _row_at(pages: CarvedFile, page: bytes, place: int, columns: range) -> Carved | None:
    length, place = _varint(page, place)
    rowid, place = _varint(page, place)
    if not 0 < length <= _MAX_ROW_BYTES:
        return None
    payload = _payload(pages, page, place, length)
    header, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < header:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if len(kinds) not in columns:
        return None
    return _signed(rowid), _values(payload, header, kinds)


def _payload(pages: CarvedFile, page: bytes, place: int, length: int) -> bytes:
    """Return the bytes of a row: those on its page, and those on the pages that follow."""
    most = pages.size - 35
    if length <= most:
        return _exactly(page[place : place + length], length)
    least = (pages.size - 12) * 32 // 255 - 23
    here = least + (length - least) % (pages.size - 4)
    here = here if here <= most else least
    parts = [page[place : place + here]]
    (following,) = struct.unpack_from(">I", page, place + here)
    left, seen = length - here, set[int]()
    while left > 0 and following not in seen and 0 < following <= pages.count:
        seen.add(following)
        more = pages[following]
        parts.append(more[4 : 4 + left])
        left -= len(parts[-1])
        (following,) = struct.unpack_from(">I", more, 0)
    return _exactly(b"".join(parts), length)


def _exactly(found: bytes, length: int) -> bytes:
    if len(found) != length:
        raise ValueError("the row is cut off")
    return found


def _values(payload: bytes, at: int, kinds: list[int]) -> list[Any]:
    values: list[Any] = []
    for kind in kinds:
        if kind in (0, 8, 9):  # NULL, 0, 1
            values.append(None if kind == 0 else kind - 8)
            continue
        if kind in (10, 11):
            raise ValueError("a kind of value that SQLite does not use")
        size = _INTEGER_BYTES.get(kind, 8 if kind == 7 else (kind - 12) // 2)
        stored = _exactly(payload[at : at + size], size)
        at += size
        if kind == 7:
            values.append(struct.unpack(">d", stored)[0])
        elif kind < 7:
            values.append(int.from_bytes(stored, "big", signed=True))
        elif kind % 2:
            values.append(_text(stored))
        else:
            values.append(stored)
    return values


def _text(stored: bytes) -> str | bytes:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for place in range(8):
        byte = data[at + place]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + place + 1
    return number << 8 | data[at + 8], at + 9


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number

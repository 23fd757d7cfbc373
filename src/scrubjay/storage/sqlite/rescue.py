"""Read what can be read of a damaged file, row by row.

A damaged page ends a whole statement. So a table is read in ranges of its numbers: a range that fails is
read in halves, until only the numbers on the damaged page are left.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrubjay.storage.sqlite.carve import CarvedFile
from scrubjay.storage.sqlite.connection import TolerantConnection

_RANGE = 512
# SQLite quotes what it cannot parse, and Python cannot decode that.
DAMAGE = (sqlite3.Error, UnicodeDecodeError)

Row = dict[str, Any]


class DamagedFile:
    """A damaged file, opened for reading. `lost` counts, by table, the ranges that could not be read.

    Of a file that was cut off, SQLite reads nothing. With zeros in place of the missing pages it reads all
    others, so a copy gets those; it is deleted by `close`.
    """

    def __init__(self, path: str, pages: CarvedFile) -> None:
        self.path = path
        self.lost: dict[str, int] = {}
        self._padded = _padded(path, pages)
        uri = f"{Path(self._padded or path).absolute().as_uri()}?mode=ro"
        self._db = sqlite3.connect(uri, uri=True, isolation_level=None, factory=TolerantConnection)

    def close(self) -> None:
        self._db.close()
        for suffix in ("", "-wal", "-shm") if self._padded else ():
            with suppress(FileNotFoundError):
                os.unlink(f"{self._padded}{suffix}")

    def columns(self, table: str) -> list[str]:
        """Return the columns of a table; none where the list of tables is damaged."""
        try:
            return [row[1] for row in self._db.execute(f"PRAGMA table_info({table})").fetchall()]
        except DAMAGE:
            return []

    def value(self, statement: str) -> Any:
        """Return one value; None where it cannot be read."""
        try:
            row = self._db.execute(statement).fetchone()
        except DAMAGE:
            return None
        return None if row is None else row[0]

    def numbered(self, table: str, columns: Sequence[str]) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a table that has row numbers, with their numbers."""
        known = self.columns(table)
        wanted = [column for column in columns if column in known]
        if not wanted:
            self._lose(table)
            return
        statement = f"SELECT rowid, {', '.join(wanted)} FROM {table} WHERE rowid BETWEEN ? AND ?"
        first, last = self._ends(table)
        ranges = [
            (start, min(start + _RANGE - 1, last)) for start in range(first, last + 1, _RANGE)
        ]
        for start, stop in ranges:
            for number, *values in self._between(table, statement, start, stop):
                yield number, dict(zip(wanted, values, strict=True))

    def keyed(self, table: str, columns: Sequence[str], key: Sequence[str]) -> list[Row]:
        """Return the rows of a table without row numbers: from both ends, up to the damage."""
        known = self.columns(table)
        wanted = [column for column in columns if column in known]
        if not wanted:
            self._lose(table)
            return []
        found: dict[tuple[Any, ...], Row] = {}
        for direction in ("", " DESC"):
            order = ", ".join(f"{column}{direction}" for column in key)
            statement = f"SELECT {', '.join(wanted)} FROM {table} ORDER BY {order}"
            complete = True
            for values in self._until_damage(statement):
                if values is None:
                    complete = False
                    break
                row = dict(zip(wanted, values, strict=True))
                found[tuple(row[column] for column in key)] = row
            if complete:
                break
            if direction:
                self._lose(table)
        return list(found.values())

    def _until_damage(self, statement: str) -> Iterator[tuple[Any, ...] | None]:
        """Yield rows, and None where the file is damaged."""
        try:
            cursor = self._db.execute(statement)
            while (row := cursor.fetchone()) is not None:
                yield row
        except DAMAGE:
            yield None

    def _between(
        self, table: str, statement: str, start: int, stop: int
    ) -> Iterator[tuple[Any, ...]]:
        waiting = [(start, stop)]
        while waiting:
            start, stop = waiting.pop()
            try:
                yield from self._db.execute(statement, (start, stop)).fetchall()
            except DAMAGE:
                if start == stop:
                    self._lose(table)
                else:
                    middle = (start + stop) // 2
                    waiting += [(middle + 1, stop), (start, middle)]

    def _ends(self, table: str) -> tuple[int, int]:
        """Return the first and the last number that a table may have."""
        sequence = self.value(f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'")
        last = self.value(f"SELECT max(rowid) FROM {table}")
        known = [number for number in (sequence, last) if type(number) is int]
        known += [number for number in map(self._largest, self._by_index(table)) if number]
        highest = max((number for number in known if 0 < number < 1 << 40), default=0)
        return 1, highest or _RANGE

    def _by_index(self, table: str) -> list[str]:
        try:
            rows = self._db.execute(f"PRAGMA index_list({table})").fetchall()
        except DAMAGE:
            return []
        return [f"SELECT max(rowid) FROM {table} INDEXED BY {name}" for _, name, *_ in rows]

    def _largest(self, statement: str) -> int:
        number = self.value(statement)
        return number if type(number) is int else 0

    def _lose(self, table: str) -> None:
        self.lost[table] = self.lost.get(table, 0) + 1


def _padded(path: str, pages: CarvedFile) -> str | None:
    """Return a copy of a file that was cut off, as long as its header says; None for any other."""
    length = pages.length_in_header()
    if length <= os.path.getsize(path):
        return None
    copy = f"{path}.padded"
    shutil.copyfile(path, copy)
    os.truncate(copy, length)
    return copy

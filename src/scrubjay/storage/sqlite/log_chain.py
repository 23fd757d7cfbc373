"""Chain of write transactions, which shows whether a write-ahead log belongs to its file.

SQLite applies any log that it finds beside a file. When a backup is copied over a file whose log was left
behind, the pages of two stores are mixed, and most memories are gone. So each write transaction stores
two random numbers: its own, and that of the transaction before. The number in the file, read without the
log, must be the one before the first transaction of the log, or that of a transaction in it.

The numbers are a row of `sqlite_sequence`: an `add` writes that page anyway, and a page more for each
transaction would make the log of an `add` 6 % longer.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from typing import BinaryIO, NamedTuple

from scrubjay.errors import StoreError

LOG = "-wal"
STEP = "scrubjay log"  # no table has this name
_BYTES = 8
FIRST_STEP = (
    f"INSERT INTO sqlite_sequence (name, seq) VALUES (?, CAST(zeroblob({_BYTES})"
    f" || randomblob({_BYTES}) AS BLOB))"
)
NEXT_STEP = (
    f"UPDATE sqlite_sequence SET seq = CAST(substr(seq, {_BYTES + 1}) || randomblob({_BYTES})"
    " AS BLOB) WHERE name = ?"
)
_READ_STEP = "SELECT seq FROM sqlite_sequence WHERE name = ?"
_NONE = bytes(_BYTES)
# Another process may move the log into the file, or replace both, while we compare them.
_TRIES = 5
_PAUSE_S = 0.02
# Magic, format, page size, checkpoint, two salts, two checksums.
_HEADER = struct.Struct(">IIIIIIII")
_FRAME = struct.Struct(">IIIIII")  # page, pages after a commit, two salts, two checksums
_MAGIC = 0x377F0682  # the last bit is the byte order of the checksums
_LEAF = 0x0D


class Step(NamedTuple):
    """The number of a transaction, and that of the transaction before it."""

    previous: bytes
    number: bytes


def _number(row: tuple[object] | None) -> bytes:
    """Return the number of the last transaction; files of earlier versions have none."""
    if row is None or not isinstance(row[0], bytes):
        return _NONE
    return row[0][_BYTES:].ljust(_BYTES, b"\0")


def check_log(path: str) -> None:
    """Refuse a file beside which the log of another file lies, or a log alone; nothing is changed."""
    for _ in range(_TRIES):
        if not is_foreign(path) and not _is_alone(path):
            return
        time.sleep(_PAUSE_S)
    from shlex import quote

    if _is_alone(path):
        raise StoreError(
            f"{path} is missing, but its log {path}{LOG} is there. Nothing was changed. Put the file back,"
            f" or a backup in its place: scrubjay restore BACKUP --to {quote(path)}; to begin a new store,"
            f" move {path}{LOG} to another folder"
        )
    raise StoreError(
        f"{path}{LOG} does not belong to {path}: the file was replaced, and the log of the earlier file"
        f" was left behind. Nothing was changed. To put a backup in place: scrubjay restore BACKUP --to"
        f" {quote(path)}; to use the file as it is, move {path}{LOG} to another folder"
    )


def is_foreign(path: str) -> bool:
    """True if the log beside a file has transactions that do not follow the state of the file."""
    if not has_log(path):
        return False
    try:
        page, here = _in_file(path)
        with open(f"{path}{LOG}", "rb") as log:
            first = True
            for step in _steps(log, page):
                if here == step.number or (first and here == step.previous):
                    return False
                first = False
    except (OSError, sqlite3.Error):
        return False  # a file that cannot be read has no state; opening it says why
    return not first


def _is_alone(path: str) -> bool:
    """True if there is a log, but not its file: SQLite would play it back into a new one."""
    return not os.path.lexists(path) and has_log(path)


def has_log(path: str) -> bool:
    try:
        return os.path.getsize(f"{path}{LOG}") > _HEADER.size
    except OSError:
        return False


def _in_file(path: str) -> tuple[int, bytes]:
    """Return the page of the numbers and the number of the last transaction, read without the log.

    SQLite reads them as a file that does not change. If we opened the file ourselves, closing it would
    release the locks that SQLite holds on it in this process.
    """
    from pathlib import Path

    uri = f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as db:
        row = db.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_sequence'"
        ).fetchone()
        if row is None:
            return 0, _NONE
        return row[0], _number(db.execute(_READ_STEP, (STEP,)).fetchone())


def _steps(log: BinaryIO, page: int) -> Iterator[Step]:
    """Yield the numbers of the transactions in a log, in their order."""
    header = log.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return
    magic, _, page_size, _, *salts, _, _ = _HEADER.unpack(header)
    if magic & ~1 != _MAGIC:
        return
    while len(frame := log.read(_FRAME.size)) == _FRAME.size:
        number, _, *frame_salts, _, _ = _FRAME.unpack(frame)
        if frame_salts != salts:  # frames of an earlier log, which the current one overwrites
            return
        if number != page:
            log.seek(page_size, os.SEEK_CUR)
        elif step := _step_in(log.read(page_size)):
            yield step


def _step_in(page: bytes) -> Step | None:
    """Return the numbers in a page of `sqlite_sequence`, whose rows are a name and a number."""
    if len(page) < 8 or page[0] != _LEAF:
        return None
    (cells,) = struct.unpack_from(">H", page, 3)
    for cell in range(cells):
        (start,) = struct.unpack_from(">H", page, 8 + 2 * cell)
        name = page.find(STEP.encode(), start, start + 16 + len(STEP))
        numbers = page[name + len(STEP) :][: 2 * _BYTES]
        if name >= 0 and len(numbers) == 2 * _BYTES:
            return Step(numbers[:_BYTES], numbers[_BYTES:])
    return None

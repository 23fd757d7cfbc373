"""A copy of a store's file as it stands at one moment, made while others read and write."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.storage.sqlite.location import check_place, explain

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import SqliteDatabase

_PAGES = 1_000  # at a time, between which it is said how far it is


def back_up(
    db: SqliteDatabase, path: str, *, force: bool, progress: Callable[[int, int], None] | None
) -> tuple[int, int]:
    """Write everything that is in the file now into another one, checked; return bytes and memories.

    It has its name only when it is whole: what is killed half-way leaves the older one as it was.
    """
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        check_place(path)
    else:
        if db.path != ":memory:" and os.path.samefile(path, db.path):
            raise InvalidInput(f"{path} is the store itself; give the backup another name")
        if not force:
            raise InvalidInput(
                f"{path} is there already; give another name, or replace it (at the shell: --force)"
            )
    unfinished = f"{path}.unfinished"
    try:
        _copy(db, unfinished, progress)
        memories = _checked(unfinished)
        os.replace(unfinished, path)
    except sqlite3.Error as error:
        raise StoreError(explain(path, error, db.wait_s)) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        for rest in (unfinished, f"{unfinished}-wal", f"{unfinished}-shm"):
            with suppress(OSError):
                os.remove(rest)
    return os.path.getsize(path), memories


def _copy(db: SqliteDatabase, path: str, progress: Callable[[int, int], None] | None) -> None:
    def report(_: int, left: int, total: int) -> None:
        if progress:
            progress(total - left, total)

    with suppress(FileNotFoundError):
        os.remove(path)
    with closing(sqlite3.connect(path)) as copy, db.read() as source:
        if db.path == ":memory:":
            source.backup(copy, pages=_PAGES, progress=report)
            return
        # Inside a transaction the copy is of one moment. Without it, whoever writes meanwhile makes
        # SQLite begin anew, for as long as they write.
        source.execute("BEGIN")
        try:
            source.execute("SELECT 1 FROM memories LIMIT 1").fetchone()
            source.backup(copy, pages=_PAGES, progress=report)
        finally:
            source.execute("ROLLBACK")


def _checked(path: str) -> int:
    """Return how many memories a copy holds, once it is on the disk; refuse one that is spoilt."""
    with closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
        (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        (memories,) = copy.execute("SELECT count(*) FROM memories").fetchone()
    if found != "ok":
        raise StoreError(f"the copy at {path} is damaged ({found}); run: scrubjay doctor")
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
    return int(memories)

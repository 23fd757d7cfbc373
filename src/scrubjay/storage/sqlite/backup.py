"""Whole-file operations: backup, and filling, publishing and retiring a file for promote and demote."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.runtime.progress import Progress
from scrubjay.storage.database import Connection
from scrubjay.storage.sql.mirror import NUMBERED, Table, filled, first_free
from scrubjay.storage.sql.scope import marks
from scrubjay.storage.sqlite.connection import SqliteDatabase, explain
from scrubjay.storage.sqlite.location import check_path, write_note

PROMOTED = ".promoted"  # suffix of a file whose memories were moved
_LOGS = ("-wal", "-shm")
_PAGES = 1_000  # copied between two progress reports
_READERS_S = 10.0  # how long to wait for readers of the log


def back_up(
    db: SqliteDatabase, path: str, *, force: bool, progress: Progress | None
) -> tuple[int, int]:
    """Copy the file while it is used, check the copy, then give it its name; return bytes and memories."""
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        check_path(path)
    else:
        if db.path != ":memory:" and os.path.samefile(path, db.path):
            raise InvalidInput(f"{path} is the store itself; give the backup another name")
        if not force:
            raise InvalidInput(
                f"{path} exists already; give another name, or replace it with --force"
            )
    unfinished = f"{path}.unfinished"
    try:
        _copy(db, unfinished, progress)
        memories = _check_copy(unfinished)
        os.replace(unfinished, path)
    except sqlite3.Error as error:
        raise StoreError(explain(path, error, db.wait_s)) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        for rest in (unfinished, *(f"{unfinished}{log}" for log in _LOGS)):
            with suppress(OSError):
                os.remove(rest)
    return os.path.getsize(path), memories


def _copy(db: SqliteDatabase, path: str, progress: Progress | None) -> None:
    def report(_: int, left: int, total: int) -> None:
        if progress:
            progress(total - left, total)

    with suppress(FileNotFoundError):
        os.remove(path)
    with closing(sqlite3.connect(path)) as copy, db.read() as source:
        if db.path == ":memory:":
            source.backup(copy, pages=_PAGES, progress=report)
            return
        # The transaction fixes one state. Without it, SQLite starts over at every write of others.
        source.execute("BEGIN")
        try:
            source.execute("SELECT 1 FROM memories LIMIT 1").fetchone()
            source.backup(copy, pages=_PAGES, progress=report)
        finally:
            source.execute("ROLLBACK")


def _check_copy(path: str) -> int:
    """Check a copy, sync it to disk, and return the number of its memories."""
    with closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
        (result,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        (memories,) = copy.execute("SELECT count(*) FROM memories").fetchone()
    if result != "ok":
        raise StoreError(f"the copy at {path} is damaged ({result}); run: scrubjay doctor")
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
    return int(memories)


class SqliteMirror:
    """Fills one file with the rows of another store, and puts it in place or aside."""

    def __init__(self, db: SqliteDatabase) -> None:
        self._db = db

    @contextmanager
    def quiet(self, db: Connection, table: str) -> Iterator[None]:
        """Drop the triggers of a table, and create them again in the same transaction."""
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?", (table,)
        ).fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        yield
        for _, statement in triggers:
            db.execute(statement)

    def insert(self, db: Connection, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        columns = ", ".join(table.columns)
        db.executemany(
            f"INSERT INTO {table.name} ({columns}) VALUES ({marks(table.columns)})", rows
        )

    def numbers(self, db: Connection) -> dict[str, int]:
        given = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        for name in NUMBERED:
            (highest,) = db.execute(f"SELECT coalesce(max(n), 0) FROM {name}").fetchone()
            given[name] = max(highest, given.get(name, 0))
        return {name: given[name] for name in NUMBERED}

    def set_numbers(self, db: Connection, numbers: Mapping[str, int]) -> None:
        for name, number in numbers.items():
            counts = db.execute(
                "SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'",
                (name,),
            )
            if number and counts.fetchone():
                db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
                db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, number))

    def settle(self) -> None:
        """Do nothing: FTS5 maintains its own counts."""

    def retire(self, moved_to: str) -> str:
        """Rename the file, and leave a note in its place that names the new store.

        Other writers find the note after their wait, and write nothing. The log is moved into the file
        first, or the file would be left without it.
        """
        path = self._db.path
        aside = free_name(f"{path}{PROMOTED}")
        self._empty_log()
        note = f"{path}.moved"
        try:
            write_note(note, moved_to)
            os.link(path, aside)
            # In one step: if the file were gone before the note is there, the next command would
            # create an empty store and write to it.
            os.replace(note, path)
        except OSError as error:
            for made in (note, aside):
                with suppress(FileNotFoundError):
                    os.unlink(made)
            raise StoreError(
                f"{path} cannot be renamed ({error.strerror}); its memories are in {moved_to}"
                " already: stop the programs that use the file, and rename it yourself"
            ) from error
        _remove_logs(path)
        return aside

    def publish(self, path: str, mark: int) -> None:
        """Rename the file, if it carries our mark, to a name that holds nothing of value."""
        if open_files_stay():
            self._db.purge_log()
            self._db.close()
            _rename(self._db.path, path)
            return
        with filled(self._db, mark):
            self._empty_log()
            _rename(self._db.path, path)

    def _empty_log(self) -> None:
        deadline = time.monotonic() + _READERS_S
        with closing(sqlite3.connect(self._db.path, isolation_level=None)) as other:
            while True:
                busy, logged, moved = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if not busy and logged == moved:
                    return
                if time.monotonic() > deadline:
                    raise StoreError(f"{self._db.path} is in use by another process; try again")
                time.sleep(0.02)


def free_name(wanted: str) -> str:
    return first_free(wanted, os.path.lexists)


def open_files_stay() -> bool:
    """True where an open file cannot be renamed."""
    return os.name == "nt"


def _rename(path: str, name: str) -> None:
    """Rename a file without a log; the note of a moved store may be in its place."""
    _remove_logs(name)
    try:
        os.replace(path, name)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be renamed to {name} ({error.strerror}); stop the programs that use it"
        ) from error
    _remove_logs(path)


def _remove_logs(path: str) -> None:
    """Remove the log of a file that was renamed: another file of that name must not find it."""
    for suffix in _LOGS:
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")

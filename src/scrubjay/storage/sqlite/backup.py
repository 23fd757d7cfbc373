"""Whole-file operations: backup, and filling, publishing and retiring a file for promote and demote."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.runtime.private_files import copy_mode, open_private
from scrubjay.runtime.progress import Progress
from scrubjay.storage.database import NOTE, Connection
from scrubjay.storage.move_record import complete, drop_record
from scrubjay.storage.schema import APPLICATION_ID
from scrubjay.storage.sql.mirror import (
    KEPT,
    NUMBERED,
    Table,
    filled,
    first_free,
    holds_memories,
    occupied,
)
from scrubjay.storage.sql.scope import marks
from scrubjay.storage.sqlite.cache.notes import files_of
from scrubjay.storage.sqlite.connection import SqliteDatabase, file_identity, take_step
from scrubjay.storage.sqlite.errors import explain, is_busy
from scrubjay.storage.sqlite.location import (
    MoveNote,
    check_path,
    put_aside,
    read_note,
    same_file,
    sync_folder,
)
from scrubjay.storage.sqlite.log_chain import LOG

PROMOTED = ".promoted"  # suffix of a file whose memories were moved
UNFINISHED = ".unfinished"  # suffix of a copy that is being written
_LOGS = (LOG, "-shm")
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
        if os.path.exists(f"{path}{LOG}"):
            raise InvalidInput(
                f"{path} is a store in use, or was not closed: {path}{LOG} is beside it; give another name"
            )
    with replacing(path, db.wait_s) as unfinished:
        _copy(db, unfinished, progress)
        memories = check_copy(unfinished)
    return os.path.getsize(path), memories


@contextmanager
def replacing(
    path: str, wait_s: float, put: Callable[[str, str], object] = os.replace
) -> Iterator[str]:
    """Give the path of a new file to fill; `put` then gives it its name, unless there was an error.

    What a killed process left there is removed first. No link that was put there in the meantime is
    followed.
    """
    unfinished = f"{path}{UNFINISHED}"
    try:
        _remove_unfinished(unfinished)
        with open_private(unfinished, "xb") as file:
            copy_mode(path, file)
        ours = file_identity(unfinished)
        try:
            yield unfinished
            if os.path.islink(unfinished) or file_identity(unfinished) != ours:
                raise StoreError(f"{unfinished} was replaced by another process; try again")
            put(unfinished, path)
            sync_folder(path)
        finally:
            _remove_with_logs(unfinished)
    except sqlite3.Error as error:
        raise StoreError(explain(path, error, wait_s)) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def _remove_unfinished(unfinished: str) -> None:
    """Remove what a killed backup or restore has left; refuse while one is under way."""
    if _is_being_written(unfinished):
        raise StoreError(f"another process is writing {unfinished}; wait until it has finished")
    _remove_with_logs(unfinished)


def leftovers(folder: str) -> list[str]:
    """Return the unfinished copies in a folder that no process is writing any more."""
    names = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
    copies = (name for name in names if name.endswith(UNFINISHED) and os.path.isfile(name))
    return [copy for copy in copies if _is_copy(copy) and not _is_being_written(copy)]


def _is_copy(path: str) -> bool:
    """True for a copy of a store; a killed process may not have written its first page."""
    if not os.path.getsize(path) or os.path.exists(f"{path}-journal"):
        return True
    try:
        with closing(sqlite3.connect(path, timeout=0)) as db:
            (program,) = db.execute("PRAGMA application_id").fetchone()
    except sqlite3.Error as error:
        return is_busy(error)
    return bool(program == APPLICATION_ID)


def _is_being_written(path: str) -> bool:
    if not os.path.isfile(path) or os.path.islink(path):
        return False
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
            db.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        return is_busy(error)
    return False


def _remove_with_logs(path: str) -> None:
    for file in (path, *(f"{path}{log}" for log in (*_LOGS, "-journal"))):
        with suppress(OSError):
            os.remove(file)


def _copy(db: SqliteDatabase, path: str, progress: Progress | None) -> None:
    with db.read() as source:
        if db.path == ":memory:":
            copy_pages(source, path, progress)
            return
        # The transaction fixes one state. Without it, SQLite starts over at every write of others.
        source.execute("BEGIN")
        try:
            source.execute("SELECT 1 FROM memories LIMIT 1").fetchone()
            copy_pages(source, path, progress)
        finally:
            source.execute("ROLLBACK")


def copy_pages(source: sqlite3.Connection, path: str, progress: Progress | None) -> None:
    def report(_: int, left: int, total: int) -> None:
        if progress:
            progress(total - left, total)

    with closing(sqlite3.connect(path)) as copy:
        source.backup(copy, pages=_PAGES, progress=report)


def check_copy(path: str) -> int:
    """Check a copy, sync it to disk, and return the number of its memories."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
        (result,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if result != "ok":
            raise StoreError(f"the copy at {path} is damaged ({result}); run: scrubjay doctor")
        (memories,) = copy.execute("SELECT count(*) FROM memories").fetchone()
        # Its state gets a number of its own: no log of the file that was copied follows it.
        copy.execute("BEGIN IMMEDIATE")
        take_step(copy)
        copy.execute("COMMIT")
    with open_private(path, "rb+") as file:
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
        """Do nothing: the sizes of the keyword index are counted as it is written."""

    def free_name(self) -> str:
        path = self._db.path
        # A run that was killed may have given the file its second name already.
        return first_free(
            f"{path}{PROMOTED}",
            lambda name: os.path.lexists(name) and not same_file(name, path),
        )

    def retire(self, moved_to: str, mark: int, aside: str) -> None:
        """Rename the file, and leave a note in its place that names the new store.

        Other writers find the note after their wait, and write nothing. The log is moved into the file
        first, or the file would be left without it.
        """
        self._empty_log()
        put_aside(self._db.path, aside, MoveNote(moved_to, mark))
        remove_logs(self._db.path)

    def unchanged(self) -> bool:
        """False: a file does not record when it was written."""
        return False

    def note_caught_up(self) -> None:
        """Do nothing, as for `unchanged`."""

    def complete(self, path: str, mark: int, report: str) -> None:
        """Record that this file is complete, and remove an empty store from the path it is to have."""
        _remove_empty(path)
        complete(self._db, mark, report)
        sync_folder(path)

    def publish(self, path: str, mark: int, *, kept: bool = False) -> None:
        """Rename the file, if it has our mark, to a path that holds nothing of value."""
        _remove_empty(path)
        with filled(self._db, mark) as db:
            if kept:
                db.execute(NOTE, (KEPT, 1))
        if open_files_stay():
            self._db.purge_log()
            self._db.close()
            _rename(self._db.path, path)
        else:
            with filled(self._db, mark):
                self._empty_log()
                _rename(self._db.path, path)
        sync_folder(path)
        with (
            suppress(StoreError),  # the record does no harm there
            closing(SqliteDatabase(path)) as published,
            published.write() as db,
        ):
            drop_record(db)

    def _empty_log(self) -> None:
        empty_log(self._db.path)


def empty_log(path: str) -> None:
    """Move all of the log into the file, while no one can write; wait for readers of the log."""
    deadline = time.monotonic() + _READERS_S
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        while True:
            busy, logged, moved = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if not busy and logged == moved:
                return
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{path} has been read by another process for {_READERS_S:.0f} s, and nothing has"
                    " changed; stop that process, or try again"
                )
            time.sleep(0.02)


def _remove_empty(path: str) -> None:
    """Remove an empty store from a path; what is not a store stays."""
    if not os.path.isfile(path) or not os.path.getsize(path) or read_note(path) is not None:
        return
    with closing(SqliteDatabase(path)) as before, before.write() as db:
        if holds_memories(db):
            raise StoreError(occupied(path))
        if not open_files_stay():
            _unlink(path)
    if open_files_stay():
        _unlink(path)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise StoreError(
            f"{path} is an empty store that cannot be removed ({error.strerror}); stop the programs"
            " that use it, and try again"
        ) from error
    remove_logs(path)


def open_files_stay() -> bool:
    """True where an open file cannot be renamed."""
    return os.name == "nt"


def _rename(path: str, name: str) -> None:
    """Rename a file whose log is empty; the note of a moved store may be in its place."""
    remove_logs(name)
    remove_logs(path)  # a kill must not leave them behind
    try:
        os.replace(path, name)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be renamed to {name} ({error.strerror}); stop the programs that use it"
        ) from error


def remove_logs(path: str) -> None:
    """Remove the log of a file that was renamed: another file of that name must not find it. The vector
    caches go with it: no `forget` would reach them there."""
    for suffix in _LOGS:
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")
    for file in files_of(path):
        with suppress(OSError):
            os.unlink(file)

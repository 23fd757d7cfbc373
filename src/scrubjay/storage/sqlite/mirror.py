"""A SQLite file filled with the rows of another store, and put aside once another has its rows."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from scrubjay.errors import StoreError
from scrubjay.storage.database import Connection
from scrubjay.storage.sql.mirror import NUMBERED, Table, filled
from scrubjay.storage.sql.scope import marks
from scrubjay.storage.sqlite.location import PROMOTED, moved_note

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import SqliteDatabase

LOGS = ("-wal", "-shm")
_READERS_S = 10.0  # for how long readers of the log are waited for


class SqliteMirror:
    """What a mirror asks of one file."""

    def __init__(self, db: SqliteDatabase) -> None:
        self._db = db

    @contextmanager
    def quiet(self, db: Connection, table: str) -> Iterator[None]:
        """Take the triggers of a table away, and put them back in the same transaction."""
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?", (table,)
        ).fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        yield
        for _, made in triggers:
            db.execute(made)

    def insert(self, db: Connection, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows that are not there."""
        columns = ", ".join(table.columns)
        db.executemany(
            f"INSERT INTO {table.name} ({columns}) VALUES ({marks(table.columns)})", rows
        )

    def numbers(self, db: Connection) -> dict[str, int]:
        """Return the highest number that each table has ever given, as far as it is known."""
        given = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        for name in NUMBERED:
            (highest,) = db.execute(f"SELECT coalesce(max(n), 0) FROM {name}").fetchone()
            given[name] = max(highest, given.get(name, 0))
        return {name: given[name] for name in NUMBERED}

    def set_numbers(self, db: Connection, numbers: Mapping[str, int]) -> None:
        """Have each table that gives no number twice give only such above these."""
        for name, number in numbers.items():
            counts = db.execute(
                "SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'",
                (name,),
            )
            if number and counts.fetchone():
                db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
                db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, number))

    def settle(self) -> None:
        """Nothing to do: FTS5 keeps its own counts."""

    def retire(self, moved_to: str) -> str:
        """Rename the file, and leave a note in its place that says where the memories are now.

        Whoever waits to write finds the note after the wait, and writes nothing. What stands in the log
        is brought into the file first, or the file would be left without it.
        """
        path = self._db.path
        aside = free_name(f"{path}{PROMOTED}")
        self._empty_log()
        note = f"{path}.moved"
        try:
            write_note(note, moved_to)
            os.link(path, aside)
            # In one step: between a file that is gone and a note that is not there yet, the next
            # command would make an empty store, and remember things in it.
            os.replace(note, path)
        except OSError as error:
            for made in (note, aside):
                if os.path.exists(made):
                    os.unlink(made)
            raise StoreError(
                f"{path} cannot be renamed ({error.strerror}); its memories are in {moved_to}"
                " already: stop what uses the file, and rename it yourself"
            ) from error
        remove_logs(path)
        return aside

    def publish(self, path: str, mark: int) -> None:
        """Give the file, if it carries our mark, another name, at which there is nothing to be missed."""
        if open_files_stay():
            self._db.purge_log()
            self._db.close()
            _rename(self._db.path, path)
            return
        with filled(self._db, mark):
            self._empty_log()
            _rename(self._db.path, path)

    def _empty_log(self) -> None:
        """Bring all of the log into the file; nobody adds to it, because we hold the lock."""
        deadline = time.monotonic() + _READERS_S
        with closing(sqlite3.connect(self._db.path, isolation_level=None)) as other:
            while True:
                busy, logged, moved = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if not busy and logged == moved:
                    return
                if time.monotonic() > deadline:
                    raise StoreError(
                        f"{self._db.path} is still being read by another process; try again"
                    )
                time.sleep(0.02)


def free_name(wanted: str) -> str:
    """Return a path at which there is nothing yet."""
    place, count = wanted, 1
    while os.path.lexists(place):
        count += 1
        place = f"{wanted}-{count}"
    return place


def open_files_stay() -> bool:
    """True where a file that is open cannot be renamed."""
    return os.name == "nt"


def _rename(path: str, name: str) -> None:
    """Rename a file without a log; the note of another that was moved away may be in its place."""
    remove_logs(name)
    try:
        os.replace(path, name)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be renamed to {name} ({error.strerror}); stop what uses the file"
        ) from error
    remove_logs(path)


def write_note(path: str, moved_to: str) -> None:
    """Write the note that stands in the place of a file whose memories are elsewhere now."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(moved_note(moved_to))
        file.flush()
        os.fsync(file.fileno())


def remove_logs(path: str) -> None:
    """Remove the log of a file that is no longer there: another of that name must not find it."""
    for ending in LOGS:
        if os.path.exists(f"{path}{ending}"):
            os.unlink(f"{path}{ending}")

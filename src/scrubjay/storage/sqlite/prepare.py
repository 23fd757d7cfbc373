"""Tables of a file: created where there are none, migrated where they are older."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError
from scrubjay.storage.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from scrubjay.storage.sqlite.errors import is_busy
from scrubjay.storage.sqlite.fts5.segments import has_too_many_levels, remove_empty_levels
from scrubjay.storage.sqlite.location import PAGE_BYTES

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import SqliteDatabase


def prepare(db: SqliteDatabase, writer: sqlite3.Connection, *, in_memory: bool) -> None:
    """Create the tables in a new file, or migrate an older one, one migration a transaction."""
    found = version_of(db.path, writer)
    if found == SCHEMA_VERSION:
        if writer.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
            _use_wal(writer, db.wait_s)  # a copy made by other tools may have lost it
        _heal(db, writer)
        return
    db.refuse_newer(found)
    if in_memory:
        writer.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    else:
        refuse_foreign(db.path, writer)
        _use_wal(writer, db.wait_s)
    for version in range(found + 1, SCHEMA_VERSION + 1):
        with db.write() as connection:
            if version_of(db.path, writer) < version:  # another process may have been faster
                MIGRATIONS[version - 1](connection)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {version}")
    _heal(db, writer)


def _heal(db: SqliteDatabase, writer: sqlite3.Connection) -> None:
    if has_too_many_levels(writer):  # an older version may have left them
        with db.write() as connection:
            remove_empty_levels(connection)


def version_of(path: str, connection: sqlite3.Connection) -> int:
    """Return the version of the tables, 0 for none; refuse the file of another program."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version:
        refuse_foreign(path, connection)
    return version


def refuse_foreign(path: str, connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(
            f"{path} is an SQLite database of another program; give the path of another file"
        )


def _use_wal(writer: sqlite3.Connection, wait_s: float) -> None:
    # SQLite does not wait for other connections when it changes the journal mode, so we do.
    deadline = time.monotonic() + wait_s
    while True:
        try:
            writer.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)

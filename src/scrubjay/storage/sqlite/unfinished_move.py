"""Unfinished moves to a file: refuse to create a store in their place, or finish them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from shlex import quote

from scrubjay.errors import StoreError
from scrubjay.storage.database import FILLING
from scrubjay.storage.move_record import MoveRecord, read_record, unfinished
from scrubjay.storage.sqlite.location import finish_note, read_note


def refuse_unfinished(path: str) -> None:
    """Refuse to create a file while a copy is filled to become it."""
    if os.path.isfile(path) and os.path.getsize(path) and read_note(path) is None:
        return
    finish_note(path)
    copy = f"{path}{FILLING}"
    if not os.path.exists(copy):
        return
    record = record_of(copy)
    if read_note(path) is not None and not (record and record.complete):
        return  # the store is where the note says
    removal = f"{'del' if os.name == 'nt' else 'rm'} {quote(copy)}"
    raise StoreError(unfinished(path, record, removal))


def record_of(copy: str) -> MoveRecord | None:
    """Read the record of a copy; None if there is no copy, or no record in it."""
    from pathlib import Path

    if not os.path.isfile(copy):
        return None
    uri = f"{Path(copy).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as db:
            return read_record(db)
    except sqlite3.Error:  # of an earlier version, or not begun
        return None


def finish_move(path: str, mark: int | None) -> None:
    """Put a complete copy in its place; its source was retired with this mark."""
    from scrubjay.storage.sqlite.connection import SqliteDatabase

    copy = f"{path}{FILLING}"
    record = record_of(copy)
    if mark is None or record is None or record.mark != mark or not record.complete:
        return
    with closing(SqliteDatabase(copy)) as db:
        db.mirror.publish(path, mark)

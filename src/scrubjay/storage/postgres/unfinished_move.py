"""Unfinished moves to a schema: refuse to create a store in their place, or finish them."""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.errors import StoreError
from scrubjay.storage.database import FILLING
from scrubjay.storage.move_record import TABLE, MoveRecord, read_record, unfinished
from scrubjay.storage.postgres.mirror import empty_place, put_in_place
from scrubjay.storage.postgres.session import Session
from scrubjay.storage.sqlite.location import read_note

Lock = Callable[[Session, str], None]


def refuse_unfinished(session: Session, schema: str, shown: str, *, moved: bool) -> None:
    """Refuse to create a schema while a copy is filled to become it.

    If the schema is the note of a moved store, only a complete copy is in the way.
    """
    copy = f"{schema}{FILLING}"
    (exists,) = session.execute("SELECT to_regnamespace(?) IS NOT NULL", (f'"{copy}"',)).fetchone()
    record = record_of(session, copy) if exists else None
    if exists and not (moved and not (record and record.complete)):
        raise StoreError(unfinished(shown, record, f'DROP SCHEMA "{copy}" CASCADE'))


def record_of(session: Session, copy: str) -> MoveRecord | None:
    """Read the record of a copy; None if there is no copy, or no record in it."""
    table = f'"{copy}".{TABLE}'
    (exists,) = session.execute("SELECT to_regclass(?) IS NOT NULL", (table,)).fetchone()
    return read_record(session, table) if exists else None


def finish_move(session: Session, schema: str, shown: str, lock: Lock) -> None:
    """Put a complete copy in its place, if this machine has its source, and it was retired."""
    copy = f"{schema}{FILLING}"
    record = record_of(session, copy)
    if record is None or not record.complete:
        return
    note = read_note(record.source)
    if note is None or note.mark != record.mark:
        return
    with session.connection.transaction():
        lock(session, copy)
        lock(session, schema)
        if record_of(session, copy) == record:  # otherwise another process was faster
            empty_place(session, schema, shown)
            put_in_place(session, copy, schema)

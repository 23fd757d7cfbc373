"""Record of a move, in the copy that it fills: whose copy it is, and whether it is complete.

A copy is filled beside its target, under the target's name and `.filling`. Once it is complete, its
source is retired, and then the copy gets the target's name. The record lets others take over in between:
a copy that is complete, and whose source was retired with the same mark, is the store.
"""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.mirror import filled, take

TABLE = "moving"


class MoveRecord(NamedTuple):
    """A move: `command` continues it, `report` is its result as JSON, empty until the copy is complete."""

    mark: int
    source: str
    command: str
    report: str = ""

    @property
    def complete(self) -> bool:
        return bool(self.report)


def begin(copy: Database, record: MoveRecord) -> None:
    """Mark a copy as filled by this process, and incomplete."""
    with copy.write() as db:
        take(copy, record.mark)
        drop_record(db)
        db.execute(
            f"CREATE TABLE {TABLE} (mark BIGINT NOT NULL, source TEXT NOT NULL,"
            " command TEXT NOT NULL, report TEXT NOT NULL)"
        )
        db.execute(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?)", record)


def complete(copy: Database, mark: int, report: str) -> None:
    """Record that a copy, which has our mark, is complete."""
    with filled(copy, mark) as db:
        db.execute(f"UPDATE {TABLE} SET report = ?", (report,))


def read_record(db: Connection, table: str = TABLE) -> MoveRecord | None:
    """Read the record of a copy, which must have the table."""
    row = db.execute(f"SELECT mark, source, command, report FROM {table}").fetchone()
    return MoveRecord(*row) if row else None


def drop_record(db: Connection) -> None:
    db.execute(f"DROP TABLE IF EXISTS {TABLE}")


def unfinished(place: str, record: MoveRecord | None, removal: str) -> str:
    """Return why no store can be created beside an unfinished copy, and what to do."""
    if record is None:
        return (
            f"{place}: another store is being moved here; wait until that is done, or run the same"
            f" promote or demote again (to give it up: {removal})"
        )
    if record.complete:
        return (
            f"{place}: the move of {record.source} lacks its last step; finish it with:"
            f" {record.command} (only if {record.source} can still be opened, the move can be given"
            f" up instead: {removal})"
        )
    return (
        f"{place}: {record.source} is being moved here; wait until that is done, or continue it with:"
        f" {record.command} (to give it up: {removal})"
    )

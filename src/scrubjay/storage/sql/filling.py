"""Who fills a store: the one whose mark it carries. Whoever began earlier finds another mark, and stops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrubjay.errors import StoreError
from scrubjay.storage.database import NOTE, Connection, Database
from scrubjay.storage.sql.mirror_tables import MARK


def take(target: Database, mark: int) -> None:
    """Put our mark on a store that is to be filled."""
    with target.write() as db:
        db.execute(NOTE, (MARK, mark))


@contextmanager
def filled(target: Database, mark: int) -> Iterator[Connection]:
    """Write to a store, as long as it carries our mark."""
    with target.write() as db:
        row = db.execute("SELECT value FROM meta WHERE key = ?", (MARK,)).fetchone()
        if row is None or row[0] != mark:
            raise StoreError(disturbed(target))
        yield db


def disturbed(target: Database) -> str:
    """Say that somebody else has come between."""
    return f"{target.path}: another process has begun to fill it; let that one end, or run again"

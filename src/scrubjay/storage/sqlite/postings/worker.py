"""Background thread that makes segments, merges them, and fills the index of an older file.

Each step is a write of its own, so a process that ends leaves whole segments, and two that are at it take
turns.
"""

from __future__ import annotations

import sqlite3
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError
from scrubjay.runtime.worker import Worker
from scrubjay.storage.sqlite.postings import migration

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import SqliteDatabase

_INTERVAL_S = (
    1.0  # of memories written together one segment is made; most commands have ended by then
)
_WORK_S = 0.2
_WAIT_S = 5.0
_STOP_S = 5.0


class Indexer:
    """Maintains the keyword index of one file."""

    def __init__(self, db: SqliteDatabase) -> None:
        self._db = db
        self._wrote = False
        this = weakref.ref(self)  # a store that is dropped must not be kept by its thread
        self._worker = Worker("indexer", lambda: _step(this), delay_s=_INTERVAL_S)

    def wake_if_due(self) -> None:
        with self._db.read() as db:
            if migration.is_due(db):
                self._worker.wake()

    def note_write(self) -> None:
        """Look for work after a write, which calls this before it ends."""
        self._wrote = True
        self._worker.wake()

    def work(self, seconds: float) -> bool:
        """Take steps for about this time; False if nothing is left to do."""
        end = time.monotonic() + seconds
        while not self._worker.stopping.is_set():
            with self._db.read() as db:
                if not migration.is_due(db):
                    return False
            with self._db.write(_WAIT_S) as db:
                migration.step(db)
            if time.monotonic() >= end:
                break
        return True

    def finish(self) -> None:
        """Stop. A process that wrote first makes a segment if one is due: commands that end at once
        would leave more and more memories to search one by one, or never fill the index of a file."""
        self._worker.stop(_STOP_S)
        if self._wrote:
            with suppress(StoreError, sqlite3.Error), self._db.write(_WAIT_S) as db:
                migration.step(db, merge=False)


def _step(this: weakref.ref[Indexer]) -> float | None:
    indexer = this()
    if indexer is None:
        return None
    try:
        return 0.0 if indexer.work(_WORK_S) else None
    except (StoreError, sqlite3.Error):
        return None  # another write, or the next process, tries again

"""Erases deleted text from an SQLite file: from the keyword index, the log, and the dead space of pages; and
deleted vectors from the caches beside it.

A write that deletes text leaves a mark in `meta`, in the same transaction. The mark is removed when
everything is erased. Until then it is tried again: after the next write, in the background, on closing, and
by every process that opens the file. So neither a reader in the way nor a kill leaves text for good.

Dead space is overwritten in the file itself (`dead_space`), while this process holds SQLite's write lock and
the log is empty. No page is written then, and no page that is read there changes: only bytes that SQLite
does not use. The commit at the end makes every connection of every process drop the pages in its memory, so
that none writes the old bytes again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError
from scrubjay.runtime.worker import Worker
from scrubjay.storage.database import PURGE, PURGE_WORDS
from scrubjay.storage.sqlite import raw_file
from scrubjay.storage.sqlite.cache.notes import erase_forgotten
from scrubjay.storage.sqlite.dead_space import dirty_pages, overwrite

if TYPE_CHECKING:
    from scrubjay.storage.database import Connection
    from scrubjay.storage.sqlite.connection import SqliteDatabase

_MARK = "INSERT INTO meta (key, value) VALUES (?, 1) ON CONFLICT (key) DO NOTHING"
_WAIT_S = 0.2  # for readers of the log, and for the write lock
_OTHER_S = 10.0  # for another thread that is at it
_DELAY_S = 10.0  # between tries in the background; several updates are erased together
_RETRY_S = 0.5  # between tries after writes
_STOP_S = 5.0
_TRIES = 2  # while others write; then the file is searched under the write lock
_LOG_HEADER_BYTES, _FRAME_BYTES = 32, 24
_SALT = slice(16, 24)  # in the header of the log; every log has another


class Purge:
    """Erases the deleted text of one file. `writing` is the lock of this process's writers.

    `is_late` after a try that has failed.
    """

    def __init__(
        self, db: SqliteDatabase, identity: raw_file.Identity, writing: threading.RLock
    ) -> None:
        self._db = db
        self._identity = identity
        self._writing = writing
        self._running = threading.Lock()
        self._marked = self._erased = 0  # counts of marks; the same when nothing is due
        self.is_late = False
        self._next_try_s = 0.0
        # Of the log that has every page written since the last purge.
        self._log_salt: bytes | None = None
        this = weakref.ref(self)  # a store that is dropped must not be kept by its thread
        self._worker = Worker("purge", lambda: _step(this), delay_s=_DELAY_S)
        raw_file.hold(identity)

    def find_mark(self, db: Connection) -> None:
        """Look for the mark of a process that did not finish."""
        if _is_marked(db, PURGE):
            self._note()

    def mark(self, db: Connection, *, words: bool) -> None:
        """Record in the write under way that text was deleted; `words` if it is in the keyword index."""
        db.execute(_MARK, (PURGE,))
        if words:
            db.execute(_MARK, (PURGE_WORDS,))
        self._note()

    def _note(self) -> None:
        self._marked += 1
        self._worker.wake()

    def after_write(self) -> None:
        """Try again what a reader or another writer has prevented."""
        if time.monotonic() >= self._next_try_s:
            self.run(0.0)

    def run(self, wait_s: float = _WAIT_S) -> bool:
        """Erase what is due; False if something is left, which is then tried again later."""
        if self._erased == self._marked:
            return True
        if not self._running.acquire(timeout=_OTHER_S if wait_s else 0.0):
            return False  # another thread is at it
        try:
            # What is marked later is not counted: it may be committed after this.
            marked, done = self._marked, False
            with suppress(StoreError, sqlite3.Error, OSError):  # the mark stays
                done = self._erase(wait_s)
            if done:
                self._erased = marked
            self.is_late = not done
            if not wait_s:
                self._next_try_s = time.monotonic() + _RETRY_S
        finally:
            self._running.release()
        if not done:
            self._worker.wake()
        return done

    def finish(self) -> None:
        """Try a last time, before the connections are closed."""
        self._worker.stop(_STOP_S)
        self.run()

    def release(self) -> None:
        """Let go of the file, after the connections are closed."""
        raw_file.release(self._identity)

    def _erase(self, wait_s: float) -> bool:
        with self._db.read() as db:
            if not _is_marked(db, PURGE):
                return True  # the write was rolled back, or another process has done it
            has_words = _is_marked(db, PURGE_WORDS)
        if has_words:
            with self._db.write(wait_s):
                self._db.words.overwrite_deleted()
        # Not the writer's connection, which has pages with the old bytes in memory. And only for another
        # one do the writer's commits change its data_version.
        with self._db.alone(wait_s) as db:
            for _ in range(_TRIES):
                emptied = self._empty_log(db)
                if emptied is None:
                    return False
                seen, written = emptied
                with raw_file.opened(self._db.path, self._identity) as file:
                    # Without the lock, since it may take a second in a large file.
                    dirty = list(dirty_pages(file, written))
                    if self._overwrite(db, file, dirty, seen):
                        return True
            if self._empty_log(db) is None:
                return False
            with raw_file.opened(self._db.path, self._identity) as file:
                return self._overwrite(db, file, None, None)

    def _empty_log(self, db: sqlite3.Connection) -> tuple[int, set[int] | None] | None:
        """Move the log into the file; None if a reader is in the way. Return the data_version, and the
        pages written since the last purge, or None if they are not known."""
        with self._writing:
            db.execute("BEGIN IMMEDIATE")
            seen, written = _data_version(db), self._written_pages()
            db.execute("ROLLBACK")
            busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return None if busy else (seen, written)

    def _overwrite(
        self,
        db: sqlite3.Connection,
        file: raw_file.RawFile,
        dirty: list[int] | None,
        seen: int | None,
    ) -> bool:
        """Overwrite pages and remove the mark; False if others have written meanwhile.

        Without `dirty`, the whole file is searched under the lock.
        """
        with self._writing:
            db.execute("BEGIN IMMEDIATE")
            try:
                if seen != _data_version(db) and (seen is not None or self._log_bytes()):
                    return False
                if dirty is None:
                    dirty = list(dirty_pages(file))
                if dirty:
                    overwrite(file, dirty)
                    file.sync()
                erase_forgotten(db, self._db.path)
                db.execute("DELETE FROM meta WHERE key = ?", (PURGE,))
                self._db.take_step(db)
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
            self._remember_log(db)
        return True

    def _remember_log(self, db: sqlite3.Connection) -> None:
        """Remember the new log, if no one else has written: it began with this purge."""
        before = _data_version(db)
        self._log_salt = None
        with suppress(sqlite3.OperationalError):  # another process is writing
            db.execute("BEGIN IMMEDIATE")
            if _data_version(db) == before:
                self._log_salt = _log_header(self._log)[_SALT]
            db.execute("ROLLBACK")

    def _written_pages(self) -> set[int] | None:
        """Return the pages in the log, if it is the one that began with the last purge."""
        if self._log_salt is None:
            return None
        header = _log_header(self._log)
        if header[_SALT] != self._log_salt:
            return None
        frame_bytes = _FRAME_BYTES + int.from_bytes(header[8:12], "big")
        pages = set()
        with open(self._log, "rb", buffering=0) as log:
            at = _LOG_HEADER_BYTES
            while log.seek(at) and len(frame := log.read(_FRAME_BYTES)) == _FRAME_BYTES:
                if frame[8:16] != self._log_salt:
                    break
                pages.add(int.from_bytes(frame[:4], "big"))
                at += frame_bytes
        return pages

    @property
    def _log(self) -> str:
        return f"{self._db.path}-wal"

    def _log_bytes(self) -> int:
        return os.path.getsize(self._log)


def _step(this: weakref.ref[Purge]) -> float | None:
    """Try in the background; afterwards there is nothing left to do, or another try is due later."""
    purge = this()
    return None if purge is None or purge.run() else 0.0


def _is_marked(db: Connection, key: str) -> bool:
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (key,)).fetchone() is not None


def _data_version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def _log_header(path: str) -> bytes:
    # No lock is on the log, so it can be closed again.
    with open(path, "rb", buffering=0) as log:
        return log.read(_LOG_HEADER_BYTES)

"""One SQLite file: its connections, its one writer, and its errors.

Write-ahead logging lets readers work during a write. There is one writer at a time: threads queue on a
lock, processes on SQLite's own lock, both for a limited time, so "database is locked" never reaches a
user. Each thread reads on its own connection.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from scrubjay.config import SHORT_TURN_CHARS
from scrubjay.errors import InvalidInput, StoreError
from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Clause, Database
from scrubjay.storage.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from scrubjay.storage.sqlite.location import check_path
from scrubjay.text.analysis import fold_label

if TYPE_CHECKING:
    from scrubjay.storage.sql.words import SqlWords
    from scrubjay.storage.sqlite.backup import SqliteMirror
    from scrubjay.storage.sqlite.keyword import SqliteKeyword
    from scrubjay.storage.sqlite.vectors import SqliteVector
    from scrubjay.types import Term

WAIT_S = 60.0
_HOLDS = "SELECT rowid FROM words WHERE words MATCH ?"
_PURGE_WAIT_S = 0.2
_CLOSE_WAIT_S = 30.0  # a thread that still reads then closes its connection when it is done


@lru_cache(maxsize=1024)
def _label(stored: str | None) -> str | None:
    """Fold a label inside SQL: SQLite itself folds ASCII letters only."""
    return None if stored is None else fold_label(stored)


class _Connection:
    """A connection that closes when nothing refers to it: a reader's, when its thread ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.sqlite = connection

    def __del__(self) -> None:
        self.sqlite.close()


class _Reads:
    """Counts the reads under way, in all and of this thread."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._count = 0
        self._changed = threading.Condition(threading.Lock())

    def __enter__(self) -> None:
        with self._changed:
            self._count += 1
        self._local.count = getattr(self._local, "count", 0) + 1

    def __exit__(self, *_: object) -> None:
        self._local.count -= 1
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def wait_for_others(self, wait_s: float) -> bool:
        mine = getattr(self._local, "count", 0)
        with self._changed:
            return self._changed.wait_for(lambda: self._count <= mine, wait_s)


class SqliteDatabase(Database):
    """A database file, or ":memory:"."""

    def __init__(
        self,
        path: str,
        *,
        codec: Codec | None = None,
        wait_s: float = WAIT_S,
        short_turn_chars: int = SHORT_TURN_CHARS,
    ) -> None:
        super().__init__(codec or Codec(), wait_s, short_turn_chars)
        self._in_memory = path == ":memory:"
        # A process may change its folder; the next thread would open another file there.
        self.path = path if self._in_memory else os.path.abspath(path)
        self._watching = threading.Lock()
        self._watcher: _Connection | None = None
        self._reads = _Reads()
        self._connections: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._purge_due = False
        self._prepared = False
        try:
            self._writer_connection = self._connect()
            self._writer = self._writer_connection.sqlite
            with self._errors():
                self._prepare()
            self._identity = None if self._in_memory else _file_identity(self.path)
            self._prepared = True
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for reading; inside a write it is the writer's, so it sees its own rows."""
        with self._reads, self._errors():
            if self.closed or self._pid != os.getpid():  # every read passes here
                self._check_open()
            if self._in_memory or self._local.in_write:
                with self._writing:
                    yield self._writer
            else:
                if self._local.connection is None:
                    self._local.connection = self._connect()
                yield self._local.connection.sqlite

    @contextmanager
    def watched(self) -> Iterator[tuple[sqlite3.Connection, int | None]]:
        """Give a reading connection, and a number that changes with every commit; None inside a write."""
        with self._reads, self._errors():
            if self.closed or self._pid != os.getpid():
                self._check_open()
            if self._local.in_write:
                yield self._writer, None
            elif self._in_memory:
                with self._writing:
                    yield self._writer, self._writer.total_changes
            else:
                with self._watching:
                    # SQLite counts the commits of others separately for each connection, so one that
                    # only reads here serves all threads. A thread's own connection may still be at
                    # an older state, while it goes through rows.
                    if self._watcher is None:
                        self._watcher = self._connect()
                    watcher = self._watcher.sqlite
                    watcher.execute("BEGIN")
                    try:
                        yield watcher, watcher.execute("PRAGMA data_version").fetchone()[0]
                    finally:
                        watcher.execute("ROLLBACK")

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        """Give the writer inside one transaction: all of it is durable afterwards, or none of it."""
        if self._local.in_write:  # a write inside a write is part of it
            yield self._writer
            return
        wait_s = self.wait_s if wait_s is None else wait_s
        if not self._writing.acquire(timeout=wait_s):
            raise StoreError(f"{self.path}: another thread has been writing for {wait_s:.0f} s")
        try:
            with self._errors(wait_s):
                self._check_open()
                with self._busy_timeout(wait_s):
                    self._writer.execute("BEGIN IMMEDIATE")
                self._local.in_write = True
                try:
                    # Not before the wait: the file may have been put aside meanwhile.
                    if self._prepared:
                        self.check_same()
                    yield self._writer
                    self.write_gathered()
                    self._writer.execute("COMMIT")
                except BaseException:
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
                    raise
        finally:
            self._gathered.clear()
            self._local.in_write = False
            self._writing.release()
        self.on_commit()
        if self._purge_due:
            self.purge_log()

    @contextmanager
    def _busy_timeout(self, wait_s: float) -> Iterator[None]:
        self._writer.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
        try:
            yield
        finally:
            self._writer.execute(f"PRAGMA busy_timeout = {int(self.wait_s * 1000)}")

    @cached_property
    def words(self) -> SqlWords:
        from scrubjay.storage.sql.words import SqlWords

        return SqlWords(self)

    @cached_property
    def keyword(self) -> SqliteKeyword:
        from scrubjay.storage.sqlite.keyword import SqliteKeyword

        return SqliteKeyword(self)

    @cached_property
    def vectors(self) -> SqliteVector:
        from scrubjay.storage.sqlite.vectors import SqliteVector

        return SqliteVector(self)

    @cached_property
    def mirror(self) -> SqliteMirror:
        from scrubjay.storage.sqlite.backup import SqliteMirror

        return SqliteMirror(self)

    @property
    def size_bytes(self) -> int:
        files = (self.path, f"{self.path}-wal", f"{self.path}-shm")
        return sum(os.path.getsize(file) for file in files if os.path.isfile(file))

    def holding(self, term: Term) -> tuple[Clause, Clause]:
        from scrubjay.storage.sql.scope import match

        wanted = match(term, self.codec)
        own = f"{{title text topics ident}} : {wanted}"
        return Clause(_HOLDS, (wanted,)), Clause(_HOLDS, (own,))

    def purge_log(self) -> None:
        """Move the write-ahead log into the file and empty it.

        Inside a write this does nothing: the write purges after its end. When a reader of another
        process is in the way, the next write or the closing tries again.
        """
        if self._local.in_write:
            return
        with self._writing, self._errors():
            self._check_open()
            with self._busy_timeout(_PURGE_WAIT_S):
                row = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._purge_due = bool(row and row[0])

    def close(self) -> None:
        """Close every connection once the reads of other threads have ended. May be called twice."""
        with self._writing:
            if self._purge_due and not self.closed and self._pid == os.getpid():
                self.purge_log()
            self.closed = True
        # SQLite crashes when a connection is closed while it is in use.
        if self._pid != os.getpid() or self._reads.wait_for_others(_CLOSE_WAIT_S):
            for connection in list(self._connections):
                connection.sqlite.close()

    def ping(self) -> None:
        with self.read() as db:
            db.execute("PRAGMA schema_version").fetchone()

    def check_same(self) -> None:
        """Refuse a file that was removed or replaced: what is written to it is lost."""
        if self._in_memory:
            return
        try:
            identity = _file_identity(self.path)
        except OSError as error:
            raise StoreError(
                f"{self.path} no longer exists ({error.strerror}); put it back, or open another"
            ) from error
        if identity != self._identity:
            raise StoreError(f"{self.path} was replaced while it was open; open it again")

    def _connect(self) -> _Connection:
        if not self._in_memory:
            check_path(self.path)
            if self._prepared:  # SQLite would create an empty file where ours was removed
                self.check_same()
        with self._errors():
            connection = self._open()
            opened = _Connection(connection)
            self._connections.add(opened)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")  # deleted text is overwritten
            # A write that was acknowledged survives power loss.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA cache_size = -16000")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.create_function("label", 1, _label, deterministic=True)
        return opened

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self.path, timeout=self.wait_s, isolation_level=None, check_same_thread=False
        )

    def _prepare(self) -> None:
        """Create the tables in a new file, or migrate an older one, one migration a transaction."""
        found = self._version()
        if found == SCHEMA_VERSION:
            if self._writer.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
                self._use_wal()  # a copy made by other tools may have lost it
            return
        self._refuse_newer(found)
        if found == 0 and self._writer.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            self._refuse_foreign()
        # Two vectors of 1.5 KB fit a page of 4 KB, five one of 8 KB.
        self._writer.execute("PRAGMA page_size = 8192")
        self._use_wal()
        for version in range(found + 1, SCHEMA_VERSION + 1):
            with self.write() as connection:
                if self._version() < version:  # another process may have been faster
                    MIGRATIONS[version - 1](connection)
                    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version = {version}")

    def _version(self) -> int:
        version = int(self._writer.execute("PRAGMA user_version").fetchone()[0])
        if version:
            self._refuse_foreign()
        return version

    def _refuse_foreign(self) -> None:
        if self._writer.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError(
                f"{self.path} is an SQLite database of another program; give the path of another file"
            )

    def _use_wal(self) -> None:
        # SQLite does not wait for other connections when it changes the journal mode, so we do.
        deadline = time.monotonic() + self.wait_s
        while True:
            try:
                self._writer.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _errors(self, wait_s: float | None = None) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            waited_s = self.wait_s if wait_s is None else wait_s
            raise StoreError(explain(self.path, error, waited_s)) from error
        except OverflowError as error:
            raise InvalidInput(f"a number is too large to be stored: {error}") from error
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{error.object[:40]!r} contains half of a surrogate pair, which is not a character"
            ) from error


def explain(path: str, error: sqlite3.Error, wait_s: float) -> str:
    message = str(error)
    if "not a database" in message or "file is encrypted" in message:
        return f"{path} is not a scrubjay store: the file is not an SQLite database"
    if _is_busy(error):
        return f"{path}: another process has been writing for more than {wait_s:.0f} s; try again"
    if "full" in message:
        return f"{path}: the disk is full; nothing was written, free some space and try again"
    if "unable to open" in message:
        return f"{path} cannot be opened: check the permissions of the file and its folder"
    if "readonly" in message:
        return f"{path} cannot be written: check the permissions of the file and its folder"
    if "malformed" in message:
        return f"{path} is damaged ({message}); run `scrubjay doctor --db {path}`"
    return f"{path}: {message}"


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _file_identity(path: str) -> tuple[int, int]:
    """Return what stays when a file's contents change, and differs for another file at its path."""
    found = os.stat(path)
    return found.st_dev, found.st_ino

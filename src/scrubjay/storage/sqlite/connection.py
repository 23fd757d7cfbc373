"""One SQLite file: its connections, its one writer, and its errors.

Write-ahead logging lets readers work during a write. There is one writer at a time: threads queue on a
lock, processes on SQLite's own lock, both for a limited time, so "database is locked" never reaches a
user. Each thread reads on its own connection.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from scrubjay.config import SHORT_TURN_CHARS
from scrubjay.errors import InvalidInput, StoreError
from scrubjay.runtime.closing import close_all
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Clause, Connection, Database, refuse_sealed
from scrubjay.storage.sqlite.errors import explain, explain_io_error, is_io_error, take_back
from scrubjay.storage.sqlite.location import (
    MIN_DATABASE_BYTES,
    check_path,
    create_missing,
)
from scrubjay.storage.sqlite.log_chain import FIRST_STEP, LOG, NEXT_STEP, STEP, check_log
from scrubjay.storage.sqlite.postings.worker import Indexer
from scrubjay.storage.sqlite.purge import Purge
from scrubjay.text.analysis import fold_label

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.backup import SqliteMirror
    from scrubjay.storage.sqlite.keyword import SqliteKeyword
    from scrubjay.storage.sqlite.vectors import SqliteVector
    from scrubjay.storage.sqlite.words import SqliteWords
    from scrubjay.types import Term

WAIT_S = 60.0
_LOG_WAIT_S = 0.2
_CLOSE_WAIT_S = 30.0  # a thread that still reads then closes its connection when it is done


_UNDECODED = "Could not decode to UTF-8"
_REPEATABLE = ("SELECT", "WITH", "PRAGMA")  # running these again changes nothing


@lru_cache(maxsize=1024)
def _label(stored: str | None) -> str | None:
    """Fold a label inside SQL: SQLite itself folds ASCII letters only."""
    return None if stored is None else fold_label(stored)


def decode(stored: bytes) -> str | bytes:
    """Return a text, or its bytes where they are not UTF-8."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


class TolerantConnection(sqlite3.Connection):
    """A connection whose cursors return a text that is not UTF-8 as bytes.

    SQLite stores whatever bytes it is given, and Python refuses a whole result for one text that it cannot
    decode. Here the decoding of that row alone fails. The default decoder is four times as fast, so the
    slower one is used only after it has failed once.
    """

    def execute(self, statement: str, arguments: Any = (), /) -> sqlite3.Cursor:
        return self.cursor(_TolerantCursor).execute(statement, arguments)


class _TolerantCursor(sqlite3.Cursor):
    """Reads again, with the slower decoder, where a text is not UTF-8."""

    _run: tuple[str, Any] = ("", ())
    _taken = 0  # rows that were handed out already

    def execute(self, statement: str, arguments: Any = (), /) -> _TolerantCursor:
        self._run, self._taken = (statement, arguments), 0
        super().execute(statement, arguments)
        return self

    def fetchone(self) -> Any:
        try:
            row = super().fetchone()
        except sqlite3.OperationalError as error:
            self._decode_slowly(error)
            row = super().fetchone()  # the same row: SQLite has not moved on
        self._taken += 1
        return row

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        except sqlite3.OperationalError as error:
            self._begin_again(error)
            return super().fetchall()

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        try:
            rows = super().fetchmany(size)
        except sqlite3.OperationalError as error:
            self._begin_again(error)
            rows = super().fetchmany(size)
        self._taken += len(rows)
        return rows

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self.fetchall())

    def _decode_slowly(self, error: sqlite3.OperationalError) -> None:
        if _UNDECODED not in str(error) or self.connection.text_factory is decode:
            raise error
        self.connection.text_factory = decode

    def _begin_again(self, error: sqlite3.OperationalError) -> None:
        """Run the statement again up to where it was: the rows read since then are lost."""
        self._decode_slowly(error)
        if not self._run[0].lstrip().startswith(_REPEATABLE):
            raise error
        super().execute(*self._run)
        if self._taken:  # 0 would mean all
            super().fetchmany(self._taken)


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
    """A database file, or ":memory:". `finishes_purges`: erases what other processes have deleted, and
    goes on with what they have left of the keyword index."""

    finishes_purges = True

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
        self._purge: Purge | None = None
        self._indexer: Indexer | None = None
        self._prepared = False
        self._identities: dict[str, tuple[int, int]] = {}
        try:
            while self._is_replaced_while_opening():
                pass
            if not self._in_memory:
                self._purge = Purge(self, self._identities[self.path], self._writing)
                self._indexer = Indexer(self)
                if self.finishes_purges:
                    with self._errors():
                        self._purge.find_mark(self._writer)
                        self._indexer.wake_if_due()
        except BaseException:
            self.close()
            raise

    def _is_replaced_while_opening(self) -> bool:
        """Open the writer; True if a restore has put another file in place meanwhile."""
        before = self._file_now()
        try:
            self._open_writer()
        except StoreError:
            now = self._file_now()
            if before is None or now is None or before == now:
                raise
        else:
            # A file that was created may have been replaced since: it is opened once more.
            if self._in_memory or (before is not None and before == self._file_now()):
                self._prepared = True
                return False
        for connection in list(self._connections):
            connection.sqlite.close()
        return True

    def _file_now(self) -> tuple[int, ...] | None:
        """Return what tells the file from one that replaces it; None if there is none.

        A note may have the inode of the note before it, which was removed.
        """
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        note = (found.st_ctime_ns,) if found.st_size < MIN_DATABASE_BYTES else ()
        return (found.st_dev, found.st_ino, *note)

    def _open_writer(self) -> None:
        if not self._in_memory:
            check_log(self.path)
        self._writer_connection = self._connect()
        self._writer = self._writer_connection.sqlite
        with self._errors():
            self._prepare()
            self._check_codec()
        self._identities = self._files_found()

    def _check_codec(self) -> None:
        """Refuse a sealed store without its codec: it would get rows that are not sealed."""
        if not self.codec.is_sealed:
            refuse_sealed(self.path, self._writer)

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
                    opened = self._watcher or self._open_watcher()
                    if opened is None:
                        yield self._local.connection.sqlite, None
                        return
                    watcher = opened.sqlite
                    watcher.execute("BEGIN")
                    try:
                        yield watcher, watcher.execute("PRAGMA data_version").fetchone()[0]
                    finally:
                        watcher.execute("ROLLBACK")

    def _open_watcher(self) -> _Connection | None:
        """Open the connection that counts commits; None where only this thread's own one still works,
        because the log was removed meanwhile: what is stored can be read, and nothing written."""
        try:
            self._watcher = self._connect()
        except StoreError:
            if self._local.connection is None:
                raise
        return self._watcher

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let every read of this thread see the same state; inside a write it does so anyway."""
        with self.read() as reader:
            if reader.in_transaction:
                yield
                return
            reader.execute("BEGIN")
            try:
                yield
            finally:
                if reader.in_transaction:  # an error may have ended it
                    reader.execute("ROLLBACK")

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
                    self.codec.write_begins(self._writer)
                    before = self._writer.total_changes
                    yield self._writer
                    self.write_gathered()
                    self.codec.write_ends(self._writer)
                    changed = self._writer.total_changes != before
                    if changed or not self._prepared:
                        take_step(self._writer)
                    self._commit()
                    if changed and self._prepared:  # what a removed log received is lost
                        self.check_same()
                except BaseException:
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
                    raise
        finally:
            self._gathered.clear()
            self._local.in_write = False
            self._writing.release()
        self.on_commit()
        if self._purge is not None and self._purge.is_late:  # every write passes here
            self._purge.after_write()

    def _commit(self) -> None:
        try:
            self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            if not is_io_error(error):
                raise
            known = take_back(self._writer, take_step)
            raise StoreError(explain_io_error(self.path, error, known=known)) from error

    @contextmanager
    def _busy_timeout(self, wait_s: float) -> Iterator[None]:
        if wait_s == self.wait_s:  # as it is anyway
            yield
            return
        self._writer.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
        try:
            yield
        finally:
            self._writer.execute(f"PRAGMA busy_timeout = {int(self.wait_s * 1000)}")

    @cached_property
    def words(self) -> SqliteWords:
        from scrubjay.storage.sqlite.words import SqliteWords

        return SqliteWords(self)

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

    def reserve(self, counts: Mapping[str, int]) -> list[int]:
        # As AUTOINCREMENT numbers rows; what is written with a number raises `seq` to it.
        last = ", ".join(
            f"max(coalesce((SELECT CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name = '{table}'), 0),"
            f" coalesce((SELECT max(n) FROM {table}), 0))"
            for table in counts
        )
        return [1 + n for n in self._writer.execute(f"SELECT {last}").fetchone()]

    def holding(self, term: Term) -> tuple[Clause, Clause]:
        return self.keyword.holding(term)

    @contextmanager
    def alone(self, wait_s: float) -> Iterator[sqlite3.Connection]:
        """Give a new connection, which has no pages in memory, to the caller alone."""
        opened = self._connect()
        try:
            opened.sqlite.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
            yield opened.sqlite
        finally:
            opened.sqlite.close()

    def purge_log(self) -> None:
        """Move the write-ahead log into the file and empty it, unless a reader is in the way."""
        with self._writing, self._errors():
            self._check_open()
            with self._busy_timeout(_LOG_WAIT_S):
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def take_step(self, db: Connection) -> None:
        """Number a write transaction of another connection than the writer's."""
        take_step(db)

    def mark_deleted(self, *, words: bool) -> None:
        if self._purge is not None:
            self._purge.mark(self._writer, words=words)

    def index_later(self) -> None:
        """Make segments of the keyword index in the background."""
        if self._indexer is not None:
            self._indexer.note_write()

    def purge(self) -> None:
        """Erase deleted text from the file and its log. Inside a write this does nothing."""
        if self._purge is not None and not self._local.in_write:
            self._check_open()
            self._purge.run()

    def close(self) -> None:
        """Close every connection once the reads of other threads have ended. May be called twice."""
        purge = None if self.closed or self._pid != os.getpid() else self._purge
        indexer = None if self.closed or self._pid != os.getpid() else self._indexer
        steps = [part.finish for part in (indexer, purge) if part is not None]
        close_all([*steps, self._close, self.codec.lock])

    def _close(self) -> None:
        is_ours = self._pid == os.getpid()
        with self._writing:
            was_closed, self.closed = self.closed, True
        # SQLite crashes when a connection is closed while it is in use.
        if not is_ours or self._reads.wait_for_others(_CLOSE_WAIT_S):
            close_all(connection.sqlite.close for connection in list(self._connections))
            if self._purge is not None and is_ours and not was_closed:
                self._purge.release()

    def ping(self) -> None:
        with self.read() as db:
            db.execute("PRAGMA schema_version").fetchone()

    def check_same(self) -> None:
        """Refuse a file that was removed or replaced, or whose log was: what is written is lost."""
        for path, identity in self._identities.items():
            try:
                found = file_identity(path)
            except OSError as error:
                if path == self.path:
                    raise StoreError(
                        f"{path} no longer exists ({error.strerror}); put it back, or open another"
                    ) from error
                raise StoreError(_without_log(self.path, path, "removed")) from error
            if found != identity:
                if path == self.path:
                    raise StoreError(f"{path} was replaced while it was open; open it again")
                raise StoreError(_without_log(self.path, path, "replaced"))

    def _files_found(self) -> dict[str, tuple[int, int]]:
        """Return the identities of the file and its log. The log stays until the last process closes it."""
        found = {}
        for file in (
            () if self._in_memory else (self.path, f"{self.path}{LOG}", f"{self.path}-shm")
        ):
            with suppress(FileNotFoundError):
                found[file] = file_identity(file)
        return found

    def _connect(self) -> _Connection:
        if self._prepared:  # SQLite would create an empty file where ours was removed
            self.check_same()
        if not self._in_memory:
            check_path(self.path)
        try:
            return self._configured()
        finally:
            if self._prepared:  # whatever it opened may have been put there meanwhile
                self.check_same()

    def _configured(self) -> _Connection:
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
        if not (self._in_memory or self._prepared):
            create_missing(self.path)
        return sqlite3.connect(
            self.path,
            timeout=self.wait_s,
            isolation_level=None,
            check_same_thread=False,
            factory=TolerantConnection,
        )

    def _prepare(self) -> None:
        """Create the tables in a new file, or migrate an older one."""
        from scrubjay.storage.sqlite.prepare import prepare

        prepare(self, self._writer, in_memory=self._in_memory)

    @contextmanager
    def _errors(self, wait_s: float | None = None) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            waited_s = self.wait_s if wait_s is None else wait_s
            raise StoreError(explain(self.path, error, waited_s)) from error
        except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message
            raise StoreError(
                f"{self.path} is damaged; run: {to_type('doctor --repair', self.path)}"
            ) from error
        except OverflowError as error:
            raise InvalidInput(f"a number is too large to be stored: {error}") from error
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{error.object[:40]!r} contains half of a surrogate pair, which is not a character"
            ) from error


def _without_log(path: str, log: str, lost: str) -> str:
    return (
        f"{log} was {lost} while the store was open, so what is written now would be lost; close every"
        f" program that uses {path}, and open it again"
    )


def take_step(db: Connection) -> None:
    """Give the current write transaction its number in the chain of `log_chain`."""
    if not db.execute(NEXT_STEP, (STEP,)).rowcount:
        db.execute(FIRST_STEP, (STEP,))


def file_identity(path: str) -> tuple[int, int]:
    """Return what stays when a file's contents change, and differs for another file at its path."""
    found = os.stat(path)
    return found.st_dev, found.st_ino

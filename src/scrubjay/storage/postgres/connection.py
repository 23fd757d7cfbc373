"""One Postgres schema: its connections and its one writer.

A store is a schema of a database, named `scrubjay` or `scrubjay_TENANT`. There is one writer at a time,
as in SQLite: a writer holds an advisory lock until its transaction ends. So the guarantees of a write
are those of a file. Readers go on meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from scrubjay.config import SHORT_TURN_CHARS
from scrubjay.errors import StoreError
from scrubjay.storage.codec import Codec, EscapeNul
from scrubjay.storage.database import NOTE, Clause, Database
from scrubjay.storage.postgres.keyword import PostgresKeyword
from scrubjay.storage.postgres.login import WAIT_S, Login
from scrubjay.storage.postgres.mirror import PostgresMirror
from scrubjay.storage.postgres.schema import MIGRATIONS
from scrubjay.storage.postgres.session import Session
from scrubjay.storage.postgres.vectors import PostgresVector
from scrubjay.storage.postgres.words import PostgresWords, holding
from scrubjay.storage.schema import SCHEMA_VERSION
from scrubjay.text.urls import ServerAddress
from scrubjay.types import Term

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

_LOCK = 0x5343_4A59  # first key of the writer's lock; the second one is the schema
_COMMITS = "commits"


class PostgresDatabase(Database):
    """A store in a schema of a Postgres database."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        schema: str = "scrubjay",
        codec: Codec | None = None,
        wait_s: float = WAIT_S,
        short_turn_chars: int = SHORT_TURN_CHARS,
    ) -> None:
        super().__init__(codec or EscapeNul(), wait_s, short_turn_chars)
        self.login = Login(address, schema)
        self.address = address
        self.schema = schema
        self.path = self.login.shown
        self._pool: ConnectionPool[psycopg.Connection[Any]] | None = None
        with self.login.connected() as connection:
            self.login.check_version(connection)
            self._prepare(Session(connection))
        self._pool = self.login.pool()

    @contextmanager
    def read(self) -> Iterator[Session]:
        outer: Session | None = self._local.connection
        if outer is not None:  # of a write, or of a read around this one
            self._check_open()
            with self.login.errors(self.wait_s):
                yield outer
            return
        with self.login.errors(self.wait_s), self._connection() as connection:
            self._local.connection = session = Session(connection)
            try:
                yield session
            finally:
                self._local.connection = None

    @contextmanager
    def watched(self) -> Iterator[tuple[Session, int | None]]:
        if self.in_write:
            with self.read() as session:
                yield session, None
            return
        with self.read() as session:
            session.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                row = session.execute("SELECT value FROM meta WHERE key = ?", (_COMMITS,))
                (number,) = row.fetchone() or (0,)
                yield session, number
            finally:
                session.connection.rollback()

    @contextmanager
    def one_state(self) -> Iterator[None]:
        if self.in_write:
            yield
            return
        with self.read() as session:
            session.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield
            finally:
                session.connection.rollback()

    @contextmanager
    def write(self, wait_s: float | None = None) -> Iterator[Session]:
        if self.in_write:  # a write inside a write is part of it
            yield self._local.connection
            return
        wait_s = self.wait_s if wait_s is None else wait_s
        if not self._writing.acquire(timeout=wait_s):
            raise StoreError(f"{self.path}: another thread has been writing for {wait_s:.0f} s")
        try:
            with (
                self.login.errors(wait_s),
                self._connection() as connection,
                connection.transaction(),
            ):
                self.lock(Session(connection), self.schema, wait_s)
                with Session(connection, queueing=True).settled() as session:
                    self._local.connection, self._local.in_write = session, True
                    try:
                        yield session
                        self.write_gathered()
                        session.execute(
                            "UPDATE meta SET value = value + 1 WHERE key = ?", (_COMMITS,)
                        )
                    finally:
                        self._local.connection, self._local.in_write = None, False
        finally:
            self._gathered.clear()
            self._writing.release()
        self.on_commit()

    @cached_property
    def words(self) -> PostgresWords:
        return PostgresWords(self)

    @cached_property
    def keyword(self) -> PostgresKeyword:
        return PostgresKeyword(self)

    @cached_property
    def vectors(self) -> PostgresVector:
        return PostgresVector(self)

    @cached_property
    def mirror(self) -> PostgresMirror:
        return PostgresMirror(self)

    @property
    def size_bytes(self) -> int:
        with self.read() as session:
            (size,) = session.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c"
                " WHERE c.relnamespace = to_regnamespace(?) AND c.relkind = 'r'",
                (f'"{self.schema}"',),
            ).fetchone()
        return int(size)

    def reserve(self, counts: Mapping[str, int]) -> list[int]:
        # There is one writer: no other takes a number in between. `setval` would need a further grant.
        first = ", ".join(
            f"(SELECT coalesce(min(nextval(pg_get_serial_sequence('{table}', 'n'))), 0)"
            " FROM generate_series(1, ?))"
            for table in counts
        )
        with self.write() as session:
            return list(session.execute(f"SELECT {first}", list(counts.values())).fetchone())

    def holding(self, term: Term) -> tuple[Clause, Clause]:
        return holding(term, self.codec)

    def ping(self) -> None:
        with self.read() as session:
            session.execute("SELECT 1").fetchone()

    def close(self) -> None:
        self.closed = True
        if self._pool is not None and self._pid == os.getpid():
            self._pool.close(timeout=5.0)

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        from psycopg_pool import PoolTimeout

        self._check_open()
        assert self._pool is not None
        try:
            connection = self._pool.getconn(self.address.timeout_s)
        except PoolTimeout:
            # The pool does not report why. If all are in use, one more is opened.
            with self.login.connected() as extra:
                yield extra
            return
        try:
            yield connection
        finally:
            self.login.note_used(connection)
            self._pool.putconn(connection)

    def _prepare(self, session: Session) -> None:
        found = self.login.schema_version(session)
        if found == SCHEMA_VERSION:
            return
        self.refuse_newer(found)
        if not found:
            self._finish_move(session)
        with session.connection.transaction():
            self.lock(session, self.schema, self.wait_s)
            found = self.login.schema_version(session)  # another process may have been faster
            if not found:
                self._refuse_moved(session)
                session.connection.execute(
                    cast("Any", f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"')
                )
            for version, migrate in sorted(MIGRATIONS.items()):
                if version > found:
                    migrate(lambda statement: session.connection.execute(cast("Any", statement)))
            session.execute(NOTE, ("schema", SCHEMA_VERSION))
            session.execute(
                "INSERT INTO meta (key, value) VALUES (?, 0) ON CONFLICT (key) DO NOTHING",
                (_COMMITS,),
            )

    def _finish_move(self, session: Session) -> None:
        """Put a copy in place that lacks only this: the process that moved it was killed."""
        from scrubjay.storage.postgres.unfinished_move import finish_move

        finish_move(
            session,
            self.schema,
            self.path,
            lambda at, schema: self.lock(at, schema, self.wait_s),
        )

    def _refuse_moved(self, session: Session) -> None:
        """Refuse to create a store where one was moved away, or is moved to: it would be taken for it."""
        from scrubjay.storage.postgres.unfinished_move import refuse_unfinished
        from scrubjay.storage.sqlite.location import moved_away
        from scrubjay.storage.sqlite.unfinished_move import finish_move

        note = self.login.move_note(session)
        refuse_unfinished(session, self.schema, self.path, moved=note is not None)
        if note is not None:
            finish_move(note.place, note.mark)
            raise StoreError(moved_away(self.path, note.place))

    def lock(self, session: Session, schema: str, wait_s: float) -> None:
        session.execute("SELECT set_config('lock_timeout', ?, TRUE)", (f"{int(wait_s * 1000)}ms",))
        session.execute("SELECT pg_advisory_xact_lock(?, hashtext(?))", (_LOCK, schema))

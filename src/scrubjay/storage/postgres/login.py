"""Connections to Postgres: parameters, pool, session settings, and errors with advice."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrubjay.errors import InvalidInput, MissingExtra, ScrubjayError, StoreError, TimedOut
from scrubjay.storage.postgres.session import Session
from scrubjay.storage.sqlite.location import MoveNote
from scrubjay.text.urls import ServerAddress

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

WAIT_S = 60.0  # for another writer
MAX_CONNECTIONS = 16
MIN_VERSION = 16  # older ones require a name for a subquery
_STATEMENT_S = 60.0
_CHECK_AFTER_S = 0.5  # hardly a server restarts in less


class Login:
    """Opens connections to a schema of a database."""

    def __init__(self, address: ServerAddress, schema: str) -> None:
        self.address = address
        self.schema = schema
        self.shown = address.shown if schema == "scrubjay" else f"{address.shown}#{schema}"
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("postgres", 'pip install "scrubjay[postgres]"') from None
        from scrubjay.storage.postgres.watchdog import WatchedConnection

        self._client = psycopg
        self._connection = WatchedConnection
        self._used_s: WeakKeyDictionary[psycopg.Connection[Any], float] = WeakKeyDictionary()

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection[Any]]:
        """Give a connection outside of the pool; errors are explained."""
        with self.errors():
            connection = self._connection.connect(**self._parameters(), autocommit=True)
            try:
                self._configure(connection)
                yield connection
            finally:
                connection.close()

    def pool(self) -> ConnectionPool[psycopg.Connection[Any]]:
        from logging import NullHandler, getLogger

        from psycopg_pool import ConnectionPool

        # Without a handler, Python prints warnings to standard error: two dozen lines of the pool for
        # a server that is down, beside the one error that reports it.
        getLogger("psycopg.pool").addHandler(NullHandler())
        return ConnectionPool(
            connection_class=self._connection,
            kwargs={**self._parameters(), "autocommit": True},
            configure=self._configure,
            check=self._check_unused,
            min_size=1,
            max_size=MAX_CONNECTIONS,
            reconnect_timeout=1.0,
            open=True,
            name="scrubjay",
        )

    def note_used(self, connection: psycopg.Connection[Any]) -> None:
        self._used_s[connection] = time.monotonic()

    def _check_unused(self, connection: psycopg.Connection[Any]) -> None:
        """Make sure that a connection still answers: the server may have been restarted.

        One that answered a moment ago is not checked: that was a third of all queries of a search. But
        data that no one asked for means that the server has closed the connection.
        """
        from psycopg_pool import ConnectionPool

        unused_s = time.monotonic() - self._used_s.get(connection, 0.0)
        if unused_s > _CHECK_AFTER_S or _is_readable(connection):
            ConnectionPool.check_connection(connection)

    def limit_statements(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(
            "SELECT set_config('statement_timeout', %s, FALSE)", (f"{int(_STATEMENT_S * 1000)}ms",)
        )

    def check_version(self, connection: psycopg.Connection[Any]) -> None:
        found = connection.info.server_version // 10_000
        if found < MIN_VERSION:
            raise StoreError(
                f"{self.shown} is PostgreSQL {found}; scrubjay needs {MIN_VERSION} or newer"
            )

    def schema_version(self, session: Session) -> int:
        table = session.execute("SELECT to_regclass(?)", (f'"{self.schema}".meta',)).fetchone()
        if table[0] is None:
            return 0
        row = session.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        return int(row[0]) if row else 0

    def move_note(self, session: Session) -> MoveNote | None:
        note = f'"{self.schema}".moved'
        (exists,) = session.execute("SELECT to_regclass(?) IS NOT NULL", (note,)).fetchone()
        # Earlier versions stored no mark.
        return MoveNote(*session.execute(f"SELECT * FROM {note}").fetchone()) if exists else None

    @contextmanager
    def errors(self, wait_s: float = WAIT_S) -> Iterator[None]:
        """Turn errors of the client into ours, with advice."""
        try:
            yield
        except self._client.Error as error:
            raise _explain(self.address, self.schema, error, wait_s) from error
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{error.object[:40]!r} contains half of a surrogate pair, which is not a character"
            ) from error

    def _parameters(self) -> dict[str, Any]:
        address = self.address
        given = {
            "host": address.host,
            "port": address.port,
            "dbname": address.name,
            "user": address.user,
            "password": address.password,
            "connect_timeout": max(2, round(address.timeout_s)),
            "application_name": "scrubjay",
        }
        return {**{key: value for key, value in given.items() if value}, **dict(address.options)}

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        _register_types(connection)
        connection.execute(
            "SELECT set_config('search_path', %s, FALSE)", (f'"{self.schema}", public',)
        )
        # Starting parallel workers takes longer than most searches by word.
        connection.execute("SET parallel_setup_cost = 20000")
        # An acknowledged write is on disk, whatever the server does for others: where it was set to
        # answer first and write later, a kill of the server lost the last writes.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', FALSE)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        )
        self.limit_statements(connection)


def _is_readable(connection: psycopg.Connection[Any]) -> bool:
    from selectors import EVENT_READ, DefaultSelector

    with DefaultSelector() as selector:
        selector.register(connection.fileno(), EVENT_READ)
        return bool(selector.select(0))


def _register_types(connection: psycopg.Connection[Any]) -> None:
    """Load whole decimals, such as sums, as integers, and send texts with their type."""
    from psycopg.adapt import Loader
    from psycopg.types.string import StrDumper

    class Number(Loader):
        def load(self, data: Any) -> int | float:
            text = bytes(data)
            return int(text) if text.lstrip(b"-").isdigit() else float(text)

    connection.adapters.register_loader("numeric", Number)
    connection.adapters.register_dumper(str, StrDumper)


def _explain(
    address: ServerAddress, schema: str, error: psycopg.Error, waited_s: float
) -> ScrubjayError:
    from psycopg import errors

    here, message = address.shown, _message(address, error)
    if isinstance(error, errors.LockNotAvailable):
        return StoreError(f"{here}: another process has been writing for {waited_s:.0f} s")
    if isinstance(error, errors.QueryCanceled):
        return TimedOut(f"{here} took too long and was stopped ({message}); try again")
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreError(
            f"{here}: the user lacks a permission ({message});"
            f" {_grant_advice(address, schema, message)}"
        )
    if isinstance(error, errors.UndefinedTable):
        return StoreError(
            f"{here}: {message}; the store was moved or removed while it was open: open it again"
        )
    if isinstance(error, errors.DataError):
        return InvalidInput(f"{here} refuses a value: {message}")
    if isinstance(error, errors.ProgramLimitExceeded):  # which is an OperationalError, too
        return InvalidInput(f"{here}: a value is too long: {message}; shorten the longest name")
    if isinstance(error, errors.OperationalError):
        return StoreError(
            f"{here} does not answer: {message}; {_connect_advice(address, message)}"
        )
    return StoreError(f"{here}: {message}")


def _grant_advice(address: ServerAddress, schema: str, message: str) -> str:
    """Return how to get the permission: to create a store, to use one, or to change its tables."""
    user, its = _quoted(address.user or "USER"), _quoted(schema)
    if "must be owner" in message:
        return "open it once as the owner of its tables, who may change them"
    if "for database" in message:
        return f"its owner must run: GRANT CREATE ON DATABASE {_quoted(address.name)} TO {user}"
    return (
        f"the owner of the store must run: GRANT USAGE ON SCHEMA {its} TO {user}; GRANT SELECT,"
        f" INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {its} TO {user}; GRANT USAGE ON ALL"
        f" SEQUENCES IN SCHEMA {its} TO {user}"
    )


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*|USER", name) else f'"{name}"'


def _connect_advice(address: ServerAddress, message: str) -> str:
    secrets = f"{address.kind.secret_env} or PGPASSWORD"
    advice = {
        "password|authentication": f"give the right user, and the password in the URL or in {secrets}",
        "database .*does not exist": f"create the database first: createdb {address.name}",
        "role .*does not exist": "give an existing user: postgres://USER@…",
        "ssl|certificate": "check sslmode and sslrootcert in the URL",
        "too many|remaining connection slots": "raise max_connections of the server, or stop other"
        " programs",
        "": "check that Postgres runs there and that this machine can reach it",
    }
    return next(text for known, text in advice.items() if re.search(known, message, re.IGNORECASE))


def _message(address: ServerAddress, error: psycopg.Error) -> str:
    """Return an error in one line and without the password."""
    line = " ".join((error.diag.message_primary or str(error)).split()) or type(error).__name__
    # The client adds host and port, which our message has already, and asks whether the server runs.
    line = line.rpartition("FATAL: ")[2].strip()
    line = re.sub(r"^connection failed: connection to server at .* failed: ", "", line)
    line = line.partition(" Is the server running")[0]
    return line.replace(address.password, "…") if address.password else line

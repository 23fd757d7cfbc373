"""How Postgres is reached: the client, its connections, what each is told first, and its errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrubjay.errors import InvalidInput, MissingExtra, StoreError
from scrubjay.storage.postgres.errors import explained
from scrubjay.storage.postgres.session import Session

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

    from scrubjay.text.urls import ServerAddress

WAIT_S = 60.0  # for another writer
MOST_CONNECTIONS = 16
LEAST_VERSION = 16  # before it, a query inside a query had to have a name
_STATEMENT_S = 60.0
_CHECK_AFTER_S = 0.5  # hardly a server stops and starts in less


class Login:
    """A schema of a database, and how to get there."""

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
        """Give a connection of one's own; what goes wrong is explained."""
        with self.errors():
            connection = self._connection.connect(**self._arguments(), autocommit=True)
            try:
                self._prepare(connection)
                yield connection
            finally:
                connection.close()

    def pool(self) -> ConnectionPool[psycopg.Connection[Any]]:
        """Return connections to be lent, none of which was cut meanwhile."""
        from logging import NullHandler, getLogger

        from psycopg_pool import ConnectionPool

        # Where nobody listens, Python writes warnings to standard error: two dozen lines of the pool,
        # with a server that is down, beside the one sentence that says so.
        getLogger("psycopg.pool").addHandler(NullHandler())
        return ConnectionPool(
            connection_class=self._connection,
            kwargs={**self._arguments(), "autocommit": True},
            configure=self._prepare,
            check=self._check_unused,
            min_size=1,
            max_size=MOST_CONNECTIONS,
            reconnect_timeout=1.0,
            open=True,
            name="scrubjay",
        )

    def note_used(self, connection: psycopg.Connection[Any]) -> None:
        """Note that a connection has answered just now."""
        self._used_s[connection] = time.monotonic()

    def _check_unused(self, connection: psycopg.Connection[Any]) -> None:
        """Make sure that a connection still answers: the server may have been started anew.

        One that answered a moment ago is not asked: that was a third of all that a search asks. But a
        server that says something unasked says farewell.
        """
        from psycopg_pool import ConnectionPool

        unused_s = time.monotonic() - self._used_s.get(connection, 0.0)
        if unused_s > _CHECK_AFTER_S or _has_news(connection):
            ConnectionPool.check_connection(connection)

    def limit_statements(self, connection: psycopg.Connection[Any]) -> None:
        """Let no statement of a connection run for longer than the usual bound."""
        connection.execute(
            "SELECT set_config('statement_timeout', %s, FALSE)", (f"{int(_STATEMENT_S * 1000)}ms",)
        )

    def check_version(self, connection: psycopg.Connection[Any]) -> None:
        """Refuse a server that is too old."""
        found = connection.info.server_version // 10_000
        if found < LEAST_VERSION:
            raise StoreError(
                f"{self.shown} is PostgreSQL {found}; scrubjay needs {LEAST_VERSION} or newer"
            )

    def schema_version(self, session: Session) -> int:
        """Return the version of the tables; 0 where there are none."""
        table = session.execute("SELECT to_regclass(?)", (f'"{self.schema}".meta',)).fetchone()
        if table[0] is None:
            return 0
        row = session.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        return int(row[0]) if row else 0

    def moved_to(self, session: Session) -> str | None:
        """Return where the memories of the schema were moved, if that is all that it says."""
        note = f'"{self.schema}".moved'
        (there,) = session.execute("SELECT to_regclass(?) IS NOT NULL", (note,)).fetchone()
        return session.execute(f"SELECT place FROM {note}").fetchone()[0] if there else None

    @contextmanager
    def errors(self, wait_s: float = WAIT_S) -> Iterator[None]:
        """Let errors of the client be ours, in a sentence that says what to do."""
        try:
            yield
        except self._client.Error as error:
            raise explained(self.address, self.schema, error, wait_s) from error
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{error.object[:40]!r} holds half of a surrogate pair, which is not a character"
            ) from error

    def _arguments(self) -> dict[str, Any]:
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
        return {**{key: one for key, one in given.items() if one}, **dict(address.options)}

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        _speak_plainly(connection)
        connection.execute(
            "SELECT set_config('search_path', %s, FALSE)", (f'"{self.schema}", public',)
        )
        # To start helpers takes longer than most searches by word.
        connection.execute("SET parallel_setup_cost = 20000")
        # What was acknowledged is on disk, whatever the server does for others: where it was set to
        # answer first and write later, a kill of the server lost the last writes.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', FALSE)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        )
        self.limit_statements(connection)


def _has_news(connection: psycopg.Connection[Any]) -> bool:
    """True when there is something to be read, or the other end is closed."""
    from selectors import EVENT_READ, DefaultSelector

    with DefaultSelector() as waiting:
        waiting.register(connection.fileno(), EVENT_READ)
        return bool(waiting.select(0))


def _speak_plainly(connection: psycopg.Connection[Any]) -> None:
    """Let sums of whole numbers be whole numbers, where Postgres gives decimals; and texts be texts.

    What a text is meant for the client would leave open, and Postgres cannot always tell.
    """
    from psycopg.adapt import Loader
    from psycopg.types.string import StrDumper

    class Number(Loader):
        def load(self, data: Any) -> int | float:
            text = bytes(data)
            return int(text) if text.lstrip(b"-").isdigit() else float(text)

    connection.adapters.register_loader("numeric", Number)
    connection.adapters.register_dumper(str, StrDumper)

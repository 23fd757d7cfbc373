"""A connection to Postgres that takes statements as SQLite reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast

from scrubjay.stores.dialect import postgres

if TYPE_CHECKING:
    import psycopg

    from scrubjay.stores.database import Cursor


class Session:
    """One connection, lent to one thread.

    A `queueing` one does not wait for a statement until somebody reads what it gave: most of a write
    is never read, and each answer is a journey. One that fails is reported at the next answer, and at
    the latest by `settle`.
    """

    def __init__(self, connection: psycopg.Connection[Any], *, queueing: bool = False) -> None:
        self.connection = connection
        self._queueing = queueing
        self._queue: psycopg.Pipeline | None = None
        self._leaving = ExitStack()

    def execute(self, statement: str, arguments: Sequence[Any] = (), /) -> Cursor:
        """Run one statement with its arguments."""
        self._begin()
        spoken = postgres(statement)
        made = self.connection.execute(cast("Any", spoken.sql), spoken.arguments(arguments))
        return cast("Cursor", made if self._queue is None else _Queued(made, self._queue))

    def executemany(self, statement: str, several: Iterable[Sequence[Any]], /) -> None:
        """Run one statement for each of several lists of arguments, without waiting in between."""
        self._begin()
        spoken = postgres(statement)
        with self.connection.cursor() as cursor:
            cursor.executemany(
                cast("Any", spoken.sql), [spoken.arguments(given) for given in several]
            )

    def settle(self) -> None:
        """Wait until all that was queued is done."""
        self._queue = None
        self._leaving.close()

    @contextmanager
    def settled(self) -> Iterator[Session]:
        """Settle at the end; where something failed before that, that is what is reported."""
        with ExitStack() as self._leaving:
            yield self
            self._queue = None

    def _begin(self) -> None:
        if self._queueing and self._queue is None:
            self._queue = self._leaving.enter_context(self.connection.pipeline())


class _Queued:
    """The rows of a statement that may still be under way."""

    def __init__(self, cursor: psycopg.Cursor[Any], queue: psycopg.Pipeline) -> None:
        self._cursor = cursor
        self._queue = queue
        self.fetchone = cursor.fetchone
        self.fetchall = cursor.fetchall
        self.fetchmany = cursor.fetchmany

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        self._queue.sync()
        return self._cursor.rowcount

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cursor)

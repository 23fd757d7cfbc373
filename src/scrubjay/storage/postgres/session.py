"""A connection to Postgres that takes statements as SQLite reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from scrubjay.storage.postgres.dialect import postgres

if TYPE_CHECKING:
    import psycopg

    from scrubjay.storage.database import Cursor

_AT_ONCE = (64, 8, 2, 1)  # rows in one statement; few sizes, so that the server knows all of them
_ROW = re.compile(r"(INSERT INTO [^()]+\([^()]+\) VALUES )(\([^()]+\))(.*)$", re.DOTALL)


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
        """Run one statement for each of several lists of arguments, without waiting in between.

        Rows to insert go several in one statement, so no two of them may replace the same row.
        """
        self._begin()
        spoken = postgres(statement)
        rows = [spoken.arguments(given) for given in several]
        with self.connection.cursor() as cursor:
            while rows:
                size = next(size for size in _AT_ONCE if size <= len(rows))
                if size == 1 or (wide := _wide(spoken.sql, size)) is None:
                    cursor.executemany(cast("Any", spoken.sql), rows)
                    return
                whole = len(rows) // size * size
                cursor.executemany(
                    cast("Any", wide),
                    [
                        [one for row in rows[at : at + size] for one in row]
                        for at in range(0, whole, size)
                    ],
                )
                rows = rows[whole:]

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


@lru_cache(maxsize=256)
def _wide(sql: str, size: int) -> str | None:
    """Return an insertion of one row as one of several; None for any other statement."""
    found = _ROW.match(sql)
    if found is None:
        return None
    before, row, after = found.groups()
    return f"{before}{', '.join([row] * size)}{after}"


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

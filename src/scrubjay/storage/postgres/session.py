"""A Postgres connection that takes statements in SQLite's dialect.

The tables and nearly all statements are the same. Differences in spelling are translated here; what
differs in kind, such as the keyword index, has separate code for each database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from scrubjay.storage.database import Connection, Cursor

if TYPE_CHECKING:
    import psycopg

# Applied outside of quoted texts only.
_TRANSLATIONS = (
    (re.compile(r"\bIS (\?\d*|coalesce\()"), r"IS NOT DISTINCT FROM \1"),
    (re.compile(r"\bNOT INDEXED\b|\bINDEXED BY \w+"), ""),
    # A plus before a column keeps SQLite from using an index.
    (re.compile(r"(?<=[\s(])\+(?=[a-z_])"), ""),
    (re.compile(r"\bLIMIT -1\b"), "LIMIT ALL"),
    # Postgres has no empty lists.
    (re.compile(r"[\w.]+ NOT IN \(\)"), "TRUE"),
    (re.compile(r"[\w.]+ IN \(\)"), "FALSE"),
    # In SQLite a cross join may have a condition; it sets the order in which tables are read.
    (re.compile(r"\bCROSS JOIN (\w+ AS \w+) ON\b"), r"JOIN \1 ON"),
    (re.compile(r"\bgroup_concat\(([\w.]+)\)"), r"string_agg(\1::text, ',')"),
    (re.compile(r"\bjson_group_array\(([^)]*)\)"), r"json_agg(\1)::text"),
    (re.compile(r"\bjson_each\((\?)\)"), r"json_array_elements_text(\1::json) AS value"),
)
_IGNORE = re.compile(r"\bINSERT OR IGNORE INTO\b")
_QUOTED = re.compile(r"('(?:[^']|'')*')")
_MARK = re.compile(r"\?(\d*)")
_ROWS = (64, 8, 2, 1)  # in one statement; few sizes, so that the server has all of them prepared
_INSERT = re.compile(r"(INSERT INTO [^()]+\([^()]+\) VALUES )(\([^()]+\))(.*)$", re.DOTALL)


class Translated(NamedTuple):
    """A statement for Postgres, and which argument belongs to each of its placeholders."""

    sql: str
    order: tuple[int, ...] | None

    def arguments(self, given: Sequence[Any]) -> Sequence[Any]:
        return given if self.order is None else [given[place] for place in self.order]


@lru_cache(maxsize=2048)
def translate(statement: str) -> Translated:
    """Translate a statement of SQLite for Postgres. `?` and `?1` must not be mixed in one."""
    ignore = _IGNORE.search(statement) is not None
    order: list[int] = []

    def placeholder(mark: re.Match[str]) -> str:
        if mark[1]:
            order.append(int(mark[1]) - 1)
        return "%s"

    parts = _QUOTED.split(_IGNORE.sub("INSERT INTO", statement))
    for at, part in enumerate(parts):
        sql = part.replace("%", "%%")
        if at % 2 == 0:
            for pattern, replacement in _TRANSLATIONS:
                sql = pattern.sub(replacement, sql)
            sql = _MARK.sub(placeholder, sql)
        parts[at] = sql
    return Translated("".join(parts) + " ON CONFLICT DO NOTHING" * ignore, tuple(order) or None)


class Session:
    """One connection, used by one thread.

    A `queueing` one sends statements without waiting, until a result is read: most results of a write
    are never read, and each is a round trip. A statement that fails is reported with the next result,
    and at the latest by `settle`.
    """

    def __init__(self, connection: psycopg.Connection[Any], *, queueing: bool = False) -> None:
        self.connection = connection
        self._queueing = queueing
        self._queue: psycopg.Pipeline | None = None
        self._exit = ExitStack()

    def execute(self, statement: str, arguments: Sequence[Any] = (), /) -> Cursor:
        self._begin()
        translated = translate(statement)
        cursor = self.connection.execute(
            cast("Any", translated.sql), translated.arguments(arguments)
        )
        return cast("Cursor", cursor if self._queue is None else _Queued(cursor, self._queue))

    def executemany(self, statement: str, several: Iterable[Sequence[Any]], /) -> None:
        """Run one statement for each list; rows go several in one, so no two may replace the same row."""
        self._begin()
        translated = translate(statement)
        rows = [translated.arguments(given) for given in several]
        with self.connection.cursor() as cursor:
            while rows:
                size = next(size for size in _ROWS if size <= len(rows))
                if size == 1 or (wide := _widened(translated.sql, size)) is None:
                    cursor.executemany(cast("Any", translated.sql), rows)
                    return
                whole = len(rows) // size * size
                cursor.executemany(
                    cast("Any", wide),
                    [
                        [value for row in rows[at : at + size] for value in row]
                        for at in range(0, whole, size)
                    ],
                )
                rows = rows[whole:]

    def settle(self) -> None:
        self._queue = None
        self._exit.close()

    @contextmanager
    def settled(self) -> Iterator[Session]:
        """Settle at the end; an error before that is the one that is reported."""
        with ExitStack() as self._exit:
            yield self
            self._queue = None

    def _begin(self) -> None:
        if self._queueing and self._queue is None:
            self._queue = self._exit.enter_context(self.connection.pipeline())


def copy_rows(
    db: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    session = cast("Session", db)
    session.settle()  # COPY cannot run while statements are queued
    with session.connection.cursor() as cursor, cursor.copy(cast("Any", statement)) as copy:
        for row in rows:
            copy.write_row(row)


@lru_cache(maxsize=256)
def _widened(sql: str, size: int) -> str | None:
    found = _INSERT.match(sql)
    if found is None:
        return None
    before, row, after = found.groups()
    return f"{before}{', '.join([row] * size)}{after}"


class _Queued:
    """The result of a statement that may still be under way."""

    def __init__(self, cursor: psycopg.Cursor[Any], queue: psycopg.Pipeline) -> None:
        self._cursor = cursor
        self._queue = queue
        self.fetchone = cursor.fetchone
        self.fetchall = cursor.fetchall
        self.fetchmany = cursor.fetchmany

    @property
    def rowcount(self) -> int:
        self._queue.sync()
        return self._cursor.rowcount

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cursor)

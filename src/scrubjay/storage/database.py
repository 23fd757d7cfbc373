"""What a table needs of its database, be it SQLite or Postgres: connections, and one writer at a time.

The tables of both are the same, and so are the statements, written as SQLite reads them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from scrubjay.storage.codec import Codec
    from scrubjay.storage.protocols import KeywordIndex
    from scrubjay.storage.sql.mirror import Mirror
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.storage.sql.words import SqlWords
    from scrubjay.types import Term


class Cursor(Protocol):
    """The rows that a statement gave."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        ...

    def fetchmany(self, size: int) -> list[Any]:
        """Return so many of the rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements."""

    def execute(self, statement: str, arguments: Sequence[Any] = ..., /) -> Cursor:
        """Run one statement with its arguments."""
        ...

    def executemany(self, statement: str, several: Iterable[Sequence[Any]], /) -> object:
        """Run one statement for each of several lists of arguments; no two may replace the same row."""
        ...


# Notes a number under a name, in place of any other.
NOTE = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class Clause(NamedTuple):
    """A piece of a statement, with its arguments."""

    sql: str
    arguments: tuple[object, ...]


class Gathered(ABC):
    """Changes of a table that are gathered during a write."""

    @abstractmethod
    def write(self, db: Connection) -> None:
        """Bring the table up to date."""


G = TypeVar("G", bound=Gathered)


class Database(Protocol):
    """Where the tables of a store are."""

    path: str
    codec: Codec
    short_turn_chars: int
    wait_s: float
    closed: bool
    failed: bool
    frozen: bool
    on_commit: Callable[[], None]

    @property
    def in_write(self) -> bool:
        """True while this thread holds the write transaction."""
        ...

    @property
    def words(self) -> SqlWords:
        """What writes the keyword index."""
        ...

    def read(self) -> AbstractContextManager[Connection]:
        """Give a connection for reading; inside a write it is the writer's, so it sees its own rows."""
        ...

    def watched(self) -> AbstractContextManager[tuple[Connection, int | None]]:
        """Give a connection for reading, and a number that changes whenever anybody has committed."""
        ...

    def write(self, wait_s: float | None = None) -> AbstractContextManager[Connection]:
        """Give the writer inside one transaction: all of it is durable afterwards, or none of it."""
        ...

    def gathering(self, kind: type[G]) -> G:
        """Return what this write gathers, to be written once before it ends; a rollback drops it."""
        ...

    def write_gathered(self) -> None:
        """Write what was gathered so far, for whoever wants to read it inside the same write."""
        ...

    def holding(self, term: Term) -> tuple[Clause, Clause]:
        """Return how to select the memories that hold a term: in any field, and in their own fields.

        The context of a message is what others said around it, and not its own.
        """
        ...

    @property
    def keyword(self) -> KeywordIndex:
        """What finds memories by word."""
        ...

    @property
    def vectors(self) -> SqlVectors:
        """What keeps the vectors of this database, and finds memories by them."""
        ...

    @property
    def mirror(self) -> Mirror:
        """What fills this database with the rows of another, and puts it aside."""
        ...

    @property
    def size_bytes(self) -> int:
        """How much room the store takes."""
        ...

    def check_writable(self) -> None:
        """Refuse a store in which nothing may be written, before anything else is done."""
        ...

    def check_same(self) -> None:
        """Refuse to go on with a store that was removed or replaced."""
        ...

    def purge_log(self) -> None:
        """Leave nothing of what was deleted in a log."""
        ...

    def ping(self) -> None:
        """Read a little, so that a store that cannot be read says so."""
        ...

    def close(self) -> None:
        """Close every connection; twice is fine."""
        ...

"""Database: what tables need of SQLite or Postgres; connections, and one writer at a time.

Both have the same tables and run the same statements, written for SQLite.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

from scrubjay.errors import Locked, StoreError
from scrubjay.storage.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from scrubjay.storage.codec import Codec
    from scrubjay.storage.sql.keyword_ranking import KeywordIndex
    from scrubjay.storage.sql.mirror import Mirror
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.storage.sql.words import SqlWords
    from scrubjay.types import Term


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def fetchmany(self, size: int) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements."""

    def execute(self, statement: str, arguments: Sequence[Any] = ..., /) -> Cursor: ...

    def executemany(self, statement: str, several: Iterable[Sequence[Any]], /) -> object:
        """Run one statement for each list of arguments; no two may replace the same row."""


# Stores a number under a key of `meta`.
NOTE = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

# Keys of `meta`: deleted text that is still to be erased from the files, and from the keyword index.
PURGE, PURGE_WORDS = "purge", "purge_words"
# Keys of `meta`: the vector caches beside an SQLite file, and until when a process builds one.
CACHES, CACHES_LEASE = "vector_caches", "vector_caches_lease"


# Name in the table `keys`: the master key of a sealed store, encrypted.
ENVELOPE = "sealed"

# Ends the name of a copy that is filled to become the store of the name before it.
FILLING = ".filling"


class Clause(NamedTuple):
    """A part of a statement, with its arguments."""

    sql: str
    arguments: tuple[object, ...]


class Gathered(ABC):
    """Changes that are gathered during a write, and written once before it ends."""

    @abstractmethod
    def write(self, db: Connection) -> None:
        """Write the changes."""


G = TypeVar("G", bound=Gathered)


class _Local(threading.local):
    """The connection of a thread, and whether it holds the write transaction."""

    in_write = False
    connection: Any = None


class Database(ABC):
    """A store's tables in SQLite or Postgres: connections, and one writer at a time.

    Messages of at most `short_turn_chars` are indexed together with those around them. `failed` and
    `frozen` are set by the SQLite ExistingDatabase.
    """

    path: str
    failed = False
    frozen = False

    def __init__(self, codec: Codec, wait_s: float, short_turn_chars: int) -> None:
        self.codec = codec
        # Ids of memories that could not be read, with the reason.
        self.damaged: dict[str, str] = {}
        self.wait_s = wait_s
        self.short_turn_chars = short_turn_chars
        self.on_commit: Callable[[], None] = lambda: None
        self.closed = False
        self._local = _Local()
        self._writing = threading.RLock()
        self._gathered: dict[type[Gathered], Gathered] = {}
        self._pid = os.getpid()

    @property
    def in_write(self) -> bool:
        """True while this thread holds the write transaction."""
        return self._local.in_write

    @property
    @abstractmethod
    def words(self) -> SqlWords: ...

    @property
    @abstractmethod
    def keyword(self) -> KeywordIndex: ...

    @property
    @abstractmethod
    def vectors(self) -> SqlVectors: ...

    @property
    @abstractmethod
    def mirror(self) -> Mirror: ...

    @property
    @abstractmethod
    def size_bytes(self) -> int:
        """The size of the store on disk."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Connection]:
        """Give a connection for reading; inside a write it is the writer's, which sees its own rows."""

    @abstractmethod
    def watched(self) -> AbstractContextManager[tuple[Connection, int | None]]:
        """Give a connection for reading, and a number that changes with every commit of any
        process. Inside a write the number is None."""

    @abstractmethod
    def one_state(self) -> AbstractContextManager[None]:
        """Let every read of this thread see the same state, whatever others write meanwhile."""

    @abstractmethod
    def write(self, wait_s: float | None = None) -> AbstractContextManager[Connection]:
        """Give the writer inside one transaction, which commits at the end or is rolled back."""

    def gathering(self, kind: type[G]) -> G:
        """Return changes that this write collects and writes once before it ends. Writing the same
        small changes one by one takes twice as long. A rollback drops them."""
        return cast("G", self._gathered.setdefault(kind, kind()))

    def write_gathered(self) -> None:
        """Write the collected changes now, so that the same write can read them."""
        # Writing may collect more: the messages beside a message change what is counted.
        while self._gathered:
            with self.write() as db:
                self._gathered.pop(next(iter(self._gathered))).write(db)

    @abstractmethod
    def reserve(self, counts: Mapping[str, int]) -> list[int]:
        """Return the first of as many new numbers as rows are to be written into each of these
        tables; only inside a write, by which they are in order."""

    @abstractmethod
    def holding(self, term: Term) -> tuple[Clause, Clause]:
        """Return how to select the memories that hold a term: in any field, and in their own
        fields. The context of a message is what others said around it, and not its own."""

    def check_writable(self) -> None:  # noqa: B027
        """Raise an error for a store that is read-only."""

    def check_same(self) -> None:  # noqa: B027
        """Raise an error if the store was deleted or replaced since it was opened."""

    def mark_deleted(self, *, words: bool) -> None:  # noqa: B027
        """Record in the write under way that text was deleted, and is to be erased from the files;
        `words` if the keyword index still has it."""

    def purge(self) -> None:  # noqa: B027
        """Erase deleted text from the files, now if that is possible, else as soon as it is."""

    @abstractmethod
    def ping(self) -> None:
        """Read a little; raises an error if the store cannot be read."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection; calling it twice is harmless."""

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError(f"{self.path} is closed; open it again with scrubjay.open()")
        if self._pid != os.getpid():  # connections do not survive a fork
            raise StoreError(
                f"{self.path} was opened before this process was forked; open it again here"
            )

    def refuse_newer(self, found: int) -> None:
        if found > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer scrubjay (schema {found}; this version supports"
                f" {SCHEMA_VERSION}); upgrade with: pip install --upgrade scrubjay"
            )


def refuse_sealed(path: str, db: Connection) -> None:
    """Refuse a sealed store that is opened without a key."""
    if db.execute("SELECT 1 FROM keys WHERE name = ?", (ENVELOPE,)).fetchone() is not None:
        raise Locked(f"{path} is sealed; open it with its key")

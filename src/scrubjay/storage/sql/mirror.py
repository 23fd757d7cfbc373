"""Tables that a promote or demote copies, read from the schema, and the mark of the process that copies.

What belongs to one database alone is left out: leases, the outbox, deleted vectors, and its own notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any, NamedTuple, Protocol

from scrubjay.errors import StoreError
from scrubjay.storage.database import (
    CACHES,
    CACHES_LEASE,
    NOTE,
    PURGE,
    PURGE_WORDS,
    Connection,
    Database,
)
from scrubjay.storage.postgres.schema import TABLES

MARK = "mirroring"
# Keys of `meta` about the database itself, not about its memories.
KEPT = "kept_copy"  # a copy whose source was kept, and may differ from it
CAUGHT_UP = "caught_up"  # the number of commits when it was last made the same as its source
_COUNTS = "commits schema postings postings_stamp indexed_memories indexed_tokens".split()
_CACHES = (CACHES, CACHES_LEASE)
OWN_NOTES = (*_COUNTS, PURGE, PURGE_WORDS, *_CACHES, MARK, KEPT, CAUGHT_UP)
# A store without rows in any of these contains nothing of value.
_CONTENTS = ("memories", "collections", "folders", "feedback", "access")
_OWN_TABLES = ("projections", "outbox", "word_parts")
_OWN_COLUMNS = {"wanting": ("leased_until_s",), "extractions": ("leased_until_s",)} | {
    "words": ("length",)  # Postgres counts the tokens of its lines itself
}

# Texts and bytes that pass through a database's codec.
SEALED_TEXTS: Mapping[str, tuple[str, ...]] = {
    "memories": ("text", "title", "context", "topics", "metadata", "source"),
    "chunks": ("heading",),
    "feedback": ("query",),
    "files": ("path", "part"),
    "left_out": ("path", "reason"),
    "folders": ("path",),
    "targets": ("target",),
    "kept": ("value",),
    "versions": ("earlier",),
    "spans": ("text",),
    "wanting": ("reason",),
    "extractions": ("reason",),
}
SEALED_BYTES: Mapping[str, tuple[str, ...]] = {"vectors": ("vector",), "tokens": ("codes",)}


class Table(NamedTuple):
    """A table: without `keyed`, several rows can have the same key, and are copied together."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    unique: tuple[str, ...] = ()
    numbered: bool = False
    keyed: bool = True


class Mirror(Protocol):
    """What copying needs of a database, beyond plain statements."""

    def quiet(self, db: Connection, table: str) -> AbstractContextManager[None]:
        """Disable the triggers of a table until the end of the block."""

    def insert(self, db: Connection, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        """Add many new rows."""

    def numbers(self, db: Connection) -> dict[str, int]:
        """Return the highest number that each table has ever given."""

    def set_numbers(self, db: Connection, numbers: Mapping[str, int]) -> None:
        """Make each table give only numbers above these."""

    def settle(self) -> None:
        """Update what the database derives from its rows; only inside a write."""

    def free_name(self) -> str:
        """Return the name that the store can have once it is retired."""

    def retire(self, moved_to: str, mark: int, aside: str) -> None:
        """Rename the store, so that it is not written any more; only inside a write."""

    def unchanged(self) -> bool:
        """True if a published copy was certainly not written since; only inside a write."""

    def note_caught_up(self) -> None:
        """Record that this write makes a published copy the same as its source."""


def _table(name: str, definitions: Sequence[str]) -> Table:
    columns: list[str] = []
    key: tuple[str, ...] = ()
    unique: list[str] = []
    numbered = False
    for definition in definitions:
        if constraint := re.match(r"(PRIMARY KEY|UNIQUE) \((.*)\)", definition):
            names = tuple(constraint[2].split(", "))
            if constraint[1] == "UNIQUE":
                unique += names
            else:
                key = names
            continue
        column = definition.partition(" ")[0]
        if column in _OWN_COLUMNS.get(name, ()):
            continue
        columns.append(column)
        if "PRIMARY KEY" in definition:
            key, numbered = (column,), "IDENTITY" in definition
        elif "UNIQUE" in definition:
            unique.append(column)
    return Table(
        name, tuple(columns), key or (columns[0],), tuple(unique), numbered, keyed=bool(key)
    )


# In the order in which they can be filled.
MIRRORED = tuple(_table(name, given) for name, given in TABLES if name not in _OWN_TABLES)
NUMBERED = tuple(table.name for table in MIRRORED if table.numbered)


def take(target: Database, mark: int) -> None:
    """Mark a store as filled by this process. A process that began earlier stops at our mark."""
    with target.write() as db:
        db.execute(NOTE, (MARK, mark))


@contextmanager
def filled(target: Database, mark: int) -> Iterator[Connection]:
    """Write to a store that has our mark."""
    with target.write() as db:
        if filled_by(db) != mark:
            raise StoreError(disturbed(target))
        yield db


def filled_by(db: Connection) -> int | None:
    """Return the mark of the process that filled a store, or fills it."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (MARK,)).fetchone()
    return None if row is None else int(row[0])


def holds_memories(db: Connection) -> bool:
    return any(
        db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None for table in _CONTENTS
    )


def occupied(place: str) -> str:
    return f"{place} holds other memories; give an empty place, or another --tenant"


def first_free(wanted: str, taken: Callable[[str], bool]) -> str:
    """Return a name, with a number where it is taken already."""
    numbered = (wanted if n == 1 else f"{wanted}-{n}" for n in count(1))
    return next(name for name in numbered if not taken(name))


def disturbed(target: Database) -> str:
    return f"{target.path}: another process has begun to fill it; let that one end, or run again"

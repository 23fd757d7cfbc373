"""The tables that a mirror copies, read off the schema: what is a row's key, and what else is unique.

What belongs to one database alone is left out: leases, what its servers have yet to be told, its log of
vectors that are gone, and its own notes about itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol

from scrubjay.errors import StoreError
from scrubjay.storage.database import NOTE, Connection, Database
from scrubjay.storage.postgres.schema import TABLES

MARK = "mirroring"
# Keys of `meta` that say how it stands with one database, not with the memories in it.
OWN_NOTES = ("commits", "schema", "indexed_memories", "indexed_tokens", MARK)
_OWN_TABLES = ("projections", "outbox", "word_parts")
_OWN_COLUMNS = {"wanting": ("leased_until_s",), "extractions": ("leased_until_s",)} | {
    "words": ("length",)  # Postgres counts the tokens of its lines itself
}

# Texts and bytes that pass through a database's codec.
SEALED_TEXTS: Mapping[str, tuple[str, ...]] = {
    "memories": ("text", "title", "context", "topics", "metadata", "source"),
    "chunks": ("heading",),
    "feedback": ("query",),
    "files": ("path",),
    "left_out": ("path",),
    "folders": ("path",),
    "targets": ("target",),
    "kept": ("value",),
    "history": ("before", "after"),
    "spans": ("text",),
}
SEALED_BYTES: Mapping[str, tuple[str, ...]] = {"vectors": ("vector",), "tokens": ("codes",)}


class Table(NamedTuple):
    """A table: without `keyed`, several rows can have the same key, and are taken together."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    unique: tuple[str, ...] = ()
    numbered: bool = False
    keyed: bool = True

    @property
    def key_places(self) -> tuple[int, ...]:
        """Where the key stands in a row."""
        return tuple(map(self.columns.index, self.key))


class Mirror(Protocol):
    """What filling a database with the rows of another asks of it, beyond plain statements."""

    def quiet(self, db: Connection, table: str) -> AbstractContextManager[None]:
        """Keep the triggers of a table from firing, until the end of the block."""
        ...

    def insert(self, db: Connection, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows that are not there."""
        ...

    def numbers(self, db: Connection) -> dict[str, int]:
        """Return the highest number that each table has ever given."""
        ...

    def set_numbers(self, db: Connection, numbers: Mapping[str, int]) -> None:
        """Have each table give only numbers above these."""
        ...

    def settle(self) -> None:
        """Bring up to date what the database derives from its rows; only inside a write."""
        ...

    def retire(self, moved_to: str) -> str:
        """Put the store aside, so that nobody writes it any more; only inside a write. Return where."""
        ...


def _table(name: str, definitions: Sequence[str]) -> Table:
    columns: list[str] = []
    key: tuple[str, ...] = ()
    unique: list[str] = []
    numbered = False
    for one in definitions:
        if found := re.match(r"(PRIMARY KEY|UNIQUE) \((.*)\)", one):
            names = tuple(found[2].split(", "))
            if found[1] == "UNIQUE":
                unique += names
            else:
                key = names
            continue
        column = one.partition(" ")[0]
        if column in _OWN_COLUMNS.get(name, ()):
            continue
        columns.append(column)
        if "PRIMARY KEY" in one:
            key, numbered = (column,), "IDENTITY" in one
        elif "UNIQUE" in one:
            unique.append(column)
    return Table(
        name, tuple(columns), key or (columns[0],), tuple(unique), numbered, keyed=bool(key)
    )


# In the order in which they can be filled.
MIRRORED = tuple(_table(name, given) for name, given in TABLES if name not in _OWN_TABLES)
NUMBERED = tuple(table.name for table in MIRRORED if table.numbered)


def take(target: Database, mark: int) -> None:
    """Put our mark on a store that is to be filled."""
    with target.write() as db:
        db.execute(NOTE, (MARK, mark))


@contextmanager
def filled(target: Database, mark: int) -> Iterator[Connection]:
    """Write to a store, as long as it carries our mark."""
    with target.write() as db:
        row = db.execute("SELECT value FROM meta WHERE key = ?", (MARK,)).fetchone()
        if row is None or row[0] != mark:
            raise StoreError(disturbed(target))
        yield db


def disturbed(target: Database) -> str:
    """Say that somebody else has come between."""
    return f"{target.path}: another process has begun to fill it; let that one end, or run again"

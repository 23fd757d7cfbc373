"""Triggers of a sealed store that refuse a value in clear.

A process that had the store open before it was sealed, an older version, or a mistake of ours would
otherwise add one.
"""

from __future__ import annotations

from collections.abc import Iterator

from scrubjay.storage.database import Connection
from scrubjay.storage.sealed.codec import EXACT_LETTERS, FORMAT
from scrubjay.storage.sql.mirror import SEALED_BYTES, SEALED_TEXTS

# Where equal values are looked up, as hashes.
HASHED = {
    "memories": ("content_hash",),
    "topics": ("topic",),
    "files": ("digest",),
    "targets": ("name",),
    "kept": ("key",),
}
_IS_SEALED = f"(typeof({{0}}) = 'blob' AND substr({{0}}, 1, 1) = x'{FORMAT.hex()}')"
_IS_HASH = f"(typeof({{0}}) = 'text' AND length({{0}}) = {EXACT_LETTERS} AND {{0}} NOT GLOB '*[^a-z2-7]*')"


def refuse_clear_values(db: Connection) -> None:
    """Make the tables of a new sealed store refuse what is not sealed; inside a write."""
    for statement in _triggers():
        db.execute(statement)


def _triggers() -> Iterator[str]:
    for table in sorted({*SEALED_TEXTS, *SEALED_BYTES, *HASHED}):
        # A long vector of tokens is sealed as a whole, and cut into parts after that.
        sealed = (
            *SEALED_TEXTS.get(table, ()),
            *(() if table == "tokens" else SEALED_BYTES.get(table, ())),
        )
        wanted = [
            *(f"new.{name} IS NULL OR {_IS_SEALED.format(f'new.{name}')}" for name in sealed),
            *(_IS_HASH.format(f"new.{name}") for name in HASHED.get(table, ())),
        ]
        columns = ", ".join((*sealed, *HASHED.get(table, ())))
        for event in ("INSERT", f"UPDATE OF {columns}"):
            name = f"sealed_{table}_{event.partition(' ')[0].lower()}"
            if wanted:
                yield (
                    f"CREATE TRIGGER {name} BEFORE {event} ON {table}"
                    f" WHEN NOT ({' AND '.join(f'({one})' for one in wanted)}) BEGIN"
                    f" SELECT RAISE(ABORT, 'the store is sealed, and {table} got a value in clear'); END"
                )

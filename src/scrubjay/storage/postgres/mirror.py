"""Filling, publishing and retiring a Postgres schema for promote and demote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from scrubjay.errors import StoreError
from scrubjay.storage.database import NOTE, Connection
from scrubjay.storage.postgres.session import Session, copy_rows
from scrubjay.storage.postgres.vectors import PostgresVector
from scrubjay.storage.sql.mirror import NUMBERED, Table, filled, first_free

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import PostgresDatabase


class PostgresMirror:
    """Fills one schema with the rows of another store, and puts it in place or aside."""

    def __init__(self, db: PostgresDatabase) -> None:
        self._db = db

    @contextmanager
    def quiet(self, db: Connection, table: str) -> Iterator[None]:
        (fires,) = db.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass(?)"
            " AND NOT tgisinternal)",
            (table,),
        ).fetchone()
        if fires:
            db.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield
        if fires:
            # Deferred checks of foreign keys would block the change of the table.
            db.execute("SET CONSTRAINTS ALL IMMEDIATE")
            db.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    def insert(self, db: Connection, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        copy_rows(db, table.name, table.columns, rows)

    def numbers(self, db: Connection) -> dict[str, int]:
        given: dict[str, int] = {}
        for name in NUMBERED:
            (sequence,) = db.execute("SELECT pg_get_serial_sequence(?, 'n')", (name,)).fetchone()
            (last,) = db.execute(
                f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}"
            ).fetchone()
            (highest,) = db.execute(f"SELECT coalesce(max(n), 0) FROM {name}").fetchone()
            given[name] = max(last, highest)
        return given

    def set_numbers(self, db: Connection, numbers: Mapping[str, int]) -> None:
        for name, number in numbers.items():
            db.execute(
                "SELECT setval(pg_get_serial_sequence(?, 'n'), greatest(?, 1), ?)",
                (name, number, number > 0),
            )

    def settle(self) -> None:
        """Count the words, and copy missing vectors to pgvector."""
        with self._db.write() as db:
            self._db.write_gathered()
            memories, tokens = db.execute(
                "SELECT count(*), coalesce(sum(length), 0) FROM words"
            ).fetchone()
            db.executemany(NOTE, [("indexed_memories", memories), ("indexed_tokens", tokens)])
            if db.execute("SELECT to_regclass('embeddings')").fetchone()[0] is not None:
                PostgresVector(self._db)  # copies what is missing

    def retire(self, moved_to: str) -> str:
        with self._db.write() as db:
            exists = "SELECT to_regnamespace(?) IS NOT NULL"
            aside = first_free(
                f"{self._db.schema}.demoted",
                lambda name: db.execute(exists, (f'"{name}"',)).fetchone()[0],
            )
            rename(db, self._db.schema, aside)
            db.execute(f'CREATE SCHEMA "{self._db.schema}"')
            db.execute(f'CREATE TABLE "{self._db.schema}".moved (place TEXT NOT NULL)')
            db.execute(f'INSERT INTO "{self._db.schema}".moved VALUES (?)', (moved_to,))
        return aside

    def publish(
        self, schema: str, mark: int, holds_memories: Callable[[Connection], bool], in_the_way: str
    ) -> None:
        """Rename this schema to one that is empty, or only names a moved store."""
        with filled(self._db, mark) as db:
            self._db.lock(cast("Session", db), schema, self._db.wait_s)
            tables = db.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(?)"
                " AND relkind = 'r'",
                (f'"{schema}"',),
            ).fetchall()
            if ("meta",) in tables:
                _set_search_path(db, schema)
                if holds_memories(db):
                    raise StoreError(in_the_way)
                db.execute(f'DROP SCHEMA "{schema}" CASCADE')
            elif tables in ([], [("moved",)]):
                db.execute(f'DROP TABLE IF EXISTS "{schema}".moved')
                db.execute(f'DROP SCHEMA IF EXISTS "{schema}"')
            else:
                raise StoreError(f"{in_the_way}; its schema {schema} belongs to another program")
            rename(db, self._db.schema, schema)


def rename(db: Connection, schema: str, name: str) -> None:
    """Rename a schema; the rest of this transaction uses the new name."""
    db.execute(f'ALTER SCHEMA "{schema}" RENAME TO "{name}"')
    _set_search_path(db, name)


def _set_search_path(db: Connection, schema: str) -> None:
    db.execute("SELECT set_config('search_path', ?, TRUE)", (f'"{schema}", public',))

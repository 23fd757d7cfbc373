"""Filling, publishing and retiring a Postgres schema for promote and demote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from scrubjay.errors import StoreError
from scrubjay.storage.database import NOTE, Connection
from scrubjay.storage.move_record import complete, drop_record
from scrubjay.storage.postgres.session import Session, copy_rows
from scrubjay.storage.postgres.vectors import PostgresVector
from scrubjay.storage.sql.mirror import (
    CAUGHT_UP,
    KEPT,
    NUMBERED,
    Table,
    filled,
    first_free,
    holds_memories,
    occupied,
)

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

    def free_name(self) -> str:
        exists = "SELECT to_regnamespace(?) IS NOT NULL"
        with self._db.read() as db:
            return first_free(
                f"{self._db.schema}.demoted",
                lambda name: db.execute(exists, (f'"{name}"',)).fetchone()[0],
            )

    def retire(self, moved_to: str, mark: int, aside: str) -> None:
        with self._db.write() as db:
            rename(db, self._db.schema, aside)
            note = f'"{self._db.schema}".moved'
            db.execute(f'CREATE SCHEMA "{self._db.schema}"')
            db.execute(f"CREATE TABLE {note} (place TEXT NOT NULL, mark BIGINT)")
            db.execute(f"INSERT INTO {note} (place, mark) VALUES (?, ?)", (moved_to, mark))

    def unchanged(self) -> bool:
        with self._db.write() as db:
            notes = dict(db.execute("SELECT key, value FROM meta").fetchall())
            # The last commit was the one that renamed the schema, when it was published.
            (published,) = db.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_namespace AS n, meta AS m"
                " WHERE n.nspname = ? AND m.key = 'commits' AND n.xmin = m.xmin)",
                (self._db.schema,),
            ).fetchone()
        caught_up = notes.get(CAUGHT_UP) == notes["commits"]
        return KEPT not in notes and (published or caught_up)

    def note_caught_up(self) -> None:
        with self._db.write() as db:
            # This write is counted at its end.
            db.execute(
                "INSERT INTO meta (key, value) SELECT ?, value + 1 FROM meta WHERE key = 'commits'"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (CAUGHT_UP,),
            )

    def complete(self, schema: str, mark: int, report: str, shown: str) -> None:
        """Record that this schema is complete, and drop an empty store of the name it is to have."""
        with filled(self._db, mark) as db:
            self._db.lock(cast("Session", db), schema, self._db.wait_s)
            drop_empty(db, schema, shown)
            _set_search_path(db, self._db.schema)
            complete(self._db, mark, report)

    def publish(self, schema: str, mark: int, shown: str, *, kept: bool = False) -> None:
        """Rename this schema to one that is empty, or only names a moved store."""
        with filled(self._db, mark) as db:
            if kept:
                db.execute(NOTE, (KEPT, 1))
            self._db.lock(cast("Session", db), schema, self._db.wait_s)
            empty_place(db, schema, shown)
            put_in_place(db, self._db.schema, schema)


def empty_place(db: Connection, schema: str, shown: str) -> None:
    """Drop a schema that holds nothing of value: an empty store, or the note of a moved one."""
    drop_empty(db, schema, shown)
    if _tables(db, schema) not in ([], [("moved",)]):
        raise StoreError(f"{occupied(shown)}; its schema {schema} belongs to another program")
    db.execute(f'DROP TABLE IF EXISTS "{schema}".moved')
    db.execute(f'DROP SCHEMA IF EXISTS "{schema}"')


def drop_empty(db: Connection, schema: str, shown: str) -> None:
    """Drop an empty store; the search path is that schema then."""
    if ("meta",) in _tables(db, schema):
        _set_search_path(db, schema)
        if holds_memories(db):
            raise StoreError(occupied(shown))
        db.execute(f'DROP SCHEMA "{schema}" CASCADE')


def put_in_place(db: Connection, copy: str, schema: str) -> None:
    """Give a filled copy the name of its store."""
    rename(db, copy, schema)
    drop_record(db)


def _tables(db: Connection, schema: str) -> list[tuple[str]]:
    return db.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(?) AND relkind = 'r'",
        (f'"{schema}"',),
    ).fetchall()


def rename(db: Connection, schema: str, name: str) -> None:
    """Rename a schema; the rest of this transaction uses the new name."""
    db.execute(f'ALTER SCHEMA "{schema}" RENAME TO "{name}"')
    _set_search_path(db, name)


def _set_search_path(db: Connection, schema: str) -> None:
    db.execute("SELECT set_config('search_path', ?, TRUE)", (f'"{schema}", public',))

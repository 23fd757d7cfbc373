"""Rescue the rows of a damaged file into a new one, and put the damaged file aside.

The damaged file is never written. The new one gets its name when it is complete and checked; until then,
a full disk or a kill leaves everything as it was.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.ops.repair.mend import mend
from scrubjay.ops.repair.rebuild import format_of, rebuild, split_again
from scrubjay.storage.database import NOTE, Connection
from scrubjay.storage.sql.mirror import MIRRORED, OWN_NOTES, Table, first_free
from scrubjay.storage.sql.scope import marks
from scrubjay.storage.sqlite.backup import open_files_stay
from scrubjay.storage.sqlite.carve import CarvedFile
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.errors import explain
from scrubjay.storage.sqlite.location import sync_folder
from scrubjay.storage.sqlite.rescue import DAMAGE, DamagedFile

DAMAGED = ".damaged"
_UNFINISHED = ".repairing"
_LOGS = ("-wal", "-shm")
_WAIT_S = 10.0
# Rebuilt from the other tables, or of this database alone.
_DERIVED = tuple(
    "words segments postings posting_pages unindexed topics terms topic_hashes wanting sketches"
    " unsketched unlinked uncompared gone rotations".split()
)
_MEMORY_COLUMNS = range(24, 27)  # of the versions of the schema
_MADE_AGAIN = ("chunks", "vectors", "tokens", "kept", "hits", "models", "meta")

Row = dict[str, Any]


class Rescued(NamedTuple):
    """What a rescue found. `lost` are the ids of memories that could not be read, as far as the
    indexes name them, and `unlisted` is True where those could not be read; `mended` the damaged
    fields of others, by id; `changed` those whose text does not match its hash; `tables` other tables
    of which rows may be missing."""

    path: str
    aside: str
    memories: int
    lost: tuple[str, ...]
    unlisted: bool
    mended: dict[str, list[str]]
    changed: tuple[str, ...]
    tables: tuple[str, ...]


def carves(path: str) -> bool:
    """True when memories can be read from the pages of a file that SQLite cannot open."""
    with closing(CarvedFile(path)) as carved:
        return any(_is_memory(values) for _, values in carved.rows(_MEMORY_COLUMNS))


def rescue(path: str) -> Rescued:
    """Build the new file and put it in place."""
    path = os.path.realpath(path)
    new, aside = f"{path}{_UNFINISHED}", first_free(f"{path}{DAMAGED}", os.path.lexists)
    _remove(new)
    try:
        with ExitStack() as held:
            held.enter_context(_write_lock(path))
            # Closed after the lock: closing a file releases every lock of this process on it.
            carved = held.enter_context(closing(CarvedFile(path)))
            source = held.enter_context(closing(DamagedFile(path, carved)))
            with closing(SqliteDatabase(new)) as target:
                run = _Run(source, carved, target)
                run.fill()
                target.purge_log()
            _check(new)
            if not open_files_stay():
                _swap(path, new, aside)
        if open_files_stay():
            _swap(path, new, aside)
    except sqlite3.Error as error:
        raise StoreError(explain(path, error, _WAIT_S)) from error
    except OSError as error:
        raise StoreError(
            f"{path} cannot be repaired: {error.strerror}; nothing was changed"
        ) from error
    finally:
        _remove(new)
    return Rescued(
        path,
        aside,
        len(run.ids),
        tuple(sorted(run.named - run.ids.keys())),
        run.unlisted,
        run.mended,
        tuple(run.changed),
        tuple(name for name in source.lost if name not in (*_MADE_AGAIN, *_DERIVED, "memories")),
    )


@contextmanager
def _write_lock(path: str) -> Iterator[None]:
    """Keep others from writing; a file that SQLite cannot open is not written by anyone."""
    with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as db:
        try:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            db.execute("BEGIN IMMEDIATE")
        except DAMAGE as error:
            if "locked" in str(error) or "busy" in str(error):
                raise
        yield


class _Run:
    """Fills a new file from a damaged one."""

    def __init__(self, source: DamagedFile, carved: CarvedFile, target: SqliteDatabase) -> None:
        self._source, self._carved, self._target = source, carved, target
        self.ids: dict[str, int] = {}
        self.named: set[str] = set()
        self.unlisted = False
        self.mended: dict[str, list[str]] = {}
        self.changed: list[str] = []
        self._keys: dict[str, set[Any]] = {}
        self._lengths: dict[int, int] = {}
        self._unsplit: set[int] = set()

    def fill(self) -> None:
        with self._target.write() as db:
            for table in MIRRORED:
                if table.name in _DERIVED:
                    continue
                with self._target.mirror.quiet(db, table.name):
                    if table.name == "memories":
                        self._fill_memories(db)
                    elif table.name == "chunks":
                        self._fill_chunks(db)
                    else:
                        self._fill_table(db, table)
            self._set_numbers(db)
            db.execute(
                "INSERT OR IGNORE INTO unsketched SELECT v.n FROM chunks AS c"
                " JOIN vectors AS v ON v.chunk = c.n JOIN models AS o ON o.n = v.model"
                " WHERE c.ordinal = 0 AND o.role = 'main'"
            )
            db.execute("DELETE FROM edges WHERE made = 'near'")
            db.execute(
                "INSERT OR IGNORE INTO unlinked SELECT DISTINCT c.memory FROM meta, chunks AS c"
                " JOIN vectors AS v ON v.chunk = c.n WHERE meta.key = 'links'"
            )
            db.execute(
                "INSERT OR IGNORE INTO uncompared SELECT m.n FROM meta, memories AS m"
                " WHERE meta.key = 'changes'"
            )
        rebuild(self._target)

    def _fill_memories(self, db: Connection) -> None:
        (table,) = (table for table in MIRRORED if table.name == "memories")
        known = self._keys.setdefault("memories", set())
        for n, row in self._source.numbered("memories", table.columns):
            self._put_memory(db, n, row)
        # Always: where a page that leads to others has a wrong number, SQLite finds nothing and says so
        # to no one.
        for n, values in self._carved.rows(_MEMORY_COLUMNS):
            if n not in known and _is_memory(values):
                self._put_memory(db, n, dict(zip(_COLUMNS, values[1:], strict=False)))
        before = self._source.lost.get("memories", 0)
        self.named = {
            row["id"] for row in self._source.keyed("memories", ("id",), ("id",)) if _is_id(row)
        }
        self.unlisted = self._source.lost.get("memories", 0) > before

    def _put_memory(self, db: Connection, n: int, stored: Row) -> None:
        mended = mend(n, stored)
        if mended is None or not 0 < n < 1 << 32:
            return
        row, damaged = mended
        if row["id"] in self.ids:
            return  # the same memory, from another page
        columns = ("n", *row)
        db.execute(
            f"INSERT INTO memories ({', '.join(columns)}) VALUES ({marks(columns)})",
            (n, *row.values()),
        )
        self.ids[row["id"]] = n
        self._keys["memories"].add(n)
        self._lengths[n] = len(row["text"])
        if damaged:
            self.mended[row["id"]] = damaged
        if "text" not in damaged and row["content_hash"] != stored.get("content_hash"):
            self.changed.append(row["id"])

    def _fill_chunks(self, db: Connection) -> None:
        """Copy the passages of each memory if they are whole; otherwise they are split again."""
        columns = ("memory", "ordinal", "start", "stop", "first_line", "last_line", "heading")
        of: dict[int, dict[int, tuple[int, Row]]] = {}
        broken: set[int] = set()
        for n, row in self._source.numbered("chunks", columns):
            memory = row.get("memory")
            if memory not in self._lengths:
                continue
            if not _is_chunk(row, self._lengths[memory]):
                broken.add(memory)
            else:
                of.setdefault(memory, {})[row["ordinal"]] = (n, row)
        known = self._keys.setdefault("chunks", set())
        for memory in self._lengths:
            chunks = of.get(memory, {})
            if memory in broken or sorted(chunks) != list(range(len(chunks))) or not chunks:
                self._unsplit.add(memory)
                continue
            for n, row in chunks.values():
                db.execute(
                    f"INSERT INTO chunks (n, {', '.join(columns)}) VALUES (?, {marks(columns)})",
                    (n, *(row[column] for column in columns)),
                )
                known.add(n)
        for memory in sorted(self._unsplit):
            id_, text, metadata = db.execute(
                "SELECT id, text, metadata FROM memories WHERE n = ?", (memory,)
            ).fetchone()
            split_again(self._target, db, memory, id_, text, format_of(metadata))

    def _fill_table(self, db: Connection, table: Table) -> None:
        parents = [
            (column, parent)
            for _, _, parent, column, *_ in db.execute(
                f"PRAGMA foreign_key_list({table.name})"
            ).fetchall()
        ]
        kinds = {
            name: (kind, bool(required) or bool(key))
            for _, name, kind, required, _, key in db.execute(
                f"PRAGMA table_info({table.name})"
            ).fetchall()
        }
        known = self._keys.setdefault(table.name, set())
        for row in self._rows(table):
            if any(row.get(column) not in self._keys.get(to, ()) for column, to in parents):
                continue
            if not all(_fits(row.get(column), *kinds[column]) for column in row):
                self._source.lost.setdefault(table.name, 0)
                continue
            with suppress(sqlite3.IntegrityError):  # two rows of one key: the first one counts
                db.execute(
                    f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({marks(list(row))})",
                    tuple(row.values()),
                )
                known.add(row[table.key[0]])

    def _rows(self, table: Table) -> Iterable[Row]:
        if table.name == "meta":
            rows = self._source.keyed("meta", table.columns, table.key)
            return [row for row in rows if row["key"] not in (*OWN_NOTES, "analyzer", "terms")]
        if self._has_numbers(table.name):
            return [row for _, row in self._source.numbered(table.name, table.columns)]
        return self._source.keyed(table.name, table.columns, table.key)

    def _has_numbers(self, table: str) -> bool:
        with self._target.read() as db:
            (made,) = db.execute(
                "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)
            ).fetchone()
        return "WITHOUT ROWID" not in made

    def _set_numbers(self, db: Connection) -> None:
        """Give no number again that the damaged file has given."""
        given = {name: max(known, default=0) for name, known in self._keys.items()}
        for name in ("memories", "chunks", "vectors", "gone", "outbox"):
            before = self._source.value(f"SELECT seq FROM sqlite_sequence WHERE name = '{name}'")
            highest = max(before if type(before) is int else 0, 0)
            if name in ("memories", "chunks", "vectors"):
                (now,) = db.execute(f"SELECT coalesce(max(n), 0) FROM {name}").fetchone()
                highest = max(now, given.get(name, 0), highest if highest < 1 << 32 else 0)
            self._target.mirror.set_numbers(db, {name: highest})
        db.execute(NOTE, ("turns", 1))


_COLUMNS = (
    "id namespace type text title context topics metadata collection session role owner agent severity"
    " domain source language content_hash created_us updated_us event_us valid_from_us valid_until_us"
    " event_until_us domain_label"
).split()  # in the order of the table, without its number


def _is_memory(values: list[Any]) -> bool:
    """True for the row of a memory: another table has fewer columns, or others."""
    id_, namespace, type_, text = values[1:5]
    return (
        values[0] is None
        and all(isinstance(one, str) for one in (id_, namespace, type_))
        and (isinstance(text, str | bytes) and type(values[19]) is int)
    )


def _is_id(row: Row) -> bool:
    return isinstance(row["id"], str)


def _is_chunk(row: Row, length: int) -> bool:
    numbers = [row.get(name) for name in ("ordinal", "start", "stop", "first_line", "last_line")]
    if not all(type(number) is int for number in numbers):
        return False
    return 0 <= row["start"] <= row["stop"] <= length and isinstance(row.get("heading"), str)


def _fits(value: object, kind: str, required: bool) -> bool:
    """True when a column of this type can have a value."""
    if value is None:
        return not required
    if kind == "INTEGER":
        return type(value) is int
    if kind == "REAL":
        return type(value) in (int, float)
    if kind == "TEXT":
        return isinstance(value, str)
    return isinstance(value, str | bytes | int | float)


def _check(path: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
        (result,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        db.execute("PRAGMA journal_mode = WAL")
    if result != "ok":
        raise StoreError(f"the new file {path} is damaged, too ({result}); check the disk")
    _remove_logs(path)
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _swap(path: str, new: str, aside: str) -> None:
    """Give the damaged file its second name, and the new one the first."""
    try:
        os.link(path, aside)
    except OSError:  # a file system without links
        os.rename(path, aside)
    # The log belongs to the damaged file. Beside the new one, SQLite would play it back into that.
    log = f"{path}-wal"
    if os.path.exists(log) and os.path.getsize(log):
        os.replace(log, f"{aside}-wal")
    _remove_logs(path)
    os.replace(new, path)
    sync_folder(path)


def _remove(path: str) -> None:
    _remove_logs(path)
    with suppress(FileNotFoundError):
        os.unlink(path)


def _remove_logs(path: str) -> None:
    for suffix in _LOGS:
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")

"""Mirror a store into another database, row by row, with the same numbers, ids and keys.

Both sides are read in the order of their keys and compared, a page at a time. Rows that are only in the
target are deleted, missing rows are inserted, different rows are updated. So a second run changes
nothing, and an interrupted one is finished by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.mirror import (
    MIRRORED,
    OWN_NOTES,
    SEALED_BYTES,
    SEALED_TEXTS,
    Table,
    disturbed,
    filled,
)
from scrubjay.storage.sql.scope import marks

Progress = Callable[[int, int, str], None]
Reader = Callable[[], AbstractContextManager[Connection]]
Row = tuple[Any, ...]

PAGE = 1_000
_PAGES = {"memories": 200, "vectors": 400, "words": 200, "tokens": 400}  # with long rows


# A sealed store, which binds values to the rows that own them, is refused when it is opened here.
_OWNER = ""


class Mirrored(NamedTuple):
    """How many rows a mirror compared, inserted, updated and deleted."""

    rows: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0


def mirror(
    source: Database, target: Database, mark: int, progress: Progress | None = None
) -> Mirrored:
    """Make the target, which carries our mark, the same as the source is now, or was when a copy began."""
    run = _Run(source, target, mark, progress)
    with source.watched() as (db, _):
        counts = {table.name: _count_rows(db, table) for table in MIRRORED}
        run.total = sum(counts.values())
        for table in reversed(MIRRORED):
            run.remove(db, table)
        for table in MIRRORED:
            if counts[table.name]:  # otherwise the target has none either
                run.fill(db, table)
        run.finish(source.mirror.numbers(db))
    return run.done


def _count_rows(db: Connection, table: Table) -> int:
    condition, arguments = _mirrored(table)
    row = db.execute(f"SELECT count(*) FROM {table.name}{condition}", arguments).fetchone()
    return int(row[0])


def grouped_rows(
    of: Database, read: Reader, table: Table, columns: Sequence[str] | None = None
) -> Iterator[tuple[Row, tuple[Row, ...]]]:
    """Yield every key of a table in order, with its rows as its codec decodes them."""
    named = table.columns if columns is None else columns
    key = itemgetter(*map(named.index, table.key))
    several = len(table.key) > 1
    sealed = table.name in SEALED_TEXTS or table.name in SEALED_BYTES
    limit = _PAGES.get(table.name, PAGE) if len(named) > len(table.key) else 10 * PAGE
    after: Row | None = None
    rows: list[Row] = [()] * limit
    while len(rows) >= limit:
        with read() as db:
            page = _page(db, table, named, after, limit)
        rows = [_unsealed(of, table, named, row) for row in page] if sealed else page
        for found, same in groupby(rows, key):
            after = found if several else (found,)
            given = tuple(same)
            yield after, given if table.keyed else tuple(sorted(given, key=repr))


def _sort_key(key: Row) -> tuple[Any, ...]:
    """Return a key as both databases compare it: texts by their bytes."""
    return tuple(part.encode() if isinstance(part, str) else part for part in key)


class _Run:
    """One run of the mirror, and its progress."""

    def __init__(
        self, source: Database, target: Database, mark: int, progress: Progress | None
    ) -> None:
        self._source = source
        self._target = target
        self._mark = mark
        self._progress = progress
        self.total = 0
        self.done = Mirrored()

    def remove(self, db: Connection, table: Table) -> None:
        """Delete rows that the source lacks, and rows with a unique value that another row is to have."""
        with self._target.read() as there:
            if there.execute(f"SELECT 1 FROM {table.name} LIMIT 1").fetchone() is None:
                return
        columns = tuple(dict.fromkeys((*table.key, *table.unique)))
        extra: list[Row] = []
        for key, ours, theirs in self._pairs(db, table, columns):
            if theirs is not None and (ours is None or (table.keyed and ours != theirs)):
                extra.append(key)
            if len(extra) >= PAGE:
                self._delete(table, extra)
                extra = []
        self._delete(table, extra)

    def fill(self, db: Connection, table: Table) -> None:
        missing: list[Row] = []
        different: list[tuple[Row, tuple[Row, ...]]] = []
        seen = 0
        for key, ours, theirs in self._pairs(db, table, table.columns):
            if ours is None:  # only when another process wrote to the target
                raise StoreError(disturbed(self._target))
            seen += len(ours)
            if theirs is None:
                missing += ours
            elif ours != theirs:
                different.append((key, ours))
            if seen >= _PAGES.get(table.name, PAGE):
                self._write(table, missing, different, seen)
                missing, different, seen = [], [], 0
        self._write(table, missing, different, seen)

    def finish(self, numbers: dict[str, int]) -> None:
        with filled(self._target, self._mark) as db:
            self._target.mirror.set_numbers(db, numbers)
            self._target.mirror.settle()
            if self.done.removed or self.done.changed:
                self._target.words.overwrite_deleted()
        self._target.purge()

    def _pairs(
        self, db: Connection, table: Table, columns: Sequence[str]
    ) -> Iterator[tuple[Row, tuple[Row, ...] | None, tuple[Row, ...] | None]]:
        """Yield every key of either side, with the rows of both sides; None where a side has none."""
        ours = grouped_rows(self._source, lambda: nullcontext(db), table, columns)
        theirs = grouped_rows(self._target, self._target.read, table, columns)
        here, there = next(ours, None), next(theirs, None)
        while here is not None or there is not None:
            # Most are the same, and comparing keys by their bytes takes longer than all the rest.
            if here is not None and there is not None and here[0] == there[0]:
                yield here[0], here[1], there[1]
                here, there = next(ours, None), next(theirs, None)
            elif there is None or (here is not None and _sort_key(here[0]) < _sort_key(there[0])):
                assert here is not None
                yield here[0], here[1], None
                here = next(ours, None)
            else:
                yield there[0], None, there[1]
                there = next(theirs, None)

    def _write(
        self,
        table: Table,
        missing: list[Row],
        different: list[tuple[Row, tuple[Row, ...]]],
        seen: int,
    ) -> None:
        if missing or different:
            with filled(self._target, self._mark) as db, self._target.mirror.quiet(db, table.name):
                self._put(db, table, missing, different)
        self.done = self.done._replace(
            rows=self.done.rows + seen,
            added=self.done.added + len(missing),
            changed=self.done.changed + len(different),
        )
        if self._progress:
            self._progress(self.done.rows, max(self.total, self.done.rows), table.name)

    def _put(
        self,
        db: Connection,
        table: Table,
        missing: list[Row],
        different: list[tuple[Row, tuple[Row, ...]]],
    ) -> None:
        again = [row for _, rows in different for row in rows]
        if table.name == "words":
            self._target.words.drop_lines([key[0] for key, _ in different])
            self._target.words.put_lines([*again, *missing])
            return
        if table.keyed and table.name != "vectors":
            update = (
                f"UPDATE {table.name} SET {', '.join(f'{column} = ?' for column in table.columns)}"
                f" WHERE {_is_key(table)}"
            )
            db.executemany(
                update, [(*self._sealed(table, rows[0]), *key) for key, rows in different]
            )
            again = []
        else:  # indexes refer to a vector by its number, which must not get another vector
            db.executemany(
                f"DELETE FROM {table.name} WHERE {_is_key(table)}", [key for key, _ in different]
            )
        rows = [self._sealed(table, row) for row in (*again, *missing)]
        if rows:
            self._target.mirror.insert(db, table, rows)

    def _delete(self, table: Table, keys: Sequence[Row]) -> None:
        if not keys:
            return
        with filled(self._target, self._mark) as db, self._target.mirror.quiet(db, table.name):
            if table.name == "words":
                self._target.words.drop_lines([n for (n,) in keys])
            else:
                db.executemany(f"DELETE FROM {table.name} WHERE {_is_key(table)}", keys)
        self.done = self.done._replace(removed=self.done.removed + len(keys))

    def _sealed(self, table: Table, row: Row) -> Row:
        codec = self._target.codec

        def sealed(value: Any, column: str) -> str | bytes:
            return codec.seal(value, column, _OWNER)

        return _recoded(table, table.columns, row, sealed, codec.seal_vector)


def _page(
    db: Connection, table: Table, columns: Sequence[str], after: Row | None, limit: int
) -> list[Row]:
    key, name = ", ".join(table.key), table.name
    condition, arguments = _mirrored(table, after)
    wanted = f"SELECT {', '.join(columns)} FROM {name}"
    if table.keyed:
        statement = f"{wanted}{condition} ORDER BY {key} LIMIT ?"
        return db.execute(statement, (*arguments, limit)).fetchall()
    # Whole groups: the last key of a page may have rows beyond it.
    (last,) = db.execute(
        f"SELECT max({key}) FROM (SELECT {key} FROM {name}{condition} ORDER BY {key} LIMIT ?) AS page",
        (*arguments, limit),
    ).fetchone()
    both = f"{condition} AND" if condition else " WHERE"
    return db.execute(f"{wanted}{both} {key} <= ? ORDER BY {key}", (*arguments, last)).fetchall()


def _mirrored(table: Table, after: Row | None = None) -> tuple[str, Row]:
    conditions, arguments = [], list[Any]()
    if table.name == "meta":
        conditions.append(f"key NOT IN ({marks(OWN_NOTES)})")
        arguments += OWN_NOTES
    if after is not None:
        conditions.append(f"({', '.join(table.key)}) > ({marks(after)})")
        arguments += after
    return f" WHERE {' AND '.join(conditions)}" if conditions else "", tuple(arguments)


def _is_key(table: Table) -> str:
    return " AND ".join(f"{column} = ?" for column in table.key)


def _unsealed(of: Database, table: Table, columns: Sequence[str], row: Row) -> Row:
    def unsealed(value: Any, column: str) -> str:
        return of.codec.unseal(value, column, _OWNER)

    return _recoded(table, columns, row, unsealed, of.codec.unseal_vector)


def _recoded(
    table: Table,
    columns: Sequence[str],
    row: Row,
    texts: Callable[[Any, str], Any],
    others: Callable[[bytes], bytes],
) -> Row:
    sealed, sealed_bytes = SEALED_TEXTS.get(table.name), SEALED_BYTES.get(table.name)
    if sealed is None and sealed_bytes is None:
        return tuple(row)
    return tuple(
        value
        if value is None
        else texts(value, f"{table.name}.{column}")
        if sealed and column in sealed
        else others(value)
        if sealed_bytes and column in sealed_bytes
        else value
        for column, value in zip(columns, row, strict=True)
    )

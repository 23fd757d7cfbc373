"""Writer of the keyword index in SQLite: lines of tokens, and the postings that are searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.storage.database import PURGE_WORDS, Connection, Gathered
from scrubjay.storage.sql.keyword_index import Growth, forget_size
from scrubjay.storage.sql.scope import in_parts
from scrubjay.storage.sql.words import SqlWords
from scrubjay.storage.sqlite.fts5.segments import optimize
from scrubjay.storage.sqlite.postings import tables
from scrubjay.storage.sqlite.postings.lines import LINES, length_of
from scrubjay.storage.sqlite.postings.migration import drop_old, is_filled, switch

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import SqliteDatabase

_INSERT = f"INSERT INTO words (rowid, {LINES}) VALUES (?, ?, ?, ?, ?, ?)"
_AGAIN = 32_768  # memories of a segment where all is indexed again


class Unindexed(Gathered):
    """Memories that this write has left in no segment; when there are many, it makes one of them."""

    def __init__(self) -> None:
        self.added = 0
        self.on_many: Callable[[], None] = lambda: None

    def write(self, db: Connection) -> None:
        filled = is_filled(db)
        if not filled or tables.has_unindexed(db, tables.SEGMENT):
            if filled and tables.has_unindexed(db, tables.MOST_UNINDEXED):
                tables.index_some(db, 2 * tables.MOST_UNINDEXED)
            self.on_many()


class SqliteWords(SqlWords):
    """Writes the keyword index of one file; only inside a write.

    An older file has the lines in FTS5's table, which answers until every memory is in our own index.
    """

    def __init__(self, db: SqliteDatabase) -> None:
        super().__init__(db)
        self._wake = db.index_later

    def clear(self) -> None:
        with self._db.write() as db:
            self._db.write_gathered()
            if not is_filled(db):
                switch(db)
            drop_old(db)
            tables.begin_again(db)
            super().clear()
            tables.clear(db)
            forget_size(db)

    def put_lines(self, rows: Sequence[Sequence[Any]]) -> None:
        if not rows:
            return
        with self._db.write() as db:
            tables.add(db, [n for n, *_ in rows])
            db.executemany(_INSERT, rows)
            self._grow(len(rows), sum(length_of(lines) for _, *lines in rows))
            pending = self._pending()
            pending.added += len(rows)
            if pending.added >= tables.MOST_UNINDEXED:
                pending.added = 0
                pending.write(db)

    def overwrite_deleted(self) -> None:
        """Erase deleted words from FTS5's index, where an older file still has one: they stay there until
        it is merged. Our own postings are overwritten when a memory is taken out of them."""
        with self._db.write() as db:
            self._db.write_gathered()  # the messages beside a deleted one contain its words, too
            if is_filled(db):
                drop_old(db)
            else:
                optimize(db)
            db.execute("DELETE FROM meta WHERE key = ?", (PURGE_WORDS,))
            self._db.mark_deleted(words=False)

    def index_again(self) -> None:
        """Make all postings again from the lines, whatever state they are in."""
        with self._db.write() as db:
            self._db.write_gathered()
            if not is_filled(db):
                switch(db)
            drop_old(db)
            tables.begin_again(db)
            forget_size(db)
            memories = tokens = 0
            while tables.index_some(db, _AGAIN):
                pass
            for lines in db.execute(f"SELECT {LINES} FROM words"):
                memories += 1
                tokens += length_of(lines)
            self._grow(memories, tokens)

    def _replace(self, db: Connection, field: str, lines: Mapping[int, str]) -> None:
        before = self._take_out(db, list(lines))
        db.executemany(
            f"UPDATE words SET {field} = ? WHERE rowid = ?",
            ((lines[n], n) for n in before),
        )
        at = LINES.split(", ").index(field)
        for n, stored in before.items():
            self._grow(0, length_of([lines[n]]) - length_of([stored[at]]))
        self._pending()

    def _drop(self, db: Connection, numbers: Sequence[int]) -> None:
        before = self._take_out(db, numbers)
        for several, part in in_parts(list(before)):
            db.execute(f"DELETE FROM words WHERE rowid IN ({several})", part)
        tables.drop(db, numbers)
        self._grow(-len(before), -sum(length_of(lines) for lines in before.values()))

    def _take_out(self, db: Connection, numbers: Sequence[int]) -> dict[int, Sequence[Any]]:
        """Take memories out of their segments; return the lines that they have."""
        lines: dict[int, Sequence[Any]] = {}
        for several, part in in_parts(numbers):
            rows = db.execute(f"SELECT rowid, {LINES} FROM words WHERE rowid IN ({several})", part)
            lines.update((n, stored) for n, *stored in rows)
        tables.take_out(db, lines)
        return lines

    def _pending(self) -> Unindexed:
        pending = self._db.gathering(Unindexed)
        pending.on_many = self._wake
        return pending

    def _grow(self, memories: int, tokens: int) -> None:
        growth = self._db.gathering(Growth)
        growth.memories += memories
        growth.tokens += tokens

"""Writer of the FTS5 keyword index: one row a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scrubjay.storage.database import Connection
from scrubjay.storage.sql.words import SqlWords, rewrite_terms


class SqliteWords(SqlWords):
    """Writes the keyword index of one file; only inside a write."""

    def overwrite_deleted(self) -> None:
        """Remove every trace of deleted words from the file.

        They stay in FTS5's segments until it merges these, and in the free space of pages that were
        split since: SQLite overwrites a row where it is, not where it was before.
        """
        with self._db.write() as db:
            self._db.write_gathered()  # the messages beside a deleted one contain its words, too
            db.execute("INSERT INTO words (words) VALUES ('optimize')")
            rewrite_terms(db)

    def _insert(self, db: Connection, n: int, lines: Sequence[str]) -> None:
        db.execute(
            "INSERT INTO words (rowid, title, text, topics, context, ident)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (n, *lines),
        )

    def _replace(self, db: Connection, field: str, lines: Mapping[int, str]) -> None:
        db.executemany(
            f"UPDATE words SET {field} = ? WHERE rowid = ?",
            ((line, n) for n, line in lines.items()),
        )

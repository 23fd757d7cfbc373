"""Answers worth keeping between searches, in SQLite: expansions, a model's speed, its last failure.

What is kept here can always be made again, so a busy file is no reason to wait or to fail.
"""

from __future__ import annotations

from scrubjay.errors import StoreError
from scrubjay.storage.database import Database

_WAIT_S = 0.2
_MOST = 2000  # of one kind; the oldest go


class SqlKept:
    """Small texts by kind and key."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, kind: str, key: str) -> str | None:
        """Return what was kept, or None."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT value FROM kept WHERE kind = ? AND key = ?", (kind, key)
            ).fetchone()
        return self._db.codec.unseal(row[0]) if row else None

    def put(self, kind: str, key: str, value: str, at_us: int) -> None:
        """Keep a text in place of any other of that key, unless the file is busy."""
        try:
            with self._db.write(_WAIT_S) as db:
                db.execute(
                    "INSERT INTO kept (kind, key, value, at_us) VALUES (?, ?, ?, ?) ON CONFLICT"
                    " (kind, key) DO UPDATE SET value = excluded.value, at_us = excluded.at_us",
                    (kind, key, self._db.codec.seal(value), at_us),
                )
                db.execute(
                    "DELETE FROM kept WHERE kind = ?1 AND key IN (SELECT key FROM kept"
                    " WHERE kind = ?1 ORDER BY at_us DESC, key LIMIT -1 OFFSET ?2)",
                    (kind, _MOST),
                )
        except StoreError:
            return

    def drop(self, kind: str, key: str) -> None:
        """Forget what was kept, if anything was."""
        if self.get(kind, key) is None:
            return
        try:
            with self._db.write(_WAIT_S) as db:
                db.execute("DELETE FROM kept WHERE kind = ? AND key = ?", (kind, key))
        except StoreError:
            return

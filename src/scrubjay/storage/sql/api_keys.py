"""The tokens of a store: who they are for, and the hash of each secret."""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.storage.database import NOTE, Database

_ASKS = "asks_for_tokens"  # 1: without a token nobody comes in; 0: somebody has said that they may
_COLUMNS = "name, scopes, tenant, person, created_us, expires_us, last_used_us"


class ApiKeyRow(NamedTuple):
    """A token as it is stored, without its hash; scopes have spaces between them."""

    name: str
    scopes: str
    tenant: str | None
    person: str | None
    created_us: int
    expires_us: int | None = None
    last_used_us: int | None = None


class SqlApiKeys:
    """The tokens of one database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, row: ApiKeyRow, digest: str) -> bool:
        """Store a token with the hash of its secret; False when there is one of its name."""
        with self._db.write() as db:
            made = db.execute(
                f"INSERT INTO access (hash, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (name) DO NOTHING",
                (digest, *row),
            )
            return bool(made.rowcount)

    def all(self) -> list[ApiKeyRow]:
        """Return every token, by name."""
        with self._db.read() as db:
            rows = db.execute(f"SELECT {_COLUMNS} FROM access ORDER BY name")
            return [ApiKeyRow(*row) for row in rows]

    def by_hash(self, digest: str) -> ApiKeyRow | None:
        """Return the token whose secret has this hash."""
        with self._db.read() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM access WHERE hash = ?", (digest,)).fetchone()
            return None if row is None else ApiKeyRow(*row)

    def any(self) -> bool:
        """True when there is a token, be it expired."""
        with self._db.read() as db:
            return db.execute("SELECT 1 FROM access LIMIT 1").fetchone() is not None

    def used(self, name: str, at_us: int, wait_s: float) -> None:
        """Note when a token was used; a store that is busy longer than that is a StoreError."""
        with self._db.write(wait_s) as db:
            db.execute("UPDATE access SET last_used_us = ? WHERE name = ?", (at_us, name))

    def remove(self, name: str) -> bool:
        """Remove a token, and note that there was one; False when there is none of that name."""
        with self._db.write() as db:
            removed = db.execute("DELETE FROM access WHERE name = ?", (name,)).rowcount
            if removed:
                db.execute(NOTE, (_ASKS, 1))
            return bool(removed)

    def asks(self) -> bool | None:
        """Return what was noted when a token went: whether one is needed; None where none ever went."""
        with self._db.read() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (_ASKS,)).fetchone()
            return None if row is None else bool(row[0])

    def open_door(self) -> bool:
        """Note that nobody needs a token; False, and nothing noted, while there is one."""
        with self._db.write() as db:
            if db.execute("SELECT 1 FROM access LIMIT 1").fetchone() is not None:
                return False
            db.execute(NOTE, (_ASKS, 0))
            return True

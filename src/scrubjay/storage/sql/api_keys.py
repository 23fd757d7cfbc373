"""API keys: who they are for, and the hash of each secret."""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.storage.database import NOTE
from scrubjay.storage.sql.scope import SqlTable

_REQUIRED = "asks_for_tokens"  # 1: an API key is required; 0: explicitly not required
_COLUMNS = "name, scopes, tenant, person, created_us, expires_us, last_used_us"


class ApiKeyRow(NamedTuple):
    """A stored API key without its hash; scopes are separated by spaces."""

    name: str
    scopes: str
    tenant: str | None
    person: str | None
    created_us: int
    expires_us: int | None = None
    last_used_us: int | None = None


class SqlApiKeys(SqlTable):
    """The table `access`."""

    table = "access"

    def add(self, row: ApiKeyRow, digest: str) -> bool:
        """Store an API key with the hash of its secret; False when the name is taken."""
        statement = f"INSERT INTO access (hash, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        return bool(self._write(f"{statement} ON CONFLICT (name) DO NOTHING", (digest, *row)))

    def all(self) -> list[ApiKeyRow]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM access ORDER BY name")
        return [ApiKeyRow(*row) for row in rows]

    def by_hash(self, digest: str) -> ApiKeyRow | None:
        row = self._row(f"SELECT {_COLUMNS} FROM access WHERE hash = ?", (digest,))
        return None if row is None else ApiKeyRow(*row)

    def mark_used(self, name: str, at_us: int, wait_s: float) -> None:
        """Record a use; StoreError when the database is locked for longer than `wait_s`."""
        with self._db.write(wait_s) as db:
            db.execute("UPDATE access SET last_used_us = ? WHERE name = ?", (at_us, name))

    def delete(self, name: str) -> bool:
        """Delete an API key, and record that keys are required; False when there is none of that name."""
        with self._db.write() as db:
            deleted = db.execute("DELETE FROM access WHERE name = ?", (name,)).rowcount
            if deleted:
                db.execute(NOTE, (_REQUIRED, 1))
            return bool(deleted)

    def required(self) -> bool | None:
        """Return whether an API key is required; None where that was never recorded."""
        row = self._row("SELECT value FROM meta WHERE key = ?", (_REQUIRED,))
        return None if row is None else bool(row[0])

    def allow_without(self) -> bool:
        """Record that no API key is required; False, and nothing recorded, while there is one."""
        with self._db.write() as db:
            if not self.is_empty():
                return False
            db.execute(NOTE, (_REQUIRED, 0))
            return True

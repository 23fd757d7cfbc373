"""Who shares what: collections, and the people who belong to them, in SQLite."""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import SHARED, in_sight
from scrubjay.types import Scope

OWNER, WRITER, READER = "owner", "writer", "reader"
ROLES = (OWNER, WRITER, READER)


class Shared(NamedTuple):
    """A collection that people share: its name may change, the namespace of its memories stays."""

    namespace: str
    name: str


class SqlPeople:
    """The shared collections of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(self, name: str, at_us: int) -> Shared | None:
        """Make a collection without anybody in it; None where the name is taken."""
        with self._db.write() as db:
            if self.named(name) is not None:
                return None
            namespace, number = _namespace(name), 1
            while self._is_used(namespace):  # by one that was renamed, or by hand
                number += 1
                namespace = f"{_namespace(name)} {number}"
            db.execute(
                "INSERT INTO collections (namespace, name, created_us) VALUES (?, ?, ?)",
                (namespace, name, at_us),
            )
            return Shared(namespace, name)

    def _is_used(self, namespace: str) -> bool:
        with self._db.read() as db:
            (used,) = db.execute(
                "SELECT EXISTS (SELECT 1 FROM collections WHERE namespace = ?1)"
                " OR EXISTS (SELECT 1 FROM memories WHERE namespace = ?1)"
                " OR EXISTS (SELECT 1 FROM folders WHERE namespace = ?1)",
                (namespace,),
            ).fetchone()
        return bool(used)

    def named(self, name: str) -> Shared | None:
        """Return the collection of this name, whoever belongs to it."""
        return self._one("name", name)

    def of_namespace(self, namespace: str) -> Shared | None:
        """Return the collection whose memories are in this namespace."""
        return self._one("namespace", namespace)

    def _one(self, column: str, value: str) -> Shared | None:
        with self._db.read() as db:
            row = db.execute(
                f"SELECT namespace, name FROM collections WHERE {column} = ?", (value,)
            ).fetchone()
        return Shared(*row) if row else None

    def seen(self, scope: Scope) -> dict[str, Shared]:
        """Return the collections that a scope may see, by name."""
        condition, arguments = in_sight(scope, "namespace")
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT namespace, name FROM collections WHERE {condition} ORDER BY name",
                arguments,
            )
            return {name: Shared(namespace, name) for namespace, name in rows}

    def members(self, one: Shared) -> dict[str, str]:
        """Return who belongs to a collection, each with their role; owners first, then by name."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT person, role FROM members WHERE namespace = ?", (one.namespace,)
            ).fetchall()
        return dict(sorted(rows, key=lambda row: (ROLES.index(row[1]), row[0])))

    def join(self, one: Shared, person: str, role: str) -> None:
        """Let a person belong to a collection, in place of any role they had there."""
        with self._db.write() as db:
            db.execute(
                "INSERT INTO members (person, namespace, role) VALUES (?, ?, ?)"
                " ON CONFLICT (person, namespace) DO UPDATE SET role = excluded.role",
                (person, one.namespace, role),
            )

    def leave(self, one: Shared, person: str) -> None:
        """Let a person no longer belong to a collection."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM members WHERE person = ? AND namespace = ?", (person, one.namespace)
            )

    def is_label(self, name: str, namespace: str) -> bool:
        """True when memories or followed folders of a namespace have this name for a collection."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT EXISTS (SELECT 1 FROM memories WHERE collection = ?1 AND namespace = ?2)"
                " OR EXISTS (SELECT 1 FROM folders WHERE collection = ?1 AND namespace = ?2)",
                (name, namespace),
            ).fetchone()
        return bool(row[0])

    def rename(self, one: Shared, new_name: str) -> None:
        """Give a collection another name, which must be free."""
        with self._db.write() as db:
            db.execute(
                "UPDATE collections SET name = ? WHERE namespace = ?", (new_name, one.namespace)
            )

    def remove(self, one: Shared) -> None:
        """Let a collection and its memberships go; its memories are somebody else's business."""
        with self._db.write() as db:
            db.execute("DELETE FROM collections WHERE namespace = ?", (one.namespace,))


def _namespace(name: str) -> str:
    return f"{SHARED}{name}"

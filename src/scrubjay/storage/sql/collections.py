"""Who shares what: collections, and the people who belong to them, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import SHARED, in_parts, in_sight, where
from scrubjay.types import Row, Scope

OWNER, WRITER, READER = "owner", "writer", "reader"
ROLES = (OWNER, WRITER, READER)


class Shared(NamedTuple):
    """A collection that people share: its name may change, the namespace of its memories stays."""

    namespace: str
    name: str


class SqlCollections:
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


class SqlCopies:
    """The copies in one file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._people = SqlCollections(db)

    def note(self, copy: str, of: str) -> None:
        """Note that one memory was published as another; a copy of a copy is one of the first."""
        with self._db.write() as db:
            db.execute(
                "INSERT INTO published (copy, memory) SELECT c.n,"
                " coalesce((SELECT p.memory FROM published AS p WHERE p.copy = m.n), m.n)"
                " FROM memories AS c, memories AS m WHERE c.id = ? AND m.id = ?",
                (copy, of),
            )

    def of(self, ids: Sequence[str], scope: Scope) -> list[str]:
        """Return the copies that were published of these memories and that the scope may see."""
        return self._published("o.id", ids, scope)

    def among(self, ids: Sequence[str], scope: Scope) -> list[str]:
        """Return those of these memories that are copies of others, and that the scope may see."""
        return self._published("m.id", ids, scope)

    def _published(self, column: str, ids: Sequence[str], scope: Scope) -> list[str]:
        """Return the copies of which the original (`o`) or the copy itself (`m`) is one of these."""
        condition, arguments = where(scope, self._db)
        found: list[str] = []
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    "SELECT m.id FROM published AS p JOIN memories AS o ON o.n = p.memory"
                    " JOIN memories AS m ON m.n = p.copy"
                    f" WHERE {column} IN ({several}) AND {condition}",
                    (*part, *arguments),
                )
                found += (id_ for (id_,) in rows)
        return found

    def part(self, ids: Sequence[str]) -> None:
        """Let copies be memories like any other: somebody has said the same there, or changed it.

        Otherwise its author's `forget` would take away what others rely on.
        """
        with self._db.write() as db:
            for several, part in in_parts(ids):
                chosen = f"SELECT n FROM memories WHERE id IN ({several})"
                db.execute(f"DELETE FROM published WHERE copy IN ({chosen})", part)

    def spanned(self, scope: Scope) -> tuple[str, ...]:
        """Return the names of the shared collections that a scope may see."""
        return tuple(self._people.seen(scope))

    def stand_ins(self, ids: Sequence[str], scope: Scope) -> dict[str, Row]:
        """Return, for those of these memories that are in a shared collection, what stands for them.

        That is the first memory of the same content that the scope may see: one's own, where there is
        one, otherwise the oldest in any collection, which may be the memory itself. A message is not a
        copy of another: two people may say the same.
        """
        condition, arguments = where(scope, self._db)
        found: dict[str, Row] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                for copy, id_, updated_us in db.execute(
                    "SELECT c.id, s.id, s.updated_us FROM memories AS c"
                    " JOIN collections AS k ON k.namespace = c.namespace"
                    " JOIN memories AS s ON s.n = (SELECT m.n FROM memories AS m"
                    "  LEFT JOIN collections AS x ON x.namespace = m.namespace"
                    "  WHERE m.content_hash = c.content_hash AND m.type <> 'message'"
                    f"  AND {condition} ORDER BY x.namespace IS NOT NULL, m.n LIMIT 1)"
                    f" WHERE c.id IN ({several}) AND c.type <> 'message'",
                    (*arguments, *part),
                ):
                    found[copy] = Row(id_, 0.0, None, updated_us)
        return found

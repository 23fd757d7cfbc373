"""Shared collections: their members with roles, and copies of memories that were published into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import SqlTable, where
from scrubjay.types import ROLES, SHARED_PREFIX, Row, Scope


class SharedCollection(NamedTuple):
    """A shared collection: its name may change, the namespace of its memories does not."""

    namespace: str
    name: str


class SqlCollections(SqlTable):
    """The tables `collections` and `members`."""

    table = "collections"

    def create(self, name: str, at_us: int) -> SharedCollection | None:
        """Create a collection without members; None if the name is taken."""
        with self._db.write() as db:
            if self.by_name(name) is not None:
                return None
            namespace, number = f"{SHARED_PREFIX}{name}", 1
            while self._is_used(namespace):  # by a renamed collection, or by hand
                number += 1
                namespace = f"{SHARED_PREFIX}{name} {number}"
            db.execute(
                "INSERT INTO collections (namespace, name, created_us) VALUES (?, ?, ?)",
                (namespace, name, at_us),
            )
            return SharedCollection(namespace, name)

    def _is_used(self, namespace: str) -> bool:
        tables = ("collections", "memories", "folders")
        rows = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE namespace = ?1" for table in tables
        )
        return self._row(f"{rows} LIMIT 1", (namespace,)) is not None

    def by_name(self, name: str) -> SharedCollection | None:
        """Return the collection of this name, whether or not the caller is a member."""
        return self._find("name", name)

    def by_namespace(self, namespace: str) -> SharedCollection | None:
        return self._find("namespace", namespace)

    def _find(self, column: str, value: str) -> SharedCollection | None:
        row = self._row(f"SELECT namespace, name FROM collections WHERE {column} = ?", (value,))
        return SharedCollection(*row) if row else None

    def visible(self, scope: Scope) -> dict[str, SharedCollection]:
        """Return the collections that a scope may see, by name."""
        rows = self._rows(
            "SELECT namespace, name FROM collections WHERE {namespaces} ORDER BY name", (scope,)
        )
        return {
            name: SharedCollection(namespace, name)
            for namespace, name in rows
            if type(name) is str
        }

    def members(self, collection: SharedCollection) -> dict[str, str]:
        """Return the role of each member, owners first, then by name."""
        rows = self._rows(
            "SELECT person, role FROM members WHERE namespace = ?", (collection.namespace,)
        )
        known = [row for row in rows if row[1] in ROLES and type(row[0]) is str]
        return dict(sorted(known, key=lambda row: (ROLES.index(row[1]), row[0])))

    def set_member(self, collection: SharedCollection, person: str, role: str) -> None:
        self._write(
            "INSERT INTO members (person, namespace, role) VALUES (?, ?, ?)"
            " ON CONFLICT (person, namespace) DO UPDATE SET role = excluded.role",
            (person, collection.namespace, role),
        )

    def remove_member(self, collection: SharedCollection, person: str) -> None:
        statement = "DELETE FROM members WHERE person = ? AND namespace = ?"
        self._write(statement, (person, collection.namespace))

    def is_label(self, name: str, namespace: str) -> bool:
        """True when memories or followed folders of a namespace have this name as their collection."""
        row = self._row(
            "SELECT 1 FROM memories WHERE collection = ?1 AND namespace = ?2 UNION ALL"
            " SELECT 1 FROM folders WHERE collection = ?1 AND namespace = ?2 LIMIT 1",
            (name, namespace),
        )
        return row is not None

    def rename(self, collection: SharedCollection, new_name: str) -> None:
        """Rename a collection; the caller has checked that the name is free."""
        self._write(
            "UPDATE collections SET name = ? WHERE namespace = ?", (new_name, collection.namespace)
        )

    def delete(self, collection: SharedCollection) -> None:
        """Delete a collection with its memberships and its key; the caller has deleted its memories."""
        with self._db.write():
            self._write("DELETE FROM collections WHERE namespace = ?", (collection.namespace,))
            self._db.codec.destroy(collection.namespace)


class SqlCopies(SqlTable):
    """The table `published`: which memory is a copy of which; without collections it is empty."""

    table = "collections"

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._collections = SqlCollections(db)

    def add(self, copy: str, of: str) -> None:
        """Record that one memory was published as another; a copy of a copy refers to the first."""
        self._write(
            "INSERT INTO published (copy, memory) SELECT c.n,"
            " coalesce((SELECT p.memory FROM published AS p WHERE p.copy = m.n), m.n)"
            " FROM memories AS c, memories AS m WHERE c.id = ? AND m.id = ?",
            (copy, of),
        )

    def of(self, ids: Sequence[str], scope: Scope) -> list[str]:
        """Return the published copies of these memories that the scope may see."""
        return self._published("original.id", ids, scope)

    def among(self, ids: Sequence[str], scope: Scope) -> list[str]:
        """Return those of these memories that are copies and that the scope may see."""
        return self._published("m.id", ids, scope)

    def _published(self, column: str, ids: Sequence[str], scope: Scope) -> list[str]:
        rows = self._rows_in(
            "SELECT m.id FROM published AS p JOIN memories AS original ON original.n = p.memory"
            " JOIN memories AS m ON m.n = p.copy"
            f" WHERE {column} IN ({{values}}) AND {{scope}}",
            ids,
            (scope,),
        )
        return [id_ for (id_,) in rows]

    def detach(self, ids: Sequence[str]) -> None:
        """Make copies independent, when they were added or changed where they are. Otherwise
        `forget` by the author would delete what others rely on."""
        chosen = "SELECT n FROM memories WHERE id IN ({values})"
        self._write_in(f"DELETE FROM published WHERE copy IN ({chosen})", ids)

    def visible_collections(self, scope: Scope) -> tuple[str, ...]:
        return tuple(self._collections.visible(scope))

    def representatives(self, ids: Sequence[str], scope: Scope) -> dict[str, Row]:
        """Return, for memories of shared collections, the memory that is shown for all of equal content.

        That is the first one outside of collections that the scope may see, otherwise the oldest in any
        collection, which may be the memory itself. Messages are never copies: two people may say the
        same.
        """
        condition, arguments = where(scope, self._db)
        rows = self._rows_in(
            "SELECT c.id, s.id, s.updated_us FROM memories AS c"
            " JOIN collections AS k ON k.namespace = c.namespace"
            " JOIN memories AS s ON s.n = (SELECT m.n FROM memories AS m"
            "  LEFT JOIN collections AS x ON x.namespace = m.namespace"
            "  WHERE m.content_hash = c.content_hash AND m.type <> 'message'"
            f"  AND {condition} ORDER BY x.namespace IS NOT NULL, m.n LIMIT 1)"
            " WHERE c.id IN ({values}) AND c.type <> 'message'",
            ids,
            before=arguments,
        )
        return {copy: Row(id_, 0.0, None, updated_us) for copy, id_, updated_us in rows}

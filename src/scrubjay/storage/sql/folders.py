"""Which folders are followed, into which collection; and what the collections hold."""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.files import is_in, is_under
from scrubjay.storage.sql.people import SqlPeople
from scrubjay.storage.sql.scope import in_sight, where
from scrubjay.times import moment
from scrubjay.types import Scope
from scrubjay.types.reports import Collection

_NAMED = "(collection IS coalesce(?, collection))"


class Folder(NamedTuple):
    """A folder, or a single file, that `ingest` was given."""

    path: str
    collection: str
    namespace: str
    indexed_us: int = 0
    person: str = ""


class SqlFolders:
    """The followed folders of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._people = SqlPeople(db)

    def all(self, scope: Scope) -> list[Folder]:
        """Return the folders of the namespaces that a scope may see, by path."""
        condition, arguments = in_sight(scope, "namespace")
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute(
                "SELECT path, collection, namespace, indexed_us, person FROM folders"
                f" WHERE {condition}",
                arguments,
            )
            return sorted(Folder(unseal(path), *rest) for path, *rest in rows)

    def holding(self, path: str, namespace: str) -> Folder | None:
        """Return the followed folder nearest above a path, or the path itself."""
        above = [
            one for one in self.all(Scope(namespaces=(namespace,))) if is_under(path, one.path)
        ]
        return max(above, key=lambda one: len(one.path), default=None)

    def follow(self, folder: Folder) -> None:
        """Note that a folder was read just now; one that lies in another of its collection is not noted."""
        held = self.holding(folder.path, folder.namespace)
        if held and held.path != folder.path and held.collection == folder.collection:
            return
        unseal = self._db.codec.unseal
        with self._db.write() as db:
            rows = db.execute(
                "SELECT n, path, collection FROM folders WHERE namespace = ?", (folder.namespace,)
            ).fetchall()
            known = [n for n, path, _ in rows if unseal(path) == folder.path]
            inner = [
                (n,)
                for n, path, collection in rows
                if is_in(unseal(path), folder.path) and collection == folder.collection
            ]
            db.executemany("DELETE FROM folders WHERE n = ?", inner)
            if known:
                db.execute(
                    "UPDATE folders SET collection = ?, indexed_us = ? WHERE n = ?",
                    (folder.collection, folder.indexed_us, known[0]),
                )
            else:
                db.execute(
                    "INSERT INTO folders (namespace, path, collection, indexed_us, person)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (
                        folder.namespace,
                        self._db.codec.seal(folder.path),
                        folder.collection,
                        folder.indexed_us,
                        folder.person,
                    ),
                )

    def collections(self, scope: Scope) -> list[Collection]:
        """Return the collections that a scope may see, by name; one that is shared stands for itself."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT m.collection, s.namespace IS NOT NULL, count(*), count(f.memory)"
                " FROM memories AS m LEFT JOIN files AS f ON f.memory = m.n"
                " LEFT JOIN collections AS s ON s.namespace = m.namespace"
                f" WHERE m.collection IS NOT NULL AND {condition} GROUP BY 1, 2",
                arguments,
            ).fetchall()
        shared = self._people.seen(scope)
        of_people = {one.namespace for one in shared.values()}
        counted = {(name, bool(is_shared)): counts for name, is_shared, *counts in rows}
        folders: dict[tuple[str, bool], list[Folder]] = {}
        for one in self.all(scope):
            folders.setdefault((one.collection, one.namespace in of_people), []).append(one)
        found = []
        for key in sorted({*counted, *folders, *((name, True) for name in shared)}):
            name, is_shared = key
            memories, documents = counted.get(key, (0, 0))
            followed = folders.get(key, ())
            found.append(
                Collection(
                    name,
                    memories,
                    documents,
                    tuple(one.path for one in followed),
                    moment(max((one.indexed_us for one in followed), default=None)),
                    is_shared,
                    self._people.members(shared[name]) if is_shared and name in shared else {},
                )
            )
        return found

    def rename(self, name: str | None, new_name: str, scope: Scope) -> int:
        """Give a collection another name, or all of a scope; return how many memories carry it now."""
        condition, arguments = where(scope._replace(collection=name), self._db)
        seen, who = in_sight(scope, "namespace")
        with self._db.write() as db:
            for table in ("folders", "left_out"):
                db.execute(
                    f"UPDATE {table} SET collection = ? WHERE {_NAMED} AND {seen}",
                    (new_name, name, *who),
                )
            return int(
                db.execute(
                    f"UPDATE memories AS m SET collection = ? WHERE {condition}",
                    (new_name, *arguments),
                ).rowcount
            )

    def unfollow(self, name: str | None, scope: Scope) -> None:
        """Follow the folders of a collection no longer, or all of a scope."""
        seen, who = in_sight(scope, "namespace")
        with self._db.write() as db:
            for table in ("folders", "left_out"):
                db.execute(f"DELETE FROM {table} WHERE {_NAMED} AND {seen}", (name, *who))

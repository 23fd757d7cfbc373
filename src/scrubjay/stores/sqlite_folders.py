"""Which folders are followed, into which collection; and what the collections hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.stores.scope_sql import marks, where
from scrubjay.stores.sqlite import Database
from scrubjay.stores.sqlite_files import is_in, is_under
from scrubjay.times import moment
from scrubjay.types import Collection, Scope


class Folder(NamedTuple):
    """A folder, or a single file, that `ingest` was given."""

    path: str
    collection: str
    namespace: str
    indexed_us: int = 0


class SqliteFolders:
    """The followed folders of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self, namespaces: Sequence[str] | None = None) -> list[Folder]:
        """Return the folders of some namespaces, or of all, by path."""
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute("SELECT path, collection, namespace, indexed_us FROM folders")
            found = [Folder(unseal(path), *rest) for path, *rest in rows]
        return sorted(one for one in found if namespaces is None or one.namespace in namespaces)

    def holding(self, path: str, namespace: str) -> Folder | None:
        """Return the followed folder nearest above a path, or the path itself."""
        above = [one for one in self.all([namespace]) if is_under(path, one.path)]
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
                    "INSERT INTO folders (namespace, path, collection, indexed_us)"
                    " VALUES (?, ?, ?, ?)",
                    (
                        folder.namespace,
                        self._db.codec.seal(folder.path),
                        folder.collection,
                        folder.indexed_us,
                    ),
                )

    def collections(self, scope: Scope) -> list[Collection]:
        """Return the collections that a scope may see, by name."""
        condition, arguments = where(scope, self._db.codec)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT m.collection, count(*), count(f.memory) FROM memories AS m"
                " LEFT JOIN files AS f ON f.memory = m.n"
                f" WHERE m.collection IS NOT NULL AND {condition} GROUP BY 1",
                arguments,
            ).fetchall()
        counted = {name: (memories, documents) for name, memories, documents in rows}
        folders: dict[str, list[Folder]] = {}
        for one in self.all(scope.namespaces):
            folders.setdefault(one.collection, []).append(one)
        return [
            Collection(
                name,
                *counted.get(name, (0, 0)),
                tuple(one.path for one in folders.get(name, ())),
                moment(max((one.indexed_us for one in folders.get(name, ())), default=None)),
            )
            for name in sorted({*counted, *folders})
        ]

    def rename(self, name: str, new_name: str, scope: Scope) -> int:
        """Give a collection another name; return how many memories carry it now."""
        condition, arguments = where(scope._replace(collection=name), self._db.codec)
        with self._db.write() as db:
            for table in ("folders", "left_out"):
                self._in_namespaces(
                    db, f"UPDATE {table} SET collection = ?", [new_name], name, scope
                )
            return int(
                db.execute(
                    f"UPDATE memories AS m SET collection = ? WHERE {condition}",
                    (new_name, *arguments),
                ).rowcount
            )

    def unfollow(self, name: str, scope: Scope) -> None:
        """Follow the folders of a collection no longer."""
        with self._db.write() as db:
            for table in ("folders", "left_out"):
                self._in_namespaces(db, f"DELETE FROM {table}", [], name, scope)

    def _in_namespaces(
        self, db: sqlite3.Connection, statement: str, values: list[str], name: str, scope: Scope
    ) -> None:
        namespaces = scope.namespaces
        narrowed = "" if namespaces is None else f" AND namespace IN ({marks(namespaces)})"
        db.execute(
            f"{statement} WHERE collection = ?{narrowed}", (*values, name, *(namespaces or ()))
        )

"""Which file became which documents, what it looked like then, and which files were left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.database import NOTE, Database
from scrubjay.storage.sql.collections import SqlCollections
from scrubjay.storage.sql.scope import in_parts, in_sight, where
from scrubjay.times import moment
from scrubjay.types import Scope

if TYPE_CHECKING:
    from scrubjay.types.reports import Collection

_SELECT = (
    "SELECT f.path, m.id, f.size, f.mtime_ns, f.digest, m.collection, f.part, f.reader"
    " FROM files AS f JOIN memories AS m ON m.n = f.memory"
)
# In a record the collection stands behind the text, so SQLite would read every text to get at it: for
# many files it comes out of its index. The limit keeps SQLite from looking into the records after all.
_SELECT_MANY = _SELECT.replace("m.collection", "c.collection") + (
    " LEFT JOIN (SELECT n, collection FROM memories WHERE collection IS NOT NULL LIMIT -1) AS c"
    " ON c.n = m.n"
)
_LATEST_NS = 2**63 - 1


class IndexedFile(NamedTuple):
    """One document of a file, and the file as it was when it was read."""

    path: str
    memory: str
    size: int
    mtime_ns: int
    digest: str
    collection: str | None = None
    part: str = ""
    reader: str = ""

    def state(self) -> str | None:
        """Return "missing" or "stale" when the file is no longer what was read."""
        try:
            now = os.stat(self.path)
        except OSError:
            return "missing"
        as_read = (now.st_size, fitting(now.st_mtime_ns)) == (self.size, self.mtime_ns)
        return None if as_read else "stale"


class LeftOut(NamedTuple):
    """One file or folder that was not read: `state` is "skipped" or "failed"."""

    path: str
    state: str
    reason: str
    collection: str | None = None
    size: int = 0
    mtime_ns: int = 0
    reader: str = ""


class SqlFiles:
    """The files of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, file: IndexedFile) -> None:
        """Note a file beside its document."""
        with self._db.write() as db:
            db.execute(
                "INSERT INTO files (memory, path, size, mtime_ns, digest, part, reader)"
                " SELECT n, ?, ?, ?, ?, ?, ? FROM memories WHERE id = ? ON CONFLICT (memory) DO UPDATE"
                " SET path = excluded.path, size = excluded.size, mtime_ns = excluded.mtime_ns,"
                " digest = excluded.digest, part = excluded.part, reader = excluded.reader",
                (
                    self._db.codec.seal(file.path),
                    file.size,
                    file.mtime_ns,
                    file.digest,
                    file.part,
                    file.reader,
                    file.memory,
                ),
            )

    def under(self, root: str, namespace: str) -> list[IndexedFile]:
        """Return the files of a namespace that were indexed below a folder, or the one file itself."""
        with self._db.read() as db:
            rows = db.execute(f"{_SELECT_MANY} WHERE m.namespace = ?", (namespace,)).fetchall()
        return [one for one in self._files(rows) if is_under(one.path, root)]

    def seen(self, scope: Scope) -> list[IndexedFile]:
        """Return every indexed file that a scope may see."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            return self._files(db.execute(f"{_SELECT_MANY} WHERE {condition}", arguments))

    def of(self, ids: Sequence[str]) -> dict[str, IndexedFile]:
        """Return the files behind these documents."""
        found = {}
        with self._db.read() as db:
            for id_ in ids:
                for file in self._files(db.execute(f"{_SELECT} WHERE m.id = ?", (id_,))):
                    found[id_] = file
        return found

    def how_many(self) -> int:
        """Return how many documents came out of files."""
        with self._db.read() as db:
            return int(db.execute("SELECT count(*) FROM files").fetchone()[0])

    def with_digest(self, digest: str, namespace: str) -> list[IndexedFile]:
        """Return the files of a namespace that held just these bytes."""
        with self._db.read() as db:
            return self._files(
                db.execute(
                    # The plus keeps SQLite from walking through the whole namespace instead.
                    f"{_SELECT} WHERE f.digest = ? AND +m.namespace = ?",
                    (digest, namespace),
                )
            )

    def left_out(self, root: str | None, scope: Scope) -> list[LeftOut]:
        """Return what was left out below a folder, or everywhere, in the namespaces of a scope."""
        condition, arguments = in_sight(scope, "namespace")
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute(
                "SELECT path, state, reason, collection, size, mtime_ns, reader FROM left_out"
                f" WHERE {condition}",
                arguments,
            ).fetchall()
        found = (LeftOut(unseal(path), *rest) for path, *rest in rows)
        return [one for one in found if root is None or is_under(one.path, root)]

    def leave_out(self, root: str, namespace: str, now: Iterable[LeftOut]) -> None:
        """Replace the list of what was left out below a folder."""
        before = self.left_out(root, Scope(namespaces=(namespace,)))
        after = list(now)
        if set(before) == set(after):
            return
        seal, unseal = self._db.codec.seal, self._db.codec.unseal
        with self._db.write() as db:
            rows = db.execute("SELECT n, path FROM left_out WHERE namespace = ?", (namespace,))
            gone = [(n,) for n, path in rows.fetchall() if is_under(unseal(path), root)]
            db.executemany("DELETE FROM left_out WHERE n = ?", gone)
            db.executemany(
                "INSERT INTO left_out"
                " (namespace, path, state, reason, collection, size, mtime_ns, reader)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(namespace, seal(one.path), *one[1:]) for one in after],
            )

    def _files(self, rows: Iterable[tuple[str, ...]]) -> list[IndexedFile]:
        unseal = self._db.codec.unseal
        return [IndexedFile(unseal(path), *rest) for path, *rest in rows]  # type: ignore[arg-type]  # as selected


def fitting(time_ns: int) -> int:
    """Return the nearest time that SQLite can keep: a file may claim to be from after the year 2262."""
    return max(-_LATEST_NS, min(time_ns, _LATEST_NS))


def is_in(path: str, root: str) -> bool:
    """True when a path lies below a root."""
    return path != root and is_under(path, root)


def is_under(path: str, root: str) -> bool:
    """True when a path is a root itself or lies below it."""
    return path == root or path.startswith(os.path.join(root, ""))


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
        self._people = SqlCollections(db)

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
        from scrubjay.types.reports import Collection

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


_UNSETTLED = "links of "


class StoredTarget(NamedTuple):
    """One link of a document: `name` is the last part of it, folded, by which a new file may claim it."""

    name: str
    kind: str
    text: str


class SqlLinkTargets:
    """The link targets of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, id_: str, targets: Sequence[StoredTarget]) -> None:
        """Replace the targets of one document."""
        seal, token = self._db.codec.seal, self._db.codec.token
        with self._db.write() as db:
            (n,) = db.execute("SELECT n FROM memories WHERE id = ?", (id_,)).fetchone()
            db.execute("DELETE FROM targets WHERE memory = ?", (n,))
            db.executemany(
                "INSERT INTO targets (memory, name, kind, target) VALUES (?, ?, ?, ?)",
                [(n, token(one.name), one.kind, seal(one.text)) for one in targets],
            )

    def unsettle(self, namespace: str) -> None:
        """Note that links of a namespace may have to be resolved anew: a run may be cut short."""
        with self._db.write() as db:
            db.execute(NOTE, (_UNSETTLED + namespace, 1))

    def settle(self, namespace: str) -> None:
        """Note that the links of a namespace are resolved."""
        with self._db.write() as db:
            db.execute("DELETE FROM meta WHERE key = ?", (_UNSETTLED + namespace,))

    def are_settled(self, namespace: str) -> bool:
        """False when the last run was cut short."""
        with self._db.read() as db:
            found = db.execute("SELECT 1 FROM meta WHERE key = ?", (_UNSETTLED + namespace,))
            return found.fetchone() is None

    def of(self, ids: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
        """Return (kind, text) of every target of these documents."""
        unseal = self._db.codec.unseal
        found: dict[str, list[tuple[str, str]]] = {id_: [] for id_ in ids}
        with self._db.read() as db:
            for several, part in in_parts(list(found)):
                for id_, kind, text in db.execute(
                    "SELECT m.id, t.kind, t.target FROM targets AS t"
                    f" JOIN memories AS m ON m.n = t.memory WHERE m.id IN ({several})",
                    part,
                ):
                    found[id_].append((kind, unseal(text)))
        return found

    def naming(self, names: Iterable[str], namespace: str) -> set[str]:
        """Return the documents of a namespace that link to something of one of these names."""
        token = self._db.codec.token
        found: set[str] = set()
        with self._db.read() as db:
            for several, part in in_parts([token(name) for name in names]):
                found.update(
                    id_
                    for (id_,) in db.execute(
                        "SELECT DISTINCT m.id FROM targets AS t JOIN memories AS m ON m.n = t.memory"
                        f" WHERE t.name IN ({several}) AND m.namespace = ?",
                        (*part, namespace),
                    )
                )
        return found

"""Ingested files: the documents of each file, skipped files, followed folders, links between them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.storage.codec import UNREADABLE, DamagedValue, readable
from scrubjay.storage.database import NOTE, Database
from scrubjay.storage.sql.collections import SqlCollections
from scrubjay.storage.sql.records import SOURCE
from scrubjay.storage.sql.scope import SqlTable
from scrubjay.times import moment
from scrubjay.types import Scope

if TYPE_CHECKING:
    from scrubjay.types.reports import Collection

_SELECT = (
    "SELECT f.path, m.id, f.size, f.mtime_ns, f.digest, m.collection, f.part, f.reader"
    " FROM files AS f JOIN memories AS m ON m.n = f.memory"
)
# In a record the collection comes after the text, so SQLite would read every text to get at it: for many
# files it is read from its index. The limit keeps SQLite from reading the records after all.
_SELECT_MANY = _SELECT.replace("m.collection", "c.collection") + (
    " LEFT JOIN (SELECT n, collection FROM memories WHERE collection IS NOT NULL LIMIT -1) AS c"
    " ON c.n = m.n"
)
# Places of texts, as the codec knows them.
_PART = "files.part"
_PATH, _SKIPPED_PATH, _FOLDER_PATH = "files.path", "left_out.path", "folders.path"
_REASON, _TARGET = "left_out.reason", "targets.target"
_MAX_NS = 2**63 - 1
_IN_COLLECTION = "(collection IS coalesce(?, collection))"
_UNRESOLVED = "links of "


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
        """Return "missing" or "stale" when the file has changed since; else None."""
        try:
            now = os.stat(self.path)
        except OSError:
            return "missing"
        unchanged = (now.st_size, storable_ns(now.st_mtime_ns)) == (self.size, self.mtime_ns)
        return None if unchanged else "stale"


class SkippedFile(NamedTuple):
    """A file or folder that was not read: `state` is "skipped" or "failed"."""

    path: str
    state: str
    reason: str
    collection: str | None = None
    size: int = 0
    mtime_ns: int = 0
    reader: str = ""


class SqlFiles(SqlTable):
    """The tables `files` and `left_out`."""

    table = "files"

    def put(self, file: IndexedFile) -> None:
        self._write(
            "INSERT INTO files (memory, path, size, mtime_ns, digest, part, reader)"
            " SELECT n, ?, ?, ?, ?, ?, ? FROM memories WHERE id = ? ON CONFLICT (memory) DO UPDATE"
            " SET path = excluded.path, size = excluded.size, mtime_ns = excluded.mtime_ns,"
            " digest = excluded.digest, part = excluded.part, reader = excluded.reader",
            (
                self._seal(file.path, _PATH, file.memory),
                *file[2:5],
                self._seal(file.part, _PART, file.memory),
                *(file.reader, file.memory),
            ),
        )

    def under(self, root: str, namespace: str) -> list[IndexedFile]:
        """Return the indexed files of a namespace below a folder, or the file itself."""
        rows = self._rows(f"{_SELECT_MANY} WHERE m.namespace = ?", (namespace,))
        return [file for file in self._files(rows) if is_under(file.path, root)]

    def visible(self, scope: Scope) -> list[IndexedFile]:
        """Return every indexed file that a scope may see."""
        return self._files(self._rows(f"{_SELECT_MANY} WHERE {{scope}}", (scope,)))

    def of(self, ids: Sequence[str]) -> dict[str, IndexedFile]:
        rows = [row for id_ in ids for row in self._rows(f"{_SELECT} WHERE m.id = ?", (id_,))]
        return {file.memory: file for file in self._files(rows)}

    def count(self) -> int:
        return self._number("SELECT count(*) FROM files")

    def digest(self, data: bytes) -> str:
        """Return the hash by which the content of a file is recognized."""
        from hashlib import sha256  # loads OpenSSL, which no search waits for

        return self._db.codec.exact(sha256(data).hexdigest(), "files.digest")

    def with_digest(self, digest: str, namespace: str) -> list[IndexedFile]:
        # The plus keeps SQLite from reading the whole namespace.
        where_digest = "WHERE f.digest = ? AND +m.namespace = ?"
        return self._files(self._rows(f"{_SELECT} {where_digest}", (digest, namespace)))

    def skipped(self, root: str | None, scope: Scope) -> list[SkippedFile]:
        """Return the skipped files below a folder, or all, in the namespaces of a scope."""
        rows = self._rows(
            "SELECT namespace, path, state, reason, collection, size, mtime_ns, reader"
            " FROM left_out WHERE {namespaces}",
            (scope,),
        )

        def skipped(row: Sequence[Any]) -> SkippedFile:
            namespace, path, state, reason, *others = row
            path = self._unseal(path, _SKIPPED_PATH, namespace)
            return SkippedFile(path, state, self._unseal(reason, _REASON, namespace), *others)

        files = readable(skipped, rows)
        return [file for file in files if root is None or is_under(file.path, root)]

    def count_failed(self, scope: Scope) -> int:
        """Return how many files could not be read, in the namespaces of a scope."""
        rows = self._rows(
            "SELECT count(*) FROM left_out WHERE state = 'failed' AND {namespaces}", (scope,)
        )
        return int(next(iter(rows))[0])

    def set_skipped(self, root: str, namespace: str, skipped: Iterable[SkippedFile]) -> None:
        """Replace the list of skipped files below a folder."""
        before = self.skipped(root, Scope(namespaces=(namespace,)))
        after = list(skipped)
        if set(before) == set(after):
            return
        with self._db.write() as db:
            rows = self._rows("SELECT n, path FROM left_out WHERE namespace = ?", (namespace,))
            paths = readable(
                lambda row: (row[0], self._unseal(row[1], _SKIPPED_PATH, namespace)), rows
            )
            old = [(n,) for n, path in paths if is_under(path, root)]
            db.executemany("DELETE FROM left_out WHERE n = ?", old)
            db.executemany(
                "INSERT INTO left_out"
                " (namespace, path, state, reason, collection, size, mtime_ns, reader)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        namespace,
                        self._seal(file.path, _SKIPPED_PATH, namespace, namespace),
                        file.state,
                        self._seal(file.reason, _REASON, namespace, namespace),
                        *file[3:],
                    )
                    for file in after
                ],
            )

    def _files(self, rows: Iterable[Any]) -> list[IndexedFile]:
        def file(row: Sequence[Any]) -> IndexedFile:
            path, memory, *known, part, reader = row
            path, part = self._unseal(path, _PATH, memory), self._unseal(part, _PART, memory)
            return IndexedFile._make((path, memory, *known, part, reader))

        return list(readable(file, rows))


def storable_ns(time_ns: int) -> int:
    """Return the nearest time that SQLite can store: a file may claim to be from after the year 2262."""
    return max(-_MAX_NS, min(time_ns, _MAX_NS))


def is_inside(path: str, root: str) -> bool:
    """True when a path lies below a root."""
    return path != root and is_under(path, root)


def is_under(path: str, root: str) -> bool:
    """True when a path is the root itself or lies below it."""
    return path == root or path.startswith(os.path.join(root, ""))


class Folder(NamedTuple):
    """A folder, or a single file, that was given to `ingest`."""

    path: str
    collection: str
    namespace: str
    indexed_us: int = 0
    person: str = ""


class SqlFolders(SqlTable):
    """The table `folders`: followed folders and their collections."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._collections = SqlCollections(db)

    def all(self, scope: Scope) -> list[Folder]:
        """Return the folders of the namespaces that a scope may see, by path."""
        rows = self._rows(
            "SELECT path, collection, namespace, indexed_us, person FROM folders WHERE {namespaces}",
            (scope,),
        )

        def folder(row: Sequence[Any]) -> Folder:
            path, collection, namespace, indexed_us, person = row
            moment(indexed_us)
            if not isinstance(collection, str):
                raise DamagedValue("the name of a collection is not a text")
            path = self._unseal(path, _FOLDER_PATH, namespace)
            return Folder(path, collection, namespace, indexed_us, person)

        return sorted(readable(folder, rows))

    def containing(self, path: str, namespace: str) -> Folder | None:
        """Return the innermost followed folder that contains a path, or is that path."""
        folders = self.all(Scope(namespaces=(namespace,)))
        outer = [folder for folder in folders if is_under(path, folder.path)]
        return max(outer, key=lambda folder: len(folder.path), default=None)

    def follow(self, folder: Folder) -> None:
        """Record that a folder was read, unless it lies in another one of the same collection."""
        outer = self.containing(folder.path, folder.namespace)
        if outer and outer.path != folder.path and outer.collection == folder.collection:
            return
        with self._db.write() as db:
            stored = self._rows(
                "SELECT n, path, collection FROM folders WHERE namespace = ?", (folder.namespace,)
            )

            def known_folder(row: Sequence[Any]) -> tuple[int, str, str]:
                n, path, collection = row
                return n, self._unseal(path, _FOLDER_PATH, folder.namespace), collection

            rows = list(readable(known_folder, stored))
            known = [n for n, path, _ in rows if path == folder.path]
            inner = [
                (n,)
                for n, path, collection in rows
                if is_inside(path, folder.path) and collection == folder.collection
            ]
            db.executemany("DELETE FROM folders WHERE n = ?", inner)
            if known:
                db.execute(
                    "UPDATE folders SET collection = ?, indexed_us = ? WHERE n = ?",
                    (folder.collection, folder.indexed_us, known[0]),
                )
            else:
                db.execute(
                    "INSERT INTO folders (path, collection, namespace, indexed_us, person)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (
                        self._seal(folder.path, _FOLDER_PATH, folder.namespace, folder.namespace),
                        *folder[1:],
                    ),
                )

    def collections(self, scope: Scope) -> list[Collection]:
        """Return the collections that a scope may see, by name; shared ones are listed apart."""
        from scrubjay.types.reports import Collection

        rows = self._rows(
            "SELECT m.collection, s.namespace IS NOT NULL, count(*), count(f.memory)"
            " FROM memories AS m LEFT JOIN files AS f ON f.memory = m.n"
            " LEFT JOIN collections AS s ON s.namespace = m.namespace"
            " WHERE m.collection IS NOT NULL AND {scope} GROUP BY 1, 2",
            (scope,),
        )
        shared = self._collections.visible(scope)
        shared_namespaces = {collection.namespace for collection in shared.values()}
        counted = {
            (name, bool(is_shared)): counts
            for name, is_shared, *counts in rows
            if type(name) is str
        }
        folders: dict[tuple[str, bool], list[Folder]] = {}
        for folder in self.all(scope):
            key = (folder.collection, folder.namespace in shared_namespaces)
            folders.setdefault(key, []).append(folder)
        found = []
        for key in sorted({*counted, *folders, *((name, True) for name in shared)}):
            name, is_shared = key
            followed = folders.get(key, ())
            paths = tuple(folder.path for folder in followed)
            last = moment(max((folder.indexed_us for folder in followed), default=None))
            has_members = is_shared and name in shared
            members = self._collections.members(shared[name]) if has_members else {}
            counts = counted.get(key, (0, 0))
            found.append(Collection._make((name, *counts, paths, last, is_shared, members)))
        return found

    def rename_collection(self, name: str | None, new_name: str, scope: Scope) -> int:
        """Rename a collection, or all of a scope; return how many memories have the new name now."""
        with self._db.write():
            for table in ("folders", "left_out"):
                self._write(
                    f"UPDATE {table} SET collection = ? WHERE {_IN_COLLECTION} AND {{namespaces}}",
                    (new_name, name, scope),
                )
            return self._write(
                "UPDATE memories AS m SET collection = ? WHERE {scope}",
                (new_name, scope._replace(collection=name)),
            )

    def unfollow(self, name: str | None, scope: Scope) -> None:
        """Stop following the folders of a collection, or all of a scope."""
        with self._db.write():
            for table in ("folders", "left_out"):
                statement = f"DELETE FROM {table} WHERE {_IN_COLLECTION} AND {{namespaces}}"
                self._write(statement, (name, scope))


class LinkTarget(NamedTuple):
    """A link of a document as written; `name` is its last part, folded, by which a new file may match."""

    name: str
    kind: str
    text: str


class SqlLinkTargets(SqlTable):
    """The table `targets`: links between documents, resolved once the other file is there."""

    def put(self, id_: str, targets: Sequence[LinkTarget]) -> None:
        """Replace the targets of one document."""
        with self._db.write() as db:
            (n,) = db.execute("SELECT n FROM memories WHERE id = ?", (id_,)).fetchone()
            db.execute("DELETE FROM targets WHERE memory = ?", (n,))
            db.executemany(
                "INSERT INTO targets (memory, name, kind, target) VALUES (?, ?, ?, ?)",
                [
                    (
                        n,
                        self._stored_name(target.name),
                        target.kind,
                        self._seal(target.text, _TARGET, id_),
                    )
                    for target in targets
                ],
            )

    def mark_unresolved(self, namespace: str) -> None:
        """Record that links of a namespace must be resolved again, in case the run is interrupted."""
        self._write(NOTE, (_UNRESOLVED + namespace, 1))

    def mark_resolved(self, namespace: str) -> None:
        self._write("DELETE FROM meta WHERE key = ?", (_UNRESOLVED + namespace,))

    def are_resolved(self, namespace: str) -> bool:
        """False when the last run was interrupted."""
        key = _UNRESOLVED + namespace
        return self._row("SELECT 1 FROM meta WHERE key = ?", (key,)) is None

    def of(self, ids: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
        targets: dict[str, list[tuple[str, str]]] = {id_: [] for id_ in ids}
        for id_, kind, text in self._rows_in(
            "SELECT m.id, t.kind, t.target FROM targets AS t"
            " JOIN memories AS m ON m.n = t.memory WHERE m.id IN ({values})",
            list(targets),
        ):
            with suppress(*UNREADABLE):
                targets[id_].append((kind, self._unseal(text, _TARGET, id_)))
        return targets

    def documents_linking_to(self, names: Iterable[str], namespace: str) -> set[str]:
        """Return the documents of a namespace with a target of one of these names."""
        rows = self._rows_in(
            "SELECT DISTINCT m.id FROM targets AS t JOIN memories AS m ON m.n = t.memory"
            " WHERE t.name IN ({values}) AND m.namespace = ?",
            list(map(self._stored_name, names)),
            (namespace,),
        )
        return {id_ for (id_,) in rows}

    def _stored_name(self, name: str) -> str:
        return self._db.codec.exact(name, "targets.name")


class SqlMemoryFiles(SqlTable):
    """Memories that are files: rows of the table `memories` whose source is a path below /memories."""

    table = "memories"

    def paths(self, scope: Scope) -> dict[str, str]:
        """Return the ids of the files of a scope by path. Of two with one path, the first counts."""
        rows = self._rows(
            "SELECT m.id, m.source FROM memories AS m WHERE {scope} AND m.source IS NOT NULL"
            " ORDER BY m.n DESC",
            (scope,),
        )
        return dict(readable(lambda row: (self._unseal(row[1], SOURCE, row[0]), row[0]), rows))

    def changes(self, id_: str) -> int:
        """Return how often a memory was changed."""
        return self._number(
            "SELECT coalesce(max(v.n), 0) FROM versions AS v"
            " WHERE v.memory = (SELECT n FROM memories WHERE id = ?)",
            (id_,),
        )

"""Which file became which documents, what it looked like then, and which files were left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import in_sight, where
from scrubjay.types import Scope

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

"""Which file became which document, and what it looked like then."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.stores.sqlite import Database


class IndexedFile(NamedTuple):
    """One file as it was when it was read."""

    path: str
    memory: str
    size: int
    mtime_ns: int
    digest: str
    collection: str | None = None

    def state(self) -> str | None:
        """Return "missing" or "stale" when the file is no longer what was read."""
        try:
            now = os.stat(self.path)
        except OSError:
            return "missing"
        return None if (now.st_size, now.st_mtime_ns) == (self.size, self.mtime_ns) else "stale"


class SqliteFiles:
    """The indexed files of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, file: IndexedFile) -> None:
        """Note a file beside its document."""
        with self._db.write() as db:
            db.execute(
                "INSERT OR REPLACE INTO files (memory, path, size, mtime_ns, digest)"
                " SELECT n, ?, ?, ?, ? FROM memories WHERE id = ?",
                (
                    self._db.codec.seal(file.path),
                    file.size,
                    file.mtime_ns,
                    file.digest,
                    file.memory,
                ),
            )

    def under(self, root: str, namespace: str | None) -> list[IndexedFile]:
        """Return the files of a namespace that were indexed below a folder, or the one file itself."""
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute(
                "SELECT f.path, m.id, f.size, f.mtime_ns, f.digest, m.collection FROM files AS f"
                " JOIN memories AS m ON m.n = f.memory WHERE m.namespace = coalesce(?, 'default')",
                (namespace,),
            ).fetchall()
        files = [IndexedFile(unseal(path), *rest) for path, *rest in rows]
        inside = os.path.join(root, "")
        return [one for one in files if one.path == root or one.path.startswith(inside)]

    def of(self, ids: Sequence[str]) -> dict[str, IndexedFile]:
        """Return the files behind these documents."""
        unseal = self._db.codec.unseal
        found = {}
        with self._db.read() as db:
            for id_ in ids:
                row = db.execute(
                    "SELECT f.path, m.id, f.size, f.mtime_ns, f.digest, m.collection FROM files AS f"
                    " JOIN memories AS m ON m.n = f.memory WHERE m.id = ?",
                    (id_,),
                ).fetchone()
                if row:
                    found[id_] = IndexedFile(unseal(row[0]), *row[1:])
        return found

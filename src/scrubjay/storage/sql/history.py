"""What changed in memories, and when, in SQLite."""

from __future__ import annotations

from scrubjay.storage.database import Database


class SqlHistory:
    """The changes of one file. They go with the memory."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def note(self, id_: str, at_us: int, field: str, before: str, after: str) -> None:
        """Keep what a field was and became."""
        seal = self._db.codec.seal
        with self._db.write() as db:
            db.execute(
                "INSERT INTO history (memory, at_us, change, before, after)"
                " SELECT n, ?, ?, ?, ? FROM memories WHERE id = ?",
                (at_us, field, seal(before), seal(after), id_),
            )

    def of(self, id_: str) -> list[tuple[int, str, str, str]]:
        """Return time, field, before and after of each change of a memory, oldest first."""
        unseal = self._db.codec.unseal
        with self._db.read() as db:
            rows = db.execute(
                "SELECT h.at_us, h.change, h.before, h.after FROM history AS h"
                " JOIN memories AS m ON m.n = h.memory WHERE m.id = ? ORDER BY h.n",
                (id_,),
            )
            return [(at, field, unseal(old), unseal(new)) for at, field, old, new in rows]

    def drop(self, id_: str, field: str) -> None:
        """Forget what a field was."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM history WHERE change = ?"
                " AND memory = (SELECT n FROM memories WHERE id = ?)",
                (field, id_),
            )

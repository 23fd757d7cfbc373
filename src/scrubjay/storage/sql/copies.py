"""The same text in several namespaces: what was published where, and which copy stands for all."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.storage.database import Database
from scrubjay.storage.sql.people import SqlPeople
from scrubjay.storage.sql.scope import in_parts, where
from scrubjay.types import Row, Scope


class SqlCopies:
    """The copies in one file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._people = SqlPeople(db)

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

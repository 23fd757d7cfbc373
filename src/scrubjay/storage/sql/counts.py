"""How much of what a scope may see, in SQLite: the rows that hang on memories, counted."""

from __future__ import annotations

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import EVERYTHING, where
from scrubjay.types import Scope

_ENDS = {"chunks": ("memory",), "edges": ("a", "b")}
# Two memories may each be the other's nearest: that is one link.
_ONCE = {
    "edges": "NOT (t.made = 'auto' AND t.a > t.b AND EXISTS (SELECT 1 FROM edges AS o"
    " WHERE o.a = t.b AND o.b = t.a AND o.kind = t.kind AND o.made = 'auto'))"
}


class SqlCounts:
    """The counts of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def rows(self, table: str, scope: Scope) -> int:
        """Return how many rows of a table belong to memories of the scope, by both ends if it has two."""
        seen, arguments = ("", []) if scope.everything else self._seen(scope)
        held = [f"t.{end} IN ({seen})" for end in _ENDS[table] if seen]
        held.append(_ONCE.get(table, EVERYTHING))
        statement = f"SELECT count(*) FROM {table} AS t WHERE {' AND '.join(held)}"
        with self._db.read() as db:
            row = db.execute(statement, arguments * len(_ENDS[table])).fetchone()
        return int(row[0])

    def vectors(self, scope: Scope) -> dict[str, int]:
        """Return each model known to the file with how many vectors it has made of the scope."""
        seen, arguments = self._seen(scope)
        with self._db.read() as db:
            counted = db.execute(
                "SELECT models.name, count(c.n) FROM models LEFT JOIN vectors AS v ON v.model ="
                " models.n LEFT JOIN chunks AS c ON c.n = v.chunk AND c.memory IN"
                f" ({seen}) GROUP BY models.n",
                arguments,
            )
            return dict(counted.fetchall())

    def wanting(self, model: str, most_tries: int, scope: Scope) -> tuple[int, int]:
        """Return how many passages of the scope want a vector, and how many of them were given up."""
        seen, arguments = self._seen(scope)
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*), count(*) FILTER (WHERE w.tries >= ?) FROM wanting AS w"
                " JOIN chunks AS c ON c.n = w.chunk WHERE w.model ="
                f" (SELECT n FROM models WHERE name = ?) AND c.memory IN ({seen})",
                (most_tries, model, *arguments),
            ).fetchone()
        return int(row[0]), int(row[1])

    def _seen(self, scope: Scope) -> tuple[str, list[object]]:
        condition, arguments = where(scope, self._db)
        return f"SELECT m.n FROM memories AS m WHERE {condition}", arguments

"""How much of what a scope may see, in SQLite: the rows that hang on memories, counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.database import Database
from scrubjay.storage.sql.scope import EVERYTHING, in_parts, where
from scrubjay.types import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.database import Database
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


class Gauges(NamedTuple):
    """Counts of one database, whoever's they are; `behind` is what each server has yet to be told."""

    memories: int
    pending: int
    behind: Mapping[str, int]


def gauges(db: Database) -> Gauges:
    """Count rows, and nothing that needs a model or a server."""
    with db.read() as connection:
        memories, pending = connection.execute(
            "SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM wanting)"
        ).fetchone()
        behind = connection.execute(
            "SELECT p.tier, count(o.n) FROM projections AS p LEFT JOIN outbox AS o ON o.tier = p.tier"
            " GROUP BY p.tier ORDER BY p.tier"
        ).fetchall()
    return Gauges(int(memories), int(pending), {tier: int(count) for tier, count in behind})


HOUR_US = 3_600_000_000
SEARCHES = ""  # the tier that counts searches
Counts = Mapping[tuple[int, str], int]  # by the beginning of an hour and a tier


class SqlHitCounts:
    """The hits of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, counts: Counts, wait_s: float) -> None:
        """Add to what was counted before; a store that is busy longer than that is a StoreError."""
        with self._db.write(wait_s) as db:
            db.executemany(
                "INSERT INTO hits (hour_us, tier, count) VALUES (?, ?, ?)"
                " ON CONFLICT (hour_us, tier) DO UPDATE SET count = hits.count + excluded.count",
                [(hour, tier, count) for (hour, tier), count in sorted(counts.items())],
            )

    def since(self, hour_us: int) -> dict[tuple[int, str], int]:
        """Return the counts of the hours that begin at this moment or later."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT hour_us, tier, count FROM hits WHERE hour_us >= ?", (hour_us,)
            )
            return {(hour, tier): count for hour, tier, count in rows}


_MOST_PASSAGES = 8  # what a document is about is said where it begins
_MOST_READ_CHARS = 400  # of a text, to find words that stand for a title


class Vectored(NamedTuple):
    """A memory that has a vector, by its number; `newest` is the number of its latest vector."""

    memory: int
    id: str
    newest: int


class Called(NamedTuple):
    """What is shown of a memory."""

    id: str
    type: str
    words: str  # its title, or how its text begins
    topic: str | None
    created_us: int
    updated_us: int


class SqlMap:
    """The memories of one store, as a map needs them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def vectored(self, model: str, scope: Scope) -> tuple[list[Vectored], int]:
        """Return the memories of a scope that have a vector, as they were stored, and how many have none."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT m.n, m.id, max(v.n) FROM memories AS m JOIN chunks AS c ON c.memory = m.n"
                " JOIN vectors AS v ON v.chunk = c.n"
                " WHERE v.model = (SELECT n FROM models WHERE name = ?)"
                f" AND {condition} GROUP BY m.n, m.id ORDER BY m.n",
                (model, *arguments),
            )
            found = [Vectored(*row) for row in rows]
            (every,) = db.execute(
                f"SELECT count(*) FROM memories AS m WHERE {condition}", arguments
            ).fetchone()
        return found, max(every - len(found), 0)

    def vectors(
        self, model: str, memories: Sequence[int]
    ) -> tuple[list[int], NDArray[np.float32]]:
        """Return those of these memories that still have a vector, and one vector for each.

        It is the mean of a memory's first passages, of length 1.
        """
        import numpy as np

        unseal = self._db.codec.unseal_vector
        kept: dict[int, NDArray[np.float32]] = {}
        with self._db.read() as db:
            for several, part in in_parts(memories):
                passages: dict[int, list[NDArray[np.float32]]] = {}
                for memory, stored in db.execute(
                    "SELECT c.memory, v.vector FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
                    " WHERE v.model = (SELECT n FROM models WHERE name = ?)"
                    f" AND c.memory IN ({several}) AND c.ordinal < ? ORDER BY c.memory, c.ordinal",
                    (model, *part, _MOST_PASSAGES),
                ):
                    passages.setdefault(memory, []).append(np.frombuffer(unseal(stored), "<f4"))
                for memory, vectors in passages.items():
                    mean = vectors[0] if len(vectors) == 1 else np.mean(vectors, axis=0)
                    length = float(np.linalg.norm(mean))
                    kept[memory] = mean / length if length > 0 else mean
        rows = [kept[memory] for memory in kept]
        return list(kept), np.array(rows, np.float32) if rows else np.zeros((0, 0), np.float32)

    def called(self, memories: Sequence[int]) -> dict[int, Called]:
        """Return what is shown of these memories, by number."""
        unseal = self._db.codec.unseal
        found: dict[int, Called] = {}
        with self._db.read() as db:
            for several, part in in_parts(memories):
                # Of what has a title the text is not read: it may be a book.
                for n, id_, type_, title, text, topics, created_us, updated_us in db.execute(
                    "SELECT n, id, type, title, CASE WHEN title = '' THEN text END, topics,"
                    f" created_us, updated_us FROM memories WHERE n IN ({several})",
                    part,
                ):
                    words = unseal(title) if text is None else unseal(text)[:_MOST_READ_CHARS]
                    first = next(iter(json.loads(unseal(topics))), None)
                    found[n] = Called(id_, type_, words, first, created_us, updated_us)
        return found

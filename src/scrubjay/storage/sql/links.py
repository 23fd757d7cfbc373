"""Links that nobody set: which memories still wait for them, and how they are written.

The file itself notes in `unlinked` which memories have a new vector, once somebody searches it by links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import EVERYTHING, marks, where
from scrubjay.types import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND, MADE = "related", "auto"
_MOST_PASSAGES = 8  # what a document is about is said where it begins


class Unlinked(NamedTuple):
    """A memory that waits for its links: the vectors of its first passages, and what it is linked to.

    `parted` are those that somebody has taken it apart from, `chosen_by` those that chose it as theirs.
    """

    memory: int
    id: str
    namespace: str
    vectors: Mapping[int, NDArray[np.float32]]
    parted: tuple[str, ...]
    chosen_by: tuple[str, ...]


class Linked(NamedTuple):
    """What a memory is to be linked to, and how strong those links are that others chose."""

    of: Unlinked
    to: Mapping[str, float]
    chosen_by: Mapping[str, float]


class SqlLinks:
    """The automatic links of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def activate(self, wait_s: float | None = None) -> None:
        """Have every memory linked from now on, those that have a vector already too; once is enough."""
        with self._db.read() as db:
            if db.execute("SELECT 1 FROM meta WHERE key = 'links'").fetchone():
                return
        with self._db.write(wait_s) as db:
            db.execute(
                "INSERT INTO meta (key, value) VALUES ('links', 1) ON CONFLICT (key) DO NOTHING"
            )
            db.execute(
                "INSERT INTO unlinked (memory) SELECT DISTINCT c.memory FROM vectors AS v"
                " JOIN chunks AS c ON c.n = v.chunk WHERE TRUE ON CONFLICT (memory) DO NOTHING"
            )

    def left(self, model: str, scope: Scope | None = None, most: int | None = None) -> int:
        """Return how many memories wait for their links, of all or of a scope; `most` stops counting.

        One that has no vector of the model has nothing to be linked by: it waits for that first.
        """
        condition, arguments = (EVERYTHING, []) if scope is None else where(scope, self._db)
        limit, more = ("", ()) if most is None else (" LIMIT ?", (most,))
        with self._db.read() as db:
            row = db.execute(
                f"SELECT count(*) FROM (SELECT u.memory {_WAITING} AND {condition}{limit}) AS listed",
                (model, *arguments, *more),
            ).fetchone()
        return int(row[0])

    def waiting(self, model: str, most: int) -> list[Unlinked]:
        """Return the memories that wait, the newest first: who writes wants to see those linked."""
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.n, m.id, m.namespace {_WAITING} ORDER BY u.memory DESC LIMIT ?",
                (model, most),
            ).fetchall()
            return [
                Unlinked(
                    n,
                    id_,
                    namespace,
                    self._vectors(db, n, model),
                    self._ids(db, _PARTED, n, n),
                    self._ids(db, _CHOSEN_BY, n),
                )
                for n, id_, namespace in rows
            ]

    def put(self, done: Sequence[Linked], model: str) -> None:
        """Write the links of memories that are still as they were when these were found.

        What was written anew meanwhile waits on; what was forgotten meanwhile is not linked.
        """
        with self._db.write() as db:
            for one in done:
                if list(self._numbers(db, one.of.memory, model)) == list(one.of.vectors):
                    self._put(db, one)
                    db.execute("DELETE FROM unlinked WHERE memory = ?", (one.of.memory,))

    def _put(self, db: Connection, one: Linked) -> None:
        here, to = one.of.memory, list(one.to)
        kept = f" AND b NOT IN (SELECT n FROM memories WHERE id IN ({marks(to)}))" if to else ""
        db.execute(f"DELETE FROM edges WHERE a = ? AND made = '{MADE}'{kept}", (here, *to))
        db.executemany(_LINK, [(strength, here, id_) for id_, strength in one.to.items()])
        db.executemany(
            _STRENGTHEN, [(strength, here, id_) for id_, strength in one.chosen_by.items()]
        )

    def _numbers(self, db: Connection, memory: int, model: str) -> list[int]:
        rows = db.execute(f"SELECT v.n {_OF_MEMORY}", (memory, model)).fetchall()
        return [n for (n,) in rows]

    def _vectors(
        self, db: Connection, memory: int, model: str
    ) -> Mapping[int, NDArray[np.float32]]:
        import numpy as np

        unseal = self._db.codec.unseal_vector
        rows = db.execute(f"SELECT v.n, v.vector {_OF_MEMORY}", (memory, model))
        return {n: np.frombuffer(unseal(sealed), "<f4") for n, sealed in rows}

    def _ids(self, db: Connection, statement: str, *arguments: object) -> tuple[str, ...]:
        return tuple(id_ for (id_,) in db.execute(statement, arguments))


_WAITING = (
    "FROM unlinked AS u JOIN memories AS m ON m.n = u.memory WHERE EXISTS (SELECT 1"
    " FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n WHERE c.memory = u.memory"
    " AND v.model = (SELECT n FROM models WHERE name = ?))"
)
_OF_MEMORY = (
    "FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n WHERE c.memory = ?"
    " AND v.model = (SELECT n FROM models WHERE name = ?)"
    f" ORDER BY c.ordinal LIMIT {_MOST_PASSAGES}"
)
_PARTED = (
    "SELECT m.id FROM parted AS p JOIN memories AS m ON m.n = p.b WHERE p.a = ? UNION ALL"
    " SELECT m.id FROM parted AS p JOIN memories AS m ON m.n = p.a WHERE p.b = ?"
)
_CHOSEN_BY = (
    "SELECT m.id FROM edges AS e JOIN memories AS m ON m.n = e.a"
    f" WHERE e.b = ? AND e.made = '{MADE}'"
)
# What a person or a text has linked stays as it is, whichever end was named first.
_LINK = (
    "INSERT INTO edges (a, b, kind, strength, made)"
    f" SELECT x.n, y.n, '{KIND}', ?, '{MADE}' FROM memories AS x, memories AS y"
    " WHERE x.n = ? AND y.id = ? AND x.namespace = y.namespace AND NOT EXISTS"
    " (SELECT 1 FROM edges AS e WHERE e.a = y.n AND e.b = x.n"
    f" AND e.kind = '{KIND}' AND e.made <> '{MADE}') AND NOT EXISTS"
    " (SELECT 1 FROM parted AS p WHERE (p.a = x.n AND p.b = y.n) OR (p.a = y.n AND p.b = x.n))"
    " ON CONFLICT (a, b, kind) DO UPDATE SET strength = excluded.strength"
    f" WHERE edges.made = '{MADE}' AND edges.strength <> excluded.strength"
)
_STRENGTHEN = (
    f"UPDATE edges SET strength = ? WHERE b = ? AND made = '{MADE}'"
    f" AND kind = '{KIND}' AND a = (SELECT n FROM memories WHERE id = ?)"
)

"""Memories and links as servers get copies of them, read from the records as they stand now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.protocols import Edge, Projected
from scrubjay.storage.sql.scope import in_parts

_FIELDS = (
    "n, id, namespace, type, collection, session, owner, agent, domain_label, created_us,"
    " valid_from_us, valid_until_us"
)
_EDGE = (
    "SELECT x.id, y.id, e.kind, e.strength FROM edges AS e"
    " JOIN memories AS x ON x.n = e.a JOIN memories AS y ON y.n = e.b"
)
_PAIRS_AT_ONCE = 200


class SqlProjected:
    """What there is to tell of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def memories(
        self, ids: Sequence[str], *, vectors: bool = False
    ) -> tuple[list[Projected], list[str]]:
        """Return these memories as they are now, and the ids of those that are gone."""
        found: list[Projected] = []
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"SELECT {_FIELDS} FROM memories WHERE id IN ({several})", part
                ).fetchall()
                topics = _topics(db, [row[0] for row in rows])
                theirs = self._vectors(db, [row[0] for row in rows]) if vectors else {}
                for n, id_, namespace, type_, *others in rows:
                    about = (id_, namespace, type_, tuple(topics.get(n, ())), *others)
                    found.append(Projected._make((*about, tuple(theirs.get(n, ())))))
        there = {one.id for one in found}
        return found, [id_ for id_ in dict.fromkeys(ids) if id_ not in there]

    def between(self, pairs: Iterable[tuple[str, str]]) -> list[Edge]:
        """Return the links between each of these pairs, whichever end they begin at."""
        wanted = list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))
        found: list[Edge] = []
        with self._db.read() as db:
            for start in range(0, len(wanted), _PAIRS_AT_ONCE):
                part = wanted[start : start + _PAIRS_AT_ONCE]
                numbers = _numbers(db, [id_ for pair in part for id_ in pair])
                known = [
                    (numbers[a], numbers[b]) for a, b in part if a in numbers and b in numbers
                ]
                if not known:
                    continue
                both = [n for a, b in known for n in (a, b, b, a)]
                rows = db.execute(
                    f"WITH pairs (a, b) AS (VALUES {', '.join(['(?, ?)'] * (len(both) // 2))})"
                    " SELECT x.id, y.id, e.kind, e.strength FROM pairs AS p"
                    " CROSS JOIN edges AS e ON e.a = p.a AND e.b = p.b"
                    " JOIN memories AS x ON x.n = e.a JOIN memories AS y ON y.n = e.b",
                    both,
                )
                found += (Edge(*row) for row in rows)
        return list(dict.fromkeys(found))  # a link of a memory with itself comes twice

    def of(self, ids: Sequence[str]) -> list[Edge]:
        """Return all links of these memories."""
        found: dict[Edge, None] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"{_EDGE} WHERE x.id IN ({several}) UNION {_EDGE} WHERE y.id IN ({several})",
                    (*part, *part),
                )
                found.update((Edge(*row), None) for row in rows)
        return list(found)

    def expected(self, *, vectors: bool = False) -> int:
        """Return how many memories a server should know that was told everything."""
        with_vectors = (
            " WHERE EXISTS (SELECT 1 FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
            " WHERE c.memory = m.n)"
        )
        with self._db.read() as db:
            row = db.execute(
                f"SELECT count(*) FROM memories AS m{with_vectors if vectors else ''}"
            ).fetchone()
        return int(row[0])

    def _vectors(
        self, db: Connection, numbers: Sequence[int]
    ) -> dict[int, list[tuple[str, int, Any]]]:
        import numpy as np

        unseal = self._db.codec.unseal_vector
        found: dict[int, list[tuple[str, int, Any]]] = {}
        for several, part in in_parts(numbers):
            rows = db.execute(
                "SELECT c.memory, m.name, c.ordinal, v.vector FROM chunks AS c"
                " JOIN vectors AS v ON v.chunk = c.n JOIN models AS m ON m.n = v.model"
                f" WHERE c.memory IN ({several}) ORDER BY m.name, c.ordinal",
                part,
            )
            for memory, model, ordinal, stored in rows:
                vector = np.frombuffer(unseal(bytes(stored)), np.float32)
                found.setdefault(memory, []).append((model, ordinal, vector))
        return found


def _topics(db: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for several, part in in_parts(numbers):
        for memory, topic in db.execute(
            f"SELECT memory, topic FROM topics WHERE memory IN ({several}) ORDER BY topic", part
        ):
            found.setdefault(memory, []).append(topic)
    return found


def _numbers(db: Connection, ids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for several, part in in_parts(ids):
        found.update(db.execute(f"SELECT id, n FROM memories WHERE id IN ({several})", part))
    return found

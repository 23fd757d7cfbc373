"""Changes: links that say which memory replaced which, and the queue of their detection.

A link `supersedes` or `updates` leads from the newer memory to the older one. Detection compares
each memory with earlier ones, and makes links `updates` with a strength.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay.storage.sql.graph import DETECTED, UPDATES, is_strength
from scrubjay.storage.sql.scope import SqlTable, in_parts, marks
from scrubjay.times import moment
from scrubjay.types import Scope
from scrubjay.types.changes import Change, Replacement

_REPLACING = "e.kind IN ('supersedes', 'updates')"
_MAX_ROUNDS, _MAX_LINKS = 32, 1000  # of what is followed around the candidates of one search
_FIELDS = (
    "{newer}.id, {older}.id, e.kind, e.strength, e.made, {newer}.created_us, {older}.created_us,"
    " {newer}.valid_from_us"
)
_LINKS = (
    f"SELECT {_FIELDS.format(newer='x', older='m')} FROM memories AS x JOIN edges AS e ON e.a = x.n"
    f" JOIN memories AS m ON m.n = e.b WHERE x.id IN ({{several}}) AND {_REPLACING} AND {{scope}}"
    f" UNION SELECT {_FIELDS.format(newer='m', older='x')} FROM memories AS x"
    " JOIN edges AS e ON e.b = x.n JOIN memories AS m ON m.n = e.a"
    f" WHERE x.id IN ({{several}}) AND {_REPLACING} AND {{scope}} ORDER BY 1, 2, 3"
)
_MADE_US = "coalesce(e.made_us, x.created_us)"
_READY = (
    "FROM uncompared AS u JOIN memories AS m ON m.n = u.memory WHERE EXISTS (SELECT 1"
    " FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n WHERE c.memory = u.memory"
    " AND v.model = (SELECT n FROM models WHERE name = ?))"
    # A new text whose vector is still that of the old one.
    " AND NOT EXISTS (SELECT 1 FROM chunks AS c JOIN wanting AS w ON w.chunk = c.n"
    " WHERE c.memory = u.memory AND w.model = (SELECT n FROM models WHERE name = ?))"
)
# Not where a person has linked the two, or refused it, or where the newer one is not newer.
_DETECT = (
    "INSERT INTO edges (a, b, kind, strength, made, made_us)"
    f" SELECT x.n, y.n, '{UPDATES}', ?, '{DETECTED}', CAST(? AS BIGINT)"
    " FROM memories AS x, memories AS y WHERE x.id = ? AND y.id = ? AND x.n <> y.n"
    " AND x.namespace = y.namespace AND x.created_us >= y.created_us"
    " AND NOT EXISTS (SELECT 1 FROM refused AS r"
    " WHERE (r.a = x.n AND r.b = y.n) OR (r.a = y.n AND r.b = x.n))"
    " AND NOT EXISTS (SELECT 1 FROM edges AS e"
    f" WHERE {_REPLACING} AND e.a = y.n AND e.b = x.n)"
    " AND NOT EXISTS (SELECT 1 FROM edges AS e"
    f" WHERE {_REPLACING} AND e.a = x.n AND e.b = y.n AND e.made <> '{DETECTED}')"
    " ON CONFLICT (a, b, kind) DO UPDATE SET strength = excluded.strength"
)


class UncomparedMemory(NamedTuple):
    """A memory that detection has not compared with earlier ones yet.

    `state` changes with its text and its time: the result for an older state is not stored.
    """

    id: str
    namespace: str
    created_us: int
    state: str


class Compared(NamedTuple):
    """The changes that detection found around a memory: strengths by id.

    `updates` are earlier memories that it updates, `updated_by` later ones that update it.
    """

    of: UncomparedMemory
    updates: Mapping[str, float]
    updated_by: Mapping[str, float] = {}


class SqlChanges(SqlTable):
    """The links of the kinds `supersedes` and `updates`, and the tables `uncompared` and `refused`."""

    def is_empty(self) -> bool:
        # With the condition of the partial index, word for word: it has one entry for each of these.
        return (
            self._row("SELECT 1 FROM edges WHERE kind IN ('supersedes', 'updates') LIMIT 1")
            is None
        )

    def around(self, ids: Sequence[str], scope: Scope, valid_us: int) -> list[Replacement]:
        """Return the links that lead from these memories to newer and older ones, and on from those,
        among the memories that a scope may see. One that is not valid yet replaces nothing."""
        found: dict[tuple[str, str, str], Replacement] = {}
        seen, edge = set(ids), list(ids)
        with self._db.read():
            for _ in range(_MAX_ROUNDS):
                for row in self._links_of(edge, scope):
                    new, old, kind, strength, made, new_us, old_us, from_us = row
                    if not is_strength(strength) or (from_us is not None and from_us > valid_us):
                        continue
                    by_hand = made != DETECTED
                    times = moment(new_us), moment(old_us)
                    found[new, old, kind] = Replacement(
                        new, old, kind, float(strength), by_hand, *times
                    )
                edge = sorted({id_ for new, old, _ in found for id_ in (new, old)} - seen)
                seen.update(edge)
                if not edge or len(found) > _MAX_LINKS:
                    break
        return list(found.values())

    def _links_of(self, ids: Sequence[str], scope: Scope) -> list[Any]:
        rows: list[Any] = []
        for several, part in in_parts(ids):
            statement = _LINKS.replace("{several}", several)
            rows += self._rows(statement, (*part, scope) * 2)
        return rows

    def changes(self, scope: Scope, since_us: int | None = None) -> list[Change]:
        """Return which memory replaces which, among those that a scope may see, the latest first."""
        after, bound = ("", ()) if since_us is None else (f" AND {_MADE_US} >= ?", (since_us,))
        rows = self._rows(
            f"SELECT x.id, m.id, e.kind, e.strength, e.made, {_MADE_US} FROM edges AS e"
            " JOIN memories AS x ON x.n = e.a JOIN memories AS m ON m.n = e.b"
            f" WHERE {_REPLACING} AND {{scope}} AND e.a IN"
            f" (SELECT m.n FROM memories AS m WHERE {{scope}}){after} ORDER BY 6 DESC, 1, 2, 3",
            (scope, scope, *bound),
        )
        return [
            Change(new, old, kind, float(strength), made != DETECTED, moment(made_us))
            for new, old, kind, strength, made, made_us in rows
            if is_strength(strength)
        ]

    # -- detection ----------------------------------------------------------------------------

    def activate(self, wait_s: float | None = None) -> None:
        """Queue every memory from now on, and all that are stored already."""
        if self._row("SELECT 1 FROM meta WHERE key = 'changes'"):
            return
        with self._db.write(wait_s) as db:
            db.execute(
                "INSERT INTO meta (key, value) VALUES ('changes', 1) ON CONFLICT (key) DO NOTHING"
            )
            db.execute(
                "INSERT INTO uncompared (memory) SELECT n FROM memories"
                " WHERE TRUE ON CONFLICT (memory) DO NOTHING"
            )

    def left(self, model: str, scope: Scope | None = None, most: int | None = None) -> int:
        """Return how many memories are not compared yet, of all or of a scope; `most` stops counting.
        A memory without a vector of the model waits for that first, and does not count."""
        limit, after = ("", ()) if most is None else (" LIMIT ?", (most,))
        statement = (
            f"SELECT count(*) FROM (SELECT u.memory {_READY} AND {{scope}}{limit}) AS listed"
        )
        return self._number(statement, (model, model, scope or Scope(), *after))

    def waiting(self, model: str, most: int) -> list[UncomparedMemory]:
        """Return memories that are not compared yet and have a vector of the model, oldest first."""
        rows = self._rows(
            f"SELECT m.id, m.namespace, m.created_us, m.content_hash {_READY}"
            " ORDER BY m.created_us, m.n LIMIT ?",
            (model, model, most),
        )
        return [UncomparedMemory(*row) for row in rows]

    def skip(self, types: Sequence[str]) -> None:
        """Take the memories of some types from the queue."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM uncompared WHERE memory IN"
                f" (SELECT n FROM memories WHERE type IN ({marks(types)}))",
                tuple(types),
            )

    def compared(self, ids: Sequence[str]) -> set[str]:
        """Return those of these memories that were compared since they were last written."""
        rows = self._rows_in(
            "SELECT m.id FROM memories AS m WHERE m.id IN ({values}) AND NOT EXISTS"
            " (SELECT 1 FROM uncompared AS u WHERE u.memory = m.n)",
            ids,
        )
        return {id_ for (id_,) in rows}

    def refused(self, ids: Sequence[str]) -> set[frozenset[str]]:
        """Return the pairs with one of these memories of which a user has removed the link."""
        pairs = (
            "SELECT x.id, y.id FROM memories AS m JOIN refused AS r ON r.{} = m.n"
            " JOIN memories AS x ON x.n = r.a JOIN memories AS y ON y.n = r.b"
            " WHERE m.id IN ({{values}})"
        )
        rows = [*self._rows_in(pairs.format("a"), ids), *self._rows_in(pairs.format("b"), ids)]
        return {frozenset(pair) for pair in rows}

    def put(self, done: Sequence[Compared], made_us: int) -> int:
        """Link memories to those they update, and mark them as compared, in one transaction; return
        how many links there are now. A memory that was written again meanwhile stays in the queue.
        Links by hand and refused pairs stay as they are; a link leads to another memory of the same
        namespace that is not later."""
        made = 0
        with self._db.write() as db:
            for of, updates, updated_by in done:
                row = db.execute(
                    "SELECT n FROM memories WHERE id = ? AND content_hash = ? AND created_us = ?",
                    (of.id, of.state, of.created_us),
                ).fetchone()
                if row is None:
                    continue
                pairs = [(of.id, old, strength) for old, strength in updates.items()]
                pairs += [(new, of.id, strength) for new, strength in updated_by.items()]
                for new, old, strength in pairs:
                    made += db.execute(_DETECT, (float(strength), made_us, new, old)).rowcount
                db.execute("DELETE FROM uncompared WHERE memory = ?", row)
        return made

"""Links in SQL: an adjacency table, walked both ways, level by level."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.graph_walk import ranked, walked
from scrubjay.storage.sql.scope import BY_ID, in_parts, where
from scrubjay.types import Link, Neighbor, Scope

if TYPE_CHECKING:
    from scrubjay.types.map import Edge


class SqlGraph:
    """The links of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def link(self, a: str, b: str, strength: float, kind: str) -> None:
        """Connect two memories, or change the strength of the link of this kind."""
        if kind == _SEEN_FROM_THERE:
            a, b, kind = b, a, _FROM_HERE
        with self._db.write() as db:
            # Stored once, whichever end was named first: links are walked both ways.
            db.execute("DELETE FROM edges WHERE kind = ? AND (a, b) = " + _PAIR, (kind, b, a))
            db.execute(
                "INSERT INTO edges (a, b, kind, strength, made)"
                " SELECT x.n, y.n, ?, ?, 'hand' FROM memories AS x, memories AS y"
                " WHERE x.id = ? AND y.id = ?"
                " ON CONFLICT (a, b, kind) DO UPDATE SET strength = excluded.strength, made = 'hand'",
                (kind, strength, a, b),
            )
            if kind == _AUTOMATIC:
                db.execute(
                    f"DELETE FROM parted WHERE (a, b) = {_PAIR} OR (a, b) = {_PAIR}", (a, b, b, a)
                )

    def link_written(self, a: str, targets: Sequence[str], kind: str) -> None:
        """Replace the links that a document's own text makes; one set by hand is never touched."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM edges WHERE made = 'text' AND kind = ?"
                " AND a = (SELECT n FROM memories WHERE id = ?)",
                (kind, a),
            )
            db.executemany(
                "INSERT OR IGNORE INTO edges (a, b, kind, strength, made)"
                " SELECT x.n, y.n, ?, 1.0, 'text' FROM memories AS x, memories AS y"
                " WHERE x.id = ? AND y.id = ? AND x.n <> y.n AND NOT EXISTS (SELECT 1 FROM edges AS e"
                " WHERE e.a = y.n AND e.b = x.n AND e.kind = ? AND e.made = 'hand')",
                [(kind, a, b, kind) for b in targets],
            )

    def unlink(self, a: str, b: str, kind: str | None) -> int:
        """Remove the links between two memories, of one kind or of all; return how many.

        Where memories are linked by themselves, or will be some day, these two are not.
        """
        kind = _FROM_HERE if kind == _SEEN_FROM_THERE else kind
        of_kind, more = ("", ()) if kind is None else (" AND kind = ?", (kind,))
        with self._db.write() as db:
            gone: set[tuple[str, str]] = set()
            for ends in ((a, b), (b, a)):
                rows = db.execute(
                    f"DELETE FROM edges WHERE (a, b) = {_PAIR}{of_kind} RETURNING kind, made",
                    (*ends, *more),
                ).fetchall()
                # Both may have chosen each other: that is one link.
                gone |= {
                    (one, "" if made == "auto" else f"{made} {ends[0]}") for one, made in rows
                }
            if any(one == _AUTOMATIC for one, _ in gone) or (
                kind in (None, _AUTOMATIC) and db.execute(_WAITS, (a, b)).fetchone()
            ):
                db.execute(_PART, (a, b, a, b))
            return len(gone)

    def links(self, id_: str, scope: Scope) -> list[Link]:
        """Return the links of one memory, whichever end it is, to those that the scope may see.

        What supersedes another is told from what is superseded by it; other kinds have no direction.
        """
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = db.execute(
                "SELECT id, max(strength), kind FROM ("
                "SELECT m.id, e.strength, e.kind FROM memories AS x JOIN edges AS e ON e.a = x.n"
                f" JOIN memories AS m ON m.n = e.b WHERE x.id = ? AND {condition}"
                " UNION ALL"  # two documents may link to each other
                f" SELECT m.id, e.strength, {_KIND_FROM_THERE} FROM memories AS x"
                " JOIN edges AS e ON e.b = x.n"
                f" JOIN memories AS m ON m.n = e.a WHERE x.id = ? AND {condition}"
                ") AS found GROUP BY id, kind ORDER BY 2 DESC, 1, 3",
                (id_, *arguments, id_, *arguments),
            )
            return [Link(*row) for row in rows]

    def kept(self, ids: Sequence[str], scope: Scope) -> Mapping[str, tuple[Link, ...]]:
        """Return the links of several memories, but not those found by likeness: a store finds its own."""
        condition, arguments = where(scope, self._db)
        found: dict[str, list[Link]] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    "SELECT x.id, m.id, e.strength, e.kind FROM memories AS x"
                    " JOIN edges AS e ON e.a = x.n JOIN memories AS m ON m.n = e.b"
                    f" WHERE x.id IN ({several}) AND e.made NOT IN ('near', 'auto') AND {condition} UNION"
                    f" SELECT x.id, m.id, e.strength, {_KIND_FROM_THERE} FROM memories AS x"
                    " JOIN edges AS e ON e.b = x.n JOIN memories AS m ON m.n = e.a"
                    f" WHERE x.id IN ({several}) AND e.made NOT IN ('near', 'auto') AND {condition}"
                    " ORDER BY 1, 3 DESC, 2, 4",
                    (*part, *arguments, *part, *arguments),
                )
                for here, *link in rows:
                    found.setdefault(here, []).append(Link(*link))
        return {here: tuple(theirs) for here, theirs in found.items()}

    def led_to(self, id_: str, kind: str) -> list[str]:
        """Return what a memory is linked to by one kind, as the link was made: from here."""
        return self._ends(id_, kind, "a", "b")

    def led_from(self, id_: str, kind: str) -> list[str]:
        """Return what is linked to a memory by one kind, as the link was made: from there."""
        return self._ends(id_, kind, "b", "a")

    def _ends(self, id_: str, kind: str, here: str, there: str) -> list[str]:
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.id FROM memories AS x JOIN edges AS e ON e.{here} = x.n"
                f" JOIN memories AS m ON m.n = e.{there} WHERE x.id = ? AND e.kind = ? ORDER BY m.n",
                (id_, kind),
            )
            return [one for (one,) in rows]

    def linked(self, ids: Sequence[str], scope: Scope, kind: str) -> Mapping[str, tuple[str, ...]]:
        """Return for each of these memories what it is linked to by one kind, strongest first."""
        condition, arguments = where(scope, self._db)
        found: dict[str, list[str]] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    "SELECT x.id, m.id, e.strength FROM memories AS x"
                    " JOIN edges AS e ON e.a = x.n JOIN memories AS m ON m.n = e.b"
                    f" WHERE x.id IN ({several}) AND e.kind = ? AND {condition} UNION"
                    " SELECT x.id, m.id, e.strength FROM memories AS x"
                    " JOIN edges AS e ON e.b = x.n JOIN memories AS m ON m.n = e.a"
                    f" WHERE x.id IN ({several}) AND e.kind = ? AND {condition}"
                    " ORDER BY 3 DESC, 2",
                    (*part, kind, *arguments, *part, kind, *arguments),
                )
                for here, there, _ in rows:
                    found.setdefault(here, []).append(there)
        return {here: tuple(dict.fromkeys(theirs)) for here, theirs in found.items()}

    def walk(
        self, seeds: Sequence[str], scope: Scope, depth: int, limit: int | None
    ) -> list[Neighbor]:
        """Return what the seeds reach: a path scores the product of its strengths, a node its best path.

        A path leads only over memories that the scope may see, and of each level only over the best. No
        seed reaches itself; one that another seed reaches counts.
        """
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            start = [
                n
                for several, part in in_parts(seeds)
                for (n,) in db.execute(
                    f"SELECT m.n FROM {BY_ID} WHERE m.id IN ({several}) AND {condition}",
                    (*part, *arguments),
                )
            ]

            def links(edge: Collection[int]) -> Iterator[tuple[int, int, float]]:
                for several, part in in_parts(list(edge)):
                    yield from db.execute(
                        _LINKS.format(several=several, condition=condition),
                        (*part, *arguments, *part, *arguments),
                    ).fetchall()

            def names(numbers: Collection[int]) -> dict[int, str]:
                return {n: id_ for n, (id_, _) in _known(db, numbers).items()}

            reached = walked(start, depth, links, names)
            known = _known(db, reached)
        # One may have been forgotten in this very moment.
        return ranked(
            {known[n][0]: found for n, found in reached.items() if n in known},
            dict(known.values()),
            limit,
        )

    def between(self, ids: Sequence[str]) -> list[Edge]:
        """Return every link between two of these memories, the strongest first.

        Two memories that chose each other have one link of a kind; what a person made it goes first.
        """
        from scrubjay.types.map import Edge

        found: dict[tuple[frozenset[str], str], Edge] = {}
        named = set(ids)
        with self._db.read() as db:
            for several, part in in_parts(ids):
                for a, b, kind, strength, made in db.execute(
                    "SELECT x.id, y.id, e.kind, e.strength, e.made FROM memories AS x"
                    " JOIN edges AS e ON e.a = x.n JOIN memories AS y ON y.n = e.b"
                    f" WHERE x.id IN ({several})",
                    part,
                ):
                    if b not in named:
                        continue
                    edge = Edge(a, b, kind, strength, _MADE_BY.get(made, "likeness"))
                    key = (frozenset((a, b)), kind)
                    found[key] = min(found.get(key, edge), edge, key=_by_maker)
        return sorted(found.values(), key=lambda one: (-one.strength, one.a, one.b, one.kind))

    def seen(self, ids: Sequence[str], scope: Scope) -> dict[str, int]:
        """Return those of these memories that a scope may see, with their age in microseconds."""
        condition, arguments = where(scope, self._db)
        found: dict[str, int] = {}
        with self._db.read() as db:
            for several, part in in_parts(ids):
                rows = db.execute(
                    f"SELECT m.id, m.updated_us FROM {BY_ID}"
                    f" WHERE m.id IN ({several}) AND {condition}",
                    (*part, *arguments),
                )
                found.update(rows.fetchall())
        return found


def _by_maker(edge: Edge) -> tuple[int, float, str]:
    return (_MAKERS.index(edge.made), -edge.strength, edge.a)


def _known(db: Connection, numbers: Collection[int]) -> dict[int, tuple[str, int]]:
    """Return id and age of memories by their number."""
    known: dict[int, tuple[str, int]] = {}
    for several, part in in_parts(list(numbers)):
        rows = db.execute(f"SELECT n, id, updated_us FROM memories WHERE n IN ({several})", part)
        known.update((n, (id_, updated_us)) for n, id_, updated_us in rows)
    return known


# Crossed, so that SQLite begins with the links: with a condition on namespaces it would begin with all
# memories of these, and a step took 350 ms.
_LINKS = (
    "SELECT e.a, e.b, e.strength FROM edges AS e CROSS JOIN memories AS m ON m.n = e.b"
    " WHERE e.a IN ({several}) AND {condition} UNION ALL"
    " SELECT e.b, e.a, e.strength FROM edges AS e CROSS JOIN memories AS m ON m.n = e.a"
    " WHERE e.b IN ({several}) AND {condition}"
)
_AUTOMATIC = "related"  # the kind of links that nobody set
_WAITS = (
    "SELECT 1 FROM unlinked AS u JOIN memories AS m ON m.n = u.memory WHERE m.id IN (?, ?) LIMIT 1"
)
_PART = (
    "INSERT INTO parted (a, b) SELECT x.n, y.n FROM memories AS x, memories AS y"
    " WHERE x.id IN (?, ?) AND y.id IN (?, ?) AND x.n < y.n"
    " ON CONFLICT (a, b) DO NOTHING"
)
_MAKERS = ("hand", "text", "likeness")
_MADE_BY = {"hand": "hand", "text": "text"}
# The one kind with a direction, and what it is called from its other end.
_FROM_HERE, _SEEN_FROM_THERE = "supersedes", "superseded by"
_KIND_FROM_THERE = f"CASE e.kind WHEN '{_FROM_HERE}' THEN '{_SEEN_FROM_THERE}' ELSE e.kind END"
_PAIR = "((SELECT n FROM memories WHERE id = ?), (SELECT n FROM memories WHERE id = ?))"

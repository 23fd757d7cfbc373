"""Links in SQL: an adjacency table, walked both ways, level by level."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import BY_ID, EVERYTHING, in_parts, marks, where
from scrubjay.types import Link, Neighbor, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


N = TypeVar("N", int, str)
# A hub may have more links than anybody can read: of each level only the best are kept.
MOST_NODES = 10_000

# From which seeds a node is reached: the product of strengths, and how many links away.
Ways = dict[N, tuple[float, int]]


def walked(
    origin: Collection[N],
    depth: int,
    links: Callable[[Collection[N]], Iterable[tuple[N, N, float]]],
    names: Callable[[Collection[N]], Mapping[N, str]],
) -> dict[N, tuple[float, int]]:
    """Return what is reached from the origin, each with its best product of strengths and its depth.

    `links` gives the links of some nodes: from where, to where, how strong. `names` gives ids, by which
    equal nodes are told apart where there are too many.
    """
    reached: dict[N, Ways[N]] = {}
    edge: dict[N, Ways[N]] = {n: {n: (1.0, 0)} for n in origin}
    for level in range(1, depth + 1):
        if not edge:
            break
        edge = _most(_further(edge, reached, level, links(edge)), names)
    return {n: _best(ways) for n, ways in reached.items()}


def ranked(
    reached: Mapping[str, tuple[float, int]], ages_us: Mapping[str, int], limit: int | None
) -> list[Neighbor]:
    """Return what was reached by id, best path first, then the latest; what has no age is gone."""
    neighbors = [
        Neighbor(id_, score, depth, ages_us[id_])
        for id_, (score, depth) in reached.items()
        if id_ in ages_us
    ]
    neighbors.sort(key=lambda one: (-round(one.score, 6), -one.updated_us, one.id))
    return neighbors[:limit]


def _further(
    edge: Mapping[N, Ways[N]],
    reached: dict[N, Ways[N]],
    level: int,
    links: Iterable[tuple[N, N, float]],
) -> dict[N, Ways[N]]:
    """Note what is reached anew, or better, and return that."""
    further: dict[N, Ways[N]] = {}
    for here, there, strength in links:
        for seed, (score, _) in edge[here].items():
            way = (score * strength, level)
            if seed != there and _is_better(reached.get(there, {}), seed, way[0]):
                reached.setdefault(there, {})[seed] = way
                further.setdefault(there, {})[seed] = way
    return further


def _is_better(known: Ways[N], seed: N, score: float) -> bool:
    """True when a way is worth walking: the best of its seed, and one of the two best of all.

    Two are enough: where the best begins at a seed that is reached itself, the other one counts there.
    """
    if score <= known.get(seed, (0.0, 0))[0]:
        return False
    others = [before for one, (before, _) in known.items() if one != seed]
    return sum(before >= score for before in others) < 2


def _best(ways: Ways[N]) -> tuple[float, int]:
    return max(ways.values(), key=lambda way: (way[0], -way[1]))


def _most(
    further: dict[N, Ways[N]], names: Callable[[Collection[N]], Mapping[N, str]]
) -> dict[N, Ways[N]]:
    """Keep the best nodes of a level; of equal ones the first by id, which is asked for only then."""
    if len(further) <= MOST_NODES:
        return further
    id_ = names(further)
    order = sorted(further, key=lambda n: (-_best(further[n])[0], id_[n]))
    return {n: further[n] for n in order[:MOST_NODES]}


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


class SqlAutoLinks:
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

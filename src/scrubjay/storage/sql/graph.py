"""Links between memories: an adjacency table, walked both ways, level by level; and automatic links.

A link is set by hand, comes from a document's text, or is found by likeness. A path scores the product of
its strengths, a memory its best path. No seed reaches itself; a seed that another seed reaches counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from scrubjay.storage.database import Connection
from scrubjay.storage.sql.readable import vector_or_zeros
from scrubjay.storage.sql.scope import BY_ID, SqlTable, in_parts, marks, where
from scrubjay.types import Link, Neighbor, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.types.map import Edge

N = TypeVar("N", int, str)
MAX_STRENGTH = 1.001  # a cosine may be rounded up
# By seed: the product of strengths, and the number of links, of the best path from it.
Paths = dict[N, tuple[float, int]]
# A hub may have any number of links: of each level only the best nodes are followed.
MAX_NODES = 10_000

AUTO_KIND, AUTO = "related", "auto"  # kind and maker of automatic links
UPDATES, DETECTED = (
    "updates",
    "change",
)  # kind and maker of links between a memory and an earlier one
_MAX_PASSAGES = 8  # a document says at its beginning what it is about
_MAKERS = ("hand", "text", "likeness")
# The only kinds with a direction, and their names from the other end.
_FROM_THE_OTHER_END = {"supersedes": "superseded by", UPDATES: "updated by"}
_TURNED = {there: here for here, there in _FROM_THE_OTHER_END.items()}
_NAMES = " ".join(f"WHEN '{here}' THEN '{there}'" for here, there in _FROM_THE_OTHER_END.items())
_KIND_FROM_THERE = f"CASE e.kind {_NAMES} ELSE e.kind END"
_FROM_HERE = "JOIN edges AS e ON e.a = x.n JOIN memories AS m ON m.n = e.b"
_FROM_THERE = "JOIN edges AS e ON e.b = x.n JOIN memories AS m ON m.n = e.a"
_KEEP_APART = (
    "INSERT INTO {} (a, b) SELECT x.n, y.n FROM memories AS x, memories AS y"
    " WHERE x.id IN (?, ?) AND y.id IN (?, ?) AND x.n < y.n ON CONFLICT (a, b) DO NOTHING"
)
_PAIR = "((SELECT n FROM memories WHERE id = ?), (SELECT n FROM memories WHERE id = ?))"
# CROSS JOIN makes SQLite begin with the links: with a condition on namespaces it would begin with all
# memories of these, and a step took 350 ms.
_STEP = (
    "SELECT e.a, e.b, e.strength FROM edges AS e CROSS JOIN memories AS m ON m.n = e.b"
    " WHERE e.a IN ({several}) AND {condition} UNION ALL"
    " SELECT e.b, e.a, e.strength FROM edges AS e CROSS JOIN memories AS m ON m.n = e.a"
    " WHERE e.b IN ({several}) AND {condition}"
)


class SqlGraph(SqlTable):
    """The table `edges`."""

    table = "edges"

    def link(self, a: str, b: str, strength: float, kind: str, made_us: int | None = None) -> None:
        """Link two memories, or change the strength of their link of this kind."""
        if kind in _TURNED:
            a, b, kind = b, a, _TURNED[kind]
        column, value = (", made_us", ", ?") if made_us is not None else ("", "")
        bound = () if made_us is None else (made_us,)
        with self._db.write() as db:
            # Stored once, whichever end was named first: links are walked both ways.
            db.execute(f"DELETE FROM edges WHERE kind = ? AND (a, b) = {_PAIR}", (kind, b, a))
            db.execute(
                f"INSERT INTO edges (a, b, kind, strength, made{column})"
                f" SELECT x.n, y.n, ?, ?, 'hand'{value} FROM memories AS x, memories AS y"
                " WHERE x.id = ? AND y.id = ?"
                " ON CONFLICT (a, b, kind) DO UPDATE SET strength = excluded.strength, made = 'hand'"
                f"{column and ', made_us = excluded.made_us'}",
                (kind, strength, *bound, a, b),
            )
            if kind == UPDATES:
                db.execute(
                    f"DELETE FROM refused WHERE (a, b) = {_PAIR} OR (a, b) = {_PAIR}", (a, b, b, a)
                )
            if kind == AUTO_KIND:
                db.execute(
                    f"DELETE FROM parted WHERE (a, b) = {_PAIR} OR (a, b) = {_PAIR}", (a, b, b, a)
                )

    def set_text_links(self, a: str, targets: Sequence[str], kind: str) -> None:
        """Replace the links that come from a document's text; those set by hand stay."""
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
        """Delete the links between two memories, of one kind or of all; return how many. Two
        memories that were linked automatically, or would be later, are not linked so again."""
        kind = _TURNED.get(kind, kind) if kind is not None else None
        of_kind, more = ("", ()) if kind is None else (" AND kind = ?", (kind,))
        with self._db.write() as db:
            deleted: set[tuple[str, str]] = set()
            for ends in ((a, b), (b, a)):
                rows = db.execute(
                    f"DELETE FROM edges WHERE (a, b) = {_PAIR}{of_kind} RETURNING kind, made",
                    (*ends, *more),
                ).fetchall()
                # Automatic links may exist in both directions: they count as one.
                deleted |= {(k, "" if made == AUTO else f"{made} {ends[0]}") for k, made in rows}
            if kind == UPDATES or any(maker.startswith(DETECTED) for _, maker in deleted):
                db.execute(_KEEP_APART.format("refused"), (a, b, a, b))
            if any(of == AUTO_KIND for of, _ in deleted) or (
                kind in (None, AUTO_KIND)
                and db.execute(
                    "SELECT 1 FROM unlinked AS u JOIN memories AS m ON m.n = u.memory"
                    " WHERE m.id IN (?, ?) LIMIT 1",
                    (a, b),
                ).fetchone()
            ):
                db.execute(_KEEP_APART.format("parted"), (a, b, a, b))
            return len(deleted)

    def links(self, id_: str, scope: Scope) -> list[Link]:
        """Return the links of one memory, whichever end it is, to those that the scope may see.
        "supersedes" is "superseded by" from the other end, "updates" is "updated by"; other kinds
        have no direction."""
        strongest: dict[tuple[str, str], Link] = {}  # two documents may link to each other
        for link in self._links([id_], scope).get(id_, ()):
            strongest.setdefault((link.to, link.kind), link)
        return list(strongest.values())

    def explicit_links(self, ids: Sequence[str], scope: Scope) -> Mapping[str, tuple[Link, ...]]:
        """Return the links of several memories, without those found by likeness."""
        found = self._links(ids, scope, f"e.made NOT IN ('near', '{AUTO}', '{DETECTED}')")
        return {here: tuple(links) for here, links in found.items()}

    def linked(self, ids: Sequence[str], scope: Scope, kind: str) -> Mapping[str, tuple[str, ...]]:
        """Return the memories that each of these is linked to by one kind, strongest first."""
        found = self._links(ids, scope, "e.kind = ?", kind)
        return {
            here: tuple(dict.fromkeys(link.to for link in links)) for here, links in found.items()
        }

    def _links(
        self, ids: Sequence[str], scope: Scope, chosen: str = "TRUE", *arguments: str
    ) -> dict[str, list[Link]]:
        """Return the chosen links of memories to those that the scope may see, the strongest first."""
        found: dict[str, list[Link]] = {}
        with self._db.read():
            for several, part in in_parts(ids):
                condition = f"WHERE x.id IN ({several}) AND {chosen} AND {{scope}}"
                for here, *link in self._rows(
                    f"SELECT x.id, m.id, e.strength, e.kind FROM memories AS x {_FROM_HERE} {condition}"
                    f" UNION SELECT x.id, m.id, e.strength, {_KIND_FROM_THERE}"
                    f" FROM memories AS x {_FROM_THERE} {condition} ORDER BY 1, 3 DESC, 2, 4",
                    (*part, *arguments, scope) * 2,
                ):
                    if _is_sound(*link):
                        found.setdefault(here, []).append(Link(*link))
        return found

    def linked_from(self, id_: str, kind: str) -> list[str]:
        """Return the memories that a memory links to by one kind, in the direction of the link."""
        return self._ends(id_, kind, _FROM_HERE)

    def linking_to(self, id_: str, kind: str) -> list[str]:
        """Return the memories that link to a memory by one kind, in the direction of the link."""
        return self._ends(id_, kind, _FROM_THERE)

    def _ends(self, id_: str, kind: str, joined: str) -> list[str]:
        return self._column(
            f"SELECT m.id FROM memories AS x {joined} WHERE x.id = ? AND e.kind = ? ORDER BY m.n",
            (id_, kind),
        )

    def walk(
        self, seeds: Sequence[str], scope: Scope, depth: int, limit: int | None
    ) -> list[Neighbor]:
        """Return what the seeds reach, best first. A path leads only over memories that the scope
        may see, and of each level only over the best."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            rows = self._rows_in(
                f"SELECT m.n FROM {BY_ID} WHERE m.id IN ({{values}}) AND {{scope}}",
                seeds,
                (scope,),
            )

            def links(nodes: Collection[int]) -> Iterator[tuple[int, int, float]]:
                for several, part in in_parts(list(nodes)):
                    yield from db.execute(
                        _STEP.format(several=several, condition=condition),
                        (*part, *arguments, *part, *arguments),
                    ).fetchall()

            def names(numbers: Collection[int]) -> dict[int, str]:
                return {n: id_ for n, id_, _ in self._ids_and_times(numbers, Scope())}

            reached = walk_links([n for (n,) in rows], depth, links, names)
            # A memory may have been deleted a moment ago.
            known = self._ids_and_times(reached, Scope())
        paths = {id_: reached[n] for n, id_, _ in known}
        return rank_neighbors(paths, {id_: updated_us for _, id_, updated_us in known}, limit)

    def between(self, ids: Sequence[str]) -> list[Edge]:
        """Return every link between two of these memories, the strongest first. Two automatic
        links of a pair count as one; a link set by hand takes precedence."""
        from scrubjay.types.map import Edge

        def precedence(edge: Edge) -> tuple[int, float, str]:
            return (_MAKERS.index(edge.made), -edge.strength, edge.a)

        found: dict[tuple[frozenset[str], str], Edge] = {}
        wanted = set(ids)
        for a, b, kind, strength, made in self._rows_in(
            "SELECT x.id, y.id, e.kind, e.strength, e.made FROM memories AS x"
            " JOIN edges AS e ON e.a = x.n JOIN memories AS y ON y.n = e.b"
            " WHERE x.id IN ({values})",
            ids,
        ):
            if b in wanted:
                if not _is_sound(b, strength, kind):
                    continue
                edge = Edge(a, b, kind, strength, made if made in _MAKERS else "likeness")
                key = (frozenset((a, b)), kind)
                found[key] = min(found.get(key, edge), edge, key=precedence)
        return sorted(found.values(), key=lambda edge: (-edge.strength, edge.a, edge.b, edge.kind))

    def visible(self, ids: Sequence[str], scope: Scope) -> dict[str, int]:
        """Return those of these memories that a scope may see, with the time of their update."""
        chosen = f"{BY_ID} WHERE m.id IN ({{values}}) AND {{scope}}"
        return dict(self._rows_in(f"SELECT m.id, m.updated_us FROM {chosen}", ids, (scope,)))


def walk_links(
    seeds: Collection[N],
    depth: int,
    links: Callable[[Collection[N]], Iterable[tuple[N, N, float]]],
    names: Callable[[Collection[N]], Mapping[N, str]],
) -> dict[N, tuple[float, int]]:
    """Return what is reached from the seeds, each with its best product of strengths and its depth.

    `links` returns the links of some nodes: from, to, strength. `names` returns ids, which decide between
    equal nodes where there are too many.
    """
    reached: dict[N, Paths[N]] = {}
    level: dict[N, Paths[N]] = {n: {n: (1.0, 0)} for n in seeds}
    for number in range(1, depth + 1):
        if not level:
            break
        level = _best_nodes(_next_level(level, reached, number, links(level)), names)
    return {n: _best_path(paths) for n, paths in reached.items()}


def is_strength(value: object) -> bool:
    """True for what the strength of a link can be; NaN and infinity are none."""
    return isinstance(value, float | int) and abs(value) <= MAX_STRENGTH


def _is_sound(to: object, strength: object, kind: object) -> bool:
    """False for a link that is damaged."""
    return type(to) is str and is_strength(strength) and type(kind) is str


def rank_neighbors(
    reached: Mapping[str, tuple[float, int]], updated_us: Mapping[str, int], limit: int | None
) -> list[Neighbor]:
    """Return neighbors by id, best path first, then the latest; those without a time are left out."""
    neighbors = [
        Neighbor(id_, score, depth, updated_us[id_])
        for id_, (score, depth) in reached.items()
        if id_ in updated_us
    ]
    neighbors.sort(key=lambda node: (-round(node.score, 6), -node.updated_us, node.id))
    return neighbors[:limit]


def _next_level(
    level: Mapping[N, Paths[N]],
    reached: dict[N, Paths[N]],
    number: int,
    links: Iterable[tuple[N, N, float]],
) -> dict[N, Paths[N]]:
    """Add new and better paths to `reached`, and return them."""
    following: dict[N, Paths[N]] = {}
    for here, there, strength in links:
        if not is_strength(strength):  # a damaged link
            continue
        for seed, (score, _) in level[here].items():
            path = (score * strength, number)
            if seed != there and _is_better(reached.get(there, {}), seed, path[0]):
                reached.setdefault(there, {})[seed] = path
                following.setdefault(there, {})[seed] = path
    return following


def _is_better(known: Paths[N], seed: N, score: float) -> bool:
    """True for the best path of its seed that is one of the two best of all. Two are enough: where
    the best begins at a seed that is reached itself, the other one counts there."""
    if score <= known.get(seed, (0.0, 0))[0]:
        return False
    others = [before for other, (before, _) in known.items() if other != seed]
    return sum(before >= score for before in others) < 2


def _best_path(paths: Paths[N]) -> tuple[float, int]:
    return max(paths.values(), key=lambda path: (path[0], -path[1]))


def _best_nodes(
    level: dict[N, Paths[N]], names: Callable[[Collection[N]], Mapping[N, str]]
) -> dict[N, Paths[N]]:
    if len(level) <= MAX_NODES:
        return level
    id_ = names(level)
    order = sorted(level, key=lambda n: (-_best_path(level[n])[0], id_[n]))
    return {n: level[n] for n in order[:MAX_NODES]}


class UnlinkedMemory(NamedTuple):
    """A memory without automatic links, with the vectors of its first passages by number.

    `separated` are the memories that a user has unlinked from it, `linked_by` those that link to it.
    """

    memory: int
    id: str
    namespace: str
    vectors: Mapping[int, NDArray[np.float32]]
    separated: tuple[str, ...]
    linked_by: tuple[str, ...]


class NewLinks(NamedTuple):
    """The new links of a memory, and the new strengths of links to it, by id."""

    of: UnlinkedMemory
    to: Mapping[str, float]
    linked_by: Mapping[str, float]


class SqlAutoLinks(SqlTable):
    """The table `unlinked`: memories with a new vector that wait for automatic links. Triggers
    fill it once links are searched (`activate`)."""

    def activate(self, wait_s: float | None = None) -> None:
        """Link every memory from now on, and queue those that have a vector already."""
        if self._row("SELECT 1 FROM meta WHERE key = 'links'"):
            return
        with self._db.write(wait_s) as db:
            db.execute(
                "INSERT INTO meta (key, value) VALUES ('links', 1) ON CONFLICT (key) DO NOTHING"
            )
            db.execute(
                "INSERT INTO unlinked (memory) SELECT DISTINCT m.n FROM vectors AS v"
                " JOIN chunks AS c ON c.n = v.chunk JOIN memories AS m ON m.n = c.memory"
                " WHERE TRUE ON CONFLICT (memory) DO NOTHING"
            )

    def left(self, model: str, scope: Scope | None = None, most: int | None = None) -> int:
        """Return how many memories wait for links, of all or of a scope; `most` stops counting. A
        memory without a vector of the model waits for that first, and does not count."""
        limit, after = ("", ()) if most is None else (" LIMIT ?", (most,))
        statement = (
            f"SELECT count(*) FROM (SELECT u.memory {_WAITING} AND {{scope}}{limit}) AS listed"
        )
        return self._number(statement, (model, scope or Scope(), *after))

    def waiting(self, model: str, most: int) -> list[UnlinkedMemory]:
        """Return memories that wait for links, the newest first."""
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT m.n, m.id, m.namespace {_WAITING} ORDER BY u.memory DESC LIMIT ?",
                (model, most),
            ).fetchall()
            return [
                UnlinkedMemory(
                    n,
                    id_,
                    namespace,
                    self._vectors(db, n, model),
                    tuple(other for (other,) in db.execute(_SEPARATED, (n, n))),
                    tuple(other for (other,) in db.execute(_LINKED_BY, (n,))),
                )
                for n, id_, namespace in rows
            ]

    def put(self, done: Sequence[NewLinks], model: str) -> None:
        """Write the links of memories whose vectors are still the same. Memories that were written
        again meanwhile go on waiting; deleted ones are not linked."""
        with self._db.write() as db:
            for links in done:
                n = links.of.memory
                rows = db.execute(f"SELECT v.n {_VECTORS_OF_MEMORY}", (n, model)).fetchall()
                if [vector for (vector,) in rows] == list(links.of.vectors):
                    self._put(db, n, links)
                    db.execute("DELETE FROM unlinked WHERE memory = ?", (n,))

    def _put(self, db: Connection, n: int, links: NewLinks) -> None:
        to = list(links.to)
        others = f" AND b NOT IN (SELECT n FROM memories WHERE id IN ({marks(to)}))" if to else ""
        db.execute(f"DELETE FROM edges WHERE a = ? AND made = '{AUTO}'{others}", (n, *to))
        db.executemany(_LINK, [(strength, n, id_) for id_, strength in links.to.items()])
        db.executemany(
            f"UPDATE edges SET strength = ? WHERE b = ? AND made = '{AUTO}'"
            f" AND kind = '{AUTO_KIND}' AND a = (SELECT n FROM memories WHERE id = ?)",
            [(strength, n, id_) for id_, strength in links.linked_by.items()],
        )

    def _vectors(
        self, db: Connection, memory: int, model: str
    ) -> Mapping[int, NDArray[np.float32]]:
        dims = "(SELECT dims FROM models WHERE n = v.model)"
        rows = db.execute(f"SELECT v.n, v.vector, {dims} {_VECTORS_OF_MEMORY}", (memory, model))
        codec = self._db.codec
        # With a damaged vector as well: `put` compares the numbers of all.
        return {n: vector_or_zeros(codec, sealed, dims) for n, sealed, dims in rows}


_WAITING = (
    "FROM unlinked AS u JOIN memories AS m ON m.n = u.memory WHERE EXISTS (SELECT 1"
    " FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n WHERE c.memory = u.memory"
    " AND v.model = (SELECT n FROM models WHERE name = ?))"
)
_VECTORS_OF_MEMORY = (
    "FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n WHERE c.memory = ?"
    " AND v.model = (SELECT n FROM models WHERE name = ?)"
    f" ORDER BY c.ordinal LIMIT {_MAX_PASSAGES}"
)
_SEPARATED = (
    "SELECT m.id FROM parted AS p JOIN memories AS m ON m.n = p.b WHERE p.a = ? UNION ALL"
    " SELECT m.id FROM parted AS p JOIN memories AS m ON m.n = p.a WHERE p.b = ?"
)
_LINKED_BY = (
    "SELECT m.id FROM edges AS e JOIN memories AS m ON m.n = e.a"
    f" WHERE e.b = ? AND e.made = '{AUTO}'"
)
# Links by hand or from a text stay as they are, whichever end was named first.
_LINK = (
    "INSERT INTO edges (a, b, kind, strength, made)"
    f" SELECT x.n, y.n, '{AUTO_KIND}', ?, '{AUTO}' FROM memories AS x, memories AS y"
    " WHERE x.n = ? AND y.id = ? AND x.namespace = y.namespace AND NOT EXISTS"
    " (SELECT 1 FROM edges AS e WHERE e.a = y.n AND e.b = x.n"
    f" AND e.kind = '{AUTO_KIND}' AND e.made <> '{AUTO}') AND NOT EXISTS"
    " (SELECT 1 FROM parted AS p WHERE (p.a = x.n AND p.b = y.n) OR (p.a = y.n AND p.b = x.n))"
    " ON CONFLICT (a, b, kind) DO UPDATE SET strength = excluded.strength"
    f" WHERE edges.made = '{AUTO}' AND edges.strength <> excluded.strength"
)

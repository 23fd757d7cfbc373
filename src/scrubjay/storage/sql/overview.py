"""What status, metrics and the map read: counts of rows, hits by the hour, and vectors with titles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.storage.codec import DamagedValue, readable
from scrubjay.storage.sql.readable import vector_of
from scrubjay.storage.sql.records import TEXT, TITLE, TOPICS
from scrubjay.storage.sql.scope import EVERYTHING, SqlTable
from scrubjay.storage.sql.vectors import is_width
from scrubjay.times import moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.database import Database
    from scrubjay.types import Scope

HOUR_US = 3_600_000_000
SEARCHES = ""  # the source under which searches are counted
HitCounts = Mapping[tuple[int, str], int]  # by the beginning of an hour and the source
_MAX_PASSAGES = 8  # a document says at its beginning what it is about
_MAX_TEXT_CHARS = 400  # read of a text without a title
_VISIBLE = "SELECT m.n FROM memories AS m WHERE {scope}"
_ENDS = {"chunks": ("memory",), "edges": ("a", "b")}
# Automatic links may exist in both directions: they count as one.
_ONCE = {
    "edges": "NOT (t.made = 'auto' AND t.a > t.b AND EXISTS (SELECT 1 FROM edges AS o"
    " WHERE o.a = t.b AND o.b = t.a AND o.kind = t.kind AND o.made = 'auto'))"
}


class SqlCounts(SqlTable):
    """Counts of what a scope may see."""

    def rows(self, table: str, scope: Scope) -> int:
        """Return how many rows of a table belong to memories of the scope, by both ends if it has two."""
        ends = () if scope.everything else _ENDS[table]
        conditions = [*(f"t.{end} IN ({_VISIBLE})" for end in ends), _ONCE.get(table, EVERYTHING)]
        statement = f"SELECT count(*) FROM {table} AS t WHERE {' AND '.join(conditions)}"
        return self._number(statement, [scope] * len(ends))

    def vectors(self, scope: Scope) -> dict[str, int]:
        """Return the number of vectors of the scope by each known model."""
        rows = self._rows(
            "SELECT models.name, count(c.n) FROM models LEFT JOIN vectors AS v ON v.model = models.n"
            f" LEFT JOIN chunks AS c ON c.n = v.chunk AND c.memory IN ({_VISIBLE}) GROUP BY models.n",
            (scope,),
        )
        return {name: count for name, count in rows if type(name) is str}

    def queued_memories(self, model: str) -> int:
        """Return how many memories of the database have a chunk that is queued."""
        return self._number(
            "SELECT count(DISTINCT c.memory) FROM wanting AS w JOIN chunks AS c ON c.n = w.chunk"
            " WHERE w.model = (SELECT n FROM models WHERE name = ?)",
            (model,),
        )

    def queued(self, model: str, max_tries: int, scope: Scope) -> tuple[int, int]:
        """Return how many chunks of the scope are queued, and how many of them have failed for good."""
        queued, failed = self._row(
            "SELECT count(*), count(*) FILTER (WHERE w.tries >= ?) FROM wanting AS w"
            " JOIN chunks AS c ON c.n = w.chunk WHERE w.model ="
            f" (SELECT n FROM models WHERE name = ?) AND c.memory IN ({_VISIBLE})",
            (max_tries, model, scope),
        )
        return int(queued), int(failed)


class Gauges(NamedTuple):
    """Counts of a whole database; `behind` is the number of changes that each replica still lacks."""

    memories: int
    pending: int
    behind: Mapping[str, int]


def gauges(db: Database) -> Gauges:
    """Count what metrics report every few seconds, without any model or server."""
    with db.read() as connection:
        memories, pending = connection.execute(
            "SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM wanting"
            " WHERE model NOT IN (SELECT n FROM models WHERE role = 'kept'))"
        ).fetchone()
        behind = connection.execute(
            "SELECT p.tier, count(o.n) FROM projections AS p LEFT JOIN outbox AS o ON o.tier = p.tier"
            " GROUP BY p.tier ORDER BY p.tier"
        ).fetchall()
    return Gauges(int(memories), int(pending), {tier: int(count) for tier, count in behind})


class SqlHitCounts(SqlTable):
    """The table `hits`: results of each source by the hour."""

    def add(self, counts: HitCounts, wait_s: float) -> None:
        """Add counts; StoreError when the database is locked for longer than `wait_s`."""
        with self._db.write(wait_s) as db:
            db.executemany(
                "INSERT INTO hits (hour_us, tier, count) VALUES (?, ?, ?)"
                " ON CONFLICT (hour_us, tier) DO UPDATE SET count = hits.count + excluded.count",
                [(hour, source, count) for (hour, source), count in sorted(counts.items())],
            )

    def since(self, hour_us: int) -> dict[tuple[int, str], int]:
        """Return the counts of the hours that begin at this time or later."""
        rows = self._rows("SELECT hour_us, tier, count FROM hits WHERE hour_us >= ?", (hour_us,))
        return dict(readable(_count_of_hour, rows))


def _count_of_hour(row: tuple[Any, Any, Any]) -> tuple[tuple[int, str], int]:
    hour, source, count = row
    if moment(hour) is None or (type(source), type(count)) != (str, int):
        raise DamagedValue("a count of hits has a value of the wrong kind")
    return (hour, source), count


class EmbeddedMemory(NamedTuple):
    """A memory with a vector, by number; `newest` is the number of its latest vector."""

    memory: int
    id: str
    newest: int


class MapLabel(NamedTuple):
    """What the map shows of a memory."""

    id: str
    type: str
    words: str  # its title, or the beginning of its text
    topic: str | None
    created_us: int
    updated_us: int


class SqlMap(SqlTable):
    """Vectors and labels of memories, for the map."""

    def embedded(self, model: str, scope: Scope) -> tuple[list[EmbeddedMemory], int]:
        """Return the memories of a scope with a vector, in order of storing, and how many have none."""
        rows = self._rows(
            "SELECT m.n, m.id, max(v.n) FROM memories AS m JOIN chunks AS c ON c.memory = m.n"
            " JOIN vectors AS v ON v.chunk = c.n"
            " WHERE v.model = (SELECT n FROM models WHERE name = ?)"
            " AND {scope} GROUP BY m.n, m.id ORDER BY m.n",
            (model, scope),
        )
        every = self._number("SELECT count(*) FROM memories AS m WHERE {scope}", (scope,))
        return [EmbeddedMemory(*row) for row in rows], max(every - len(rows), 0)

    def vectors(
        self, model: str, memories: Sequence[int]
    ) -> tuple[list[int], NDArray[np.float32]]:
        """Return those of these memories that still have a vector, and the vectors, of length 1.
        The vector of a memory is the mean of its first passages."""
        import numpy as np

        row = self._row("SELECT dims FROM models WHERE name = ?", (model,))
        dims = row[0] if row is not None and is_width(row[0]) else 0
        passages: dict[int, list[NDArray[np.float32]]] = {}
        for memory, stored in self._rows_in(
            "SELECT c.memory, v.vector FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
            " WHERE v.model = (SELECT n FROM models WHERE name = ?)"
            " AND c.memory IN ({values}) AND c.ordinal < ? ORDER BY c.memory, c.ordinal",
            memories,
            (_MAX_PASSAGES,),
            before=(model,),
        ):
            if (vector := vector_of(self._db.codec, stored, dims)) is not None:
                passages.setdefault(memory, []).append(vector)
        means: list[NDArray[np.float32]] = []
        for vectors in passages.values():
            mean = vectors[0] if len(vectors) == 1 else np.mean(vectors, axis=0)
            length = float(np.linalg.norm(mean))
            means.append(mean / length if length > 0 else mean)
        matrix = np.array(means, np.float32) if means else np.zeros((0, 0), np.float32)
        return list(passages), matrix

    def labels(self, memories: Sequence[int]) -> dict[int, MapLabel]:
        # The text of a memory with a title is not read: it may be a book.
        rows = self._rows_in(
            "SELECT n, id, type, title, CASE WHEN title = '' OR ? THEN text END, topics,"
            " created_us, updated_us FROM memories WHERE n IN ({values})",
            memories,
            before=(self._db.codec.is_sealed,),
        )

        def label(row: Sequence[Any]) -> tuple[int, MapLabel]:
            n, id_, type_, title, text, topics, *times = row
            words = self._unseal(title, TITLE, id_)
            if not words and text is not None:
                words = self._unseal(text, TEXT, id_)[:_MAX_TEXT_CHARS]
            first = next(iter(json.loads(self._unseal(topics, TOPICS, id_))), None)
            for moment_us in times:
                moment(moment_us)  # raises for a damaged one
            return n, MapLabel(id_, type_, words, first, *times)

        return dict(readable(label, rows))

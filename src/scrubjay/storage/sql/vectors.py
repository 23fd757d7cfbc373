"""Vectors as the truth has them: float32 values in a table, written, counted, and scored exactly.

Whatever finds vectors quickly builds on this: a copy in memory, a server, an index of the database.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import Unchanged, in_parts, marks, where
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.text.token_vectors import TokenCodes

# By a memory's number: its best cosine, and the ordinal of the chunk that has it.
Best = dict[int, tuple[float, int]]

_AT_ONCE = 4096
_FEW = 2_000  # memories are sooner scored than an index or a server asked


class SqlVectors(ABC):
    """The table of vectors, for any number of models."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.unchanged = Unchanged(db)

    @abstractmethod
    def search(
        self,
        vector: NDArray[np.float32],
        model: str,
        scope: Scope,
        limit: int,
        *,
        shortlist: int | None = None,
        short_dims: int | None = None,
    ) -> RankedList:
        """Return the memories with the nearest chunk, by cosine; one row a memory, its best chunk."""

    def add(
        self,
        model: str,
        vectors: Sequence[tuple[int, NDArray[np.float32]]],
        asked: Mapping[int, int] | None = None,
    ) -> None:
        """Store the vectors of chunks that still exist and still want one; the first one stays.

        `asked` has, by chunk, the number of a wish for another one, which then takes its place. What
        was asked for again meanwhile is not stored: the model has read what no longer stands there.
        """
        seal = self._db.codec.seal_vector
        with self._db.write() as db:
            row = db.execute("SELECT n FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return
            model_n, wishes = row[0], dict[int, int]()
            for several, part in in_parts([chunk for chunk, _ in vectors]):
                wishes |= db.execute(
                    f"SELECT chunk, asked FROM wanting WHERE model = ? AND chunk IN ({several})",
                    (model_n, *part),
                ).fetchall()
            numbers = asked or {}
            told = [
                (chunk, one)
                for chunk, one in vectors
                if wishes.get(chunk, numbers.get(chunk, 0)) == numbers.get(chunk, 0)
            ]
            db.executemany(
                "DELETE FROM vectors WHERE model = ? AND chunk = ?",
                [
                    (model_n, chunk)
                    for chunk, of in wishes.items()
                    if of and of == numbers.get(chunk)
                ],
            )
            db.executemany(
                "INSERT OR IGNORE INTO vectors (model, chunk, vector)"
                " SELECT ?, n, ? FROM chunks WHERE n = ?",
                [(model_n, seal(one.astype("<f4").tobytes()), chunk) for chunk, one in told],
            )
            db.executemany(
                "DELETE FROM wanting WHERE model = ? AND chunk = ?",
                [(model_n, chunk) for chunk, _ in told],
            )

    def missing(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of this model yet."""
        condition, arguments = where(scope, self._db)
        with self._db.read() as db:
            if not db.execute("SELECT 1 FROM wanting LIMIT 1").fetchone():
                return 0
            row = db.execute(
                "SELECT count(*) FROM wanting AS w JOIN chunks AS c ON c.n = w.chunk"
                " JOIN memories AS m ON m.n = c.memory"
                " LEFT JOIN vectors AS v ON v.chunk = w.chunk AND v.model = w.model"
                " WHERE w.model = (SELECT n FROM models WHERE name = ?) AND v.n IS NULL"
                f" AND {condition}",
                (model, *arguments),
            ).fetchone()
        return int(row[0])

    def without(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of a model, also of one that the store does not know."""
        with self._db.read() as db:
            if db.execute("SELECT 1 FROM models WHERE name = ?", (model,)).fetchone():
                return self.missing(model, scope)
            condition, arguments = where(scope, self._db)
            row = db.execute(
                "SELECT count(*) FROM chunks AS c JOIN memories AS m ON m.n = c.memory"
                f" WHERE {condition}",
                arguments,
            ).fetchone()
        return int(row[0])

    def is_current(self) -> bool:
        """True when a search goes by every vector that is stored: always, but for a copy elsewhere."""
        return True

    def fit_is_due(self, model: str, prefixes: Sequence[int]) -> bool:
        """True when something should be fitted on a model's vectors; a table needs nothing."""
        return False

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Fit what is due; False when nothing was fitted.

        `prefixes` are the lengths at which the model's vectors can be cut as they are.
        """
        return False

    def reindex(self) -> None:
        """Make what finds vectors anew; a copy in memory is made at every start."""
        return

    def nearest_of(
        self,
        memories: Sequence[int] | NDArray[np.int64],
        vector: NDArray[np.float32],
        model: str,
        limit: int,
    ) -> Best:
        """Return the nearest of these memories, by number, each with its cosine and its best chunk.

        Those that tie with the last come along; one that has no vector does not.
        """
        best: Best = {}
        with self._db.read() as db:
            for several, part in in_parts([int(n) for n in memories]):
                found = db.execute(
                    "SELECT c.memory, c.ordinal, v.vector FROM chunks AS c"
                    " JOIN vectors AS v ON v.chunk = c.n"
                    f" WHERE v.model = (SELECT n FROM models WHERE name = ?)"
                    f" AND c.memory IN ({several})",
                    (model, *part),
                ).fetchall()
                self._keep_best(best, vector, found)
        return with_ties(best, limit)

    def _of_scope(self, vector: NDArray[np.float32], model: str, scope: Scope) -> list[Row]:
        """Score every memory of a scope, as when it names its ids: no index is needed for those."""
        condition, arguments = where(scope, self._db)
        best: Best = {}
        named: dict[int, tuple[str, int]] = {}
        with self._db.read() as db:
            cursor = db.execute(
                "SELECT m.n, c.ordinal, v.vector, m.id, m.updated_us FROM memories AS m"
                " JOIN chunks AS c ON c.memory = m.n JOIN vectors AS v ON v.chunk = c.n"
                f" WHERE v.model = (SELECT n FROM models WHERE name = ?) AND {condition}",
                (model, *arguments),
            )
            while found := cursor.fetchmany(_AT_ONCE):
                self._keep_best(best, vector, [row[:3] for row in found])
                named.update((row[0], (row[3], row[4])) for row in found)
        rows = [Row(named[n][0], *best[n], named[n][1]) for n in best]
        return sorted(rows, key=in_order)

    def _are_few(self, scope: Scope) -> bool:
        """True when a scope has so few memories that all are sooner scored than an index asked."""
        return self._counted("memories AS m", *where(scope, self._db), _FEW) <= _FEW

    def _counted(self, table: str, condition: str, arguments: Sequence[object], most: int) -> int:
        """Count rows, up to one more than so many."""
        statement = f"SELECT 1 FROM {table} WHERE {condition} LIMIT ?"
        with self._db.read() as db:
            row = db.execute(
                f"SELECT count(*) FROM ({statement}) AS few", (*arguments, most + 1)
            ).fetchone()
        return int(row[0])

    def _keep_best(
        self,
        best: Best,
        vector: NDArray[np.float32],
        found: Sequence[tuple[int, int, bytes]],
    ) -> None:
        """Add memories by their number, with the ordinal and the stored vector of a chunk."""
        cosines = self._cosines(vector, [row[2] for row in found])
        for (memory, ordinal, _), cosine in zip(found, cosines, strict=True):
            before = best.get(memory)
            if before is None or (cosine, -ordinal) > (before[0], -before[1]):
                best[memory] = (cosine, ordinal)

    def _cosines(self, vector: NDArray[np.float32], stored: Sequence[bytes]) -> list[float]:
        """Return the exact cosines of stored vectors."""
        import numpy as np

        if not stored:
            return []
        unseal = self._db.codec.unseal_vector
        matrix = np.frombuffer(b"".join(map(unseal, stored)), dtype="<f4")
        # In double precision: in single, the last bit depends on how many rows are multiplied at once,
        # and then two stores rounded the same cosine to different sixth places.
        cosines: list[float] = np.einsum(
            "ij,j->i", matrix.reshape(len(stored), -1), vector, dtype=np.float64
        ).tolist()
        return cosines

    def _named(self, db: Connection, best: Best, scope: Scope) -> list[Row]:
        """Add id and age to what the scope may see, in the one order."""
        condition, arguments = where(scope, self._db)
        rows: list[Row] = []
        for several, part in in_parts(list(best)):
            rows += (
                Row(id_, best[n][0], best[n][1], updated_us)
                for n, id_, updated_us in db.execute(
                    # By number and no other way: SQLite would rather read a whole namespace.
                    "SELECT m.n, m.id, m.updated_us FROM memories AS m NOT INDEXED"
                    f" WHERE m.n IN ({several}) AND {condition}",
                    (*part, *arguments),
                )
            )
        rows.sort(key=in_order)
        return rows

    def _at(
        self, db: Connection, model: str, places: Iterable[tuple[str, int]]
    ) -> list[tuple[int, int, bytes]]:
        """Return the vectors at these places, by memory id and ordinal, that are still there."""
        wanted: dict[str, set[int]] = {}
        for id_, ordinal in places:
            wanted.setdefault(id_, set()).add(ordinal)
        asked: dict[int, set[int]] = {}
        for several, ids in in_parts(list(wanted)):
            for n, id_ in db.execute(f"SELECT n, id FROM memories WHERE id IN ({several})", ids):
                asked[n] = wanted[id_]
        chunks: dict[int, tuple[int, int]] = {}
        for several, part in in_parts(list(asked)):
            for n, memory, ordinal in db.execute(
                f"SELECT n, memory, ordinal FROM chunks WHERE memory IN ({several})", part
            ):
                if ordinal in asked[memory]:
                    chunks[n] = (memory, ordinal)
        found: list[tuple[int, int, bytes]] = []
        for several, part in in_parts(list(chunks)):
            found += (
                (*chunks[chunk], stored)
                for chunk, stored in db.execute(
                    "SELECT chunk, vector FROM vectors"
                    f" WHERE model = (SELECT n FROM models WHERE name = ?) AND chunk IN ({several})",
                    (model, *part),
                )
            )
        return found


def check_positive(name: str, given: int | None) -> None:
    """Refuse a number of a search that is given and is not at least 1."""
    if given is not None and (type(given) is not int or given < 1):
        raise InvalidInput(f"{name} is {given!r}; give a whole number of at least 1")


def in_order(row: Row) -> tuple[float, int, str]:
    """Return by what rows are sorted: score, then age, then id."""
    return (-round(row.score, 6), -row.updated_us, row.id)


def with_ties(best: Best, limit: int) -> Best:
    """Keep the best so many, and those that tie with the last: age and id decide between them."""
    if len(best) <= limit:
        return best
    last = round(sorted((cosine for cosine, _ in best.values()), reverse=True)[limit - 1], 6)
    return {memory: of for memory, of in best.items() if round(of[0], 6) >= last}


Place = tuple[str, int]

# Four of them, with their keys, fill a page of 8 KB, and none runs over into another.
_PART_BYTES = 1900


class SqlTokenVectors:
    """The token vectors of one file, for any number of models."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, model: str, tokens: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
        """Store the tokens of chunks that still exist; the first ones stay.

        Those of another width than the file has for the model, by an older version of it, are not.
        """
        from scrubjay.text.token_vectors import pack

        seal = self._db.codec.seal_vector
        with self._db.write() as db:
            for chunk, rows in tokens:
                wanted = db.execute(
                    "SELECT m.n FROM chunks AS c, models AS m"
                    " WHERE c.n = ? AND m.name = ? AND m.token_dims = ? AND NOT EXISTS"
                    " (SELECT 1 FROM tokens AS t WHERE t.chunk = c.n AND t.model = m.n)",
                    (chunk, model, rows.shape[1]),
                ).fetchone()
                if wanted is None:
                    continue
                sealed = seal(pack(rows))
                starts = range(0, len(sealed), _PART_BYTES)
                db.executemany(
                    "INSERT INTO tokens (chunk, model, part, codes) VALUES (?, ?, ?, ?)",
                    [
                        (chunk, wanted[0], part, sealed[start : start + _PART_BYTES])
                        for part, start in enumerate(starts)
                    ],
                )

    def of(self, model: str, places: Sequence[Place]) -> Mapping[Place, TokenCodes]:
        """Return the tokens of passages, by memory id and ordinal; those that have none are left out."""
        from scrubjay.text.token_vectors import unpack

        unseal = self._db.codec.unseal_vector
        found: dict[Place, TokenCodes] = {}
        with self._db.read() as db:
            row = db.execute(
                "SELECT n, token_dims FROM models WHERE name = ?", (model,)
            ).fetchone()
            if row is None or not row[1]:
                return found
            for place in places:
                parts = db.execute(
                    "SELECT t.codes FROM memories AS m JOIN chunks AS c ON c.memory = m.n"
                    " JOIN tokens AS t ON t.chunk = c.n AND t.model = ?"
                    " WHERE m.id = ? AND c.ordinal = ? ORDER BY t.part",
                    (row[0], *place),
                ).fetchall()
                if parts:
                    found[place] = unpack(unseal(b"".join(one for (one,) in parts)), row[1])
        return found


MOST_TRIES = 3
# Vectors whose tokens could not be made when they were.
_LACKING = (
    "FROM models AS m JOIN vectors AS v ON v.model = m.n WHERE m.name = ? AND m.token_dims > 0"
    " AND NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.chunk = v.chunk AND t.model = m.n)"
)


class Wanted(NamedTuple):
    """A chunk that wants a vector, with what a model should read of it.

    `asked` is the number of the wish. `around` is what was said before and after a short turn, for its
    vector alone.
    """

    chunk: int
    title: str
    heading: str
    context: str
    passage: str
    asked: int = 0
    around: str = ""


class SqlEmbeddingQueue:
    """The wishes for vectors of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def activate(
        self, model: str, dims: int, token_dims: int = 0, wait_s: float | None = None
    ) -> None:
        """Make a model known to the file; when it gives something new, every chunk wants that."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT dims, token_dims FROM models WHERE name = ?", (model,)
            ).fetchone()
        if row is not None and row[0] != dims:
            raise InvalidInput(
                f"{self._db.path} holds vectors of {model} with {row[0]} dimensions, but this"
                f" model gives {dims}; give the other model another name"
            )
        if row is not None and token_dims in (0, row[1]):
            return
        with self._db.write(wait_s) as db:
            db.execute("INSERT OR IGNORE INTO models (name, dims) VALUES (?, ?)", (model, dims))
            known = db.execute("SELECT token_dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is not None and known[0] == token_dims:  # another process was faster
                return
            # Tokens of another width are of no use; vectors that are there stay.
            db.execute(
                "DELETE FROM tokens WHERE model = (SELECT n FROM models WHERE name = ?)", (model,)
            )
            db.execute("UPDATE models SET token_dims = ? WHERE name = ?", (token_dims, model))
            db.execute(
                "INSERT OR IGNORE INTO wanting (model, chunk) SELECT m.n, c.n"
                " FROM models AS m, chunks AS c WHERE m.name = ?1 AND (?2 OR NOT EXISTS"
                " (SELECT 1 FROM vectors AS v WHERE v.chunk = c.n AND v.model = m.n))",
                (model, token_dims > 0),
            )

    def together(self) -> AbstractContextManager[object]:
        """Make what is written inside one transaction."""
        return self._db.write()

    def claim(self, model: str, most: int, lease_s: float) -> list[Wanted]:
        """Take the next chunks for ourselves until the lease runs out.

        What only repeats a search has nothing for a model to read; it is found by its id alone.
        """
        while True:
            asked = self._lease(model, most, lease_s)
            # Read after that: whatever is written meanwhile is asked for anew.
            wanted = [one._replace(asked=asked[one.chunk]) for one in self._read(list(asked))]
            telling = [one for one in wanted if one.passage.strip()]
            self._drop(model, [one for one in wanted if not one.passage.strip()])
            if telling or not wanted:
                return telling

    def _lease(self, model: str, most: int, lease_s: float) -> dict[int, int]:
        """Return the chunks that are ours now, each with the number of the wish for it."""
        now = time.time()
        with self._db.write() as db:
            rows = db.execute(
                "UPDATE wanting SET leased_until_s = ? WHERE model = (SELECT n FROM models WHERE name = ?)"
                " AND chunk IN (SELECT chunk FROM wanting"
                "  WHERE model = (SELECT n FROM models WHERE name = ?)"
                "  AND leased_until_s < ? AND tries < ? ORDER BY chunk LIMIT ?)"
                " RETURNING chunk, asked",
                (now + lease_s, model, model, now, MOST_TRIES, most),
            ).fetchall()
        return dict(rows)

    def _drop(self, model: str, wanted: list[Wanted]) -> None:
        """Wish no vector for these chunks, unless it was asked for again meanwhile."""
        if not wanted:
            return
        with self._db.write() as db:
            db.executemany(
                "DELETE FROM wanting WHERE chunk = ? AND asked = ?"
                " AND model = (SELECT n FROM models WHERE name = ?)",
                [(one.chunk, one.asked, model) for one in wanted],
            )

    def _read(self, chunks: list[int]) -> list[Wanted]:
        """Read what a model should see of these chunks, each memory's text once."""
        from scrubjay.storage.sql.messages import ROW, SqlMessages

        turns = SqlMessages(self._db)
        unseal = self._db.codec.unseal
        texts: dict[int, tuple[str, str, str, str]] = {}
        found: list[Wanted] = []
        with self._db.read() as db:
            places = db.execute(
                "SELECT n, memory, heading, start, stop FROM chunks"
                f" WHERE n IN ({marks(chunks)}) ORDER BY n",
                chunks,
            ).fetchall()
            for n, memory, heading, start, stop in places:
                if memory not in texts:
                    row = db.execute(
                        f"SELECT title, context, text, {ROW} FROM memories WHERE n = ?",
                        (memory,),
                    ).fetchone()
                    if row is None:  # forgotten in this very moment
                        continue
                    title, context, text = map(unseal, row[:3])
                    text = _heard(row[3], text)
                    around = turns.around_row(memory, text, row[3:], by_model=True)
                    texts[memory] = (title, context, text, around)
                title, context, text, around = texts[memory]
                passage = text[start:stop]
                found.append(Wanted(n, title, unseal(heading), context, passage, around=around))
        return found

    def release(self, model: str, chunks: list[int], reason: str | None, *, tried: bool) -> None:
        """Give chunks back, with the reason; `tried` counts against them."""
        with self._db.write() as db:
            db.executemany(
                "UPDATE wanting SET leased_until_s = 0, tries = tries + ?, reason = ?"
                " WHERE chunk = ? AND model = (SELECT n FROM models WHERE name = ?)",
                [(int(tried), reason, chunk, model) for chunk in chunks],
            )

    def retry(self, model: str) -> None:
        """Forget earlier failures, so that they are tried again: vectors, and tokens without which."""
        with self._db.read() as db:
            lacking = db.execute(f"SELECT EXISTS (SELECT 1 {_LACKING})", (model,)).fetchone()[0]
        if not lacking and not self.left(model)[1]:
            return
        with self._db.write() as db:
            db.execute(
                "UPDATE wanting SET tries = 0 WHERE model = (SELECT n FROM models WHERE name = ?)",
                (model,),
            )
            db.execute(
                f"INSERT OR IGNORE INTO wanting (model, chunk) SELECT m.n, v.chunk {_LACKING}",
                (model,),
            )

    def left(self, model: str) -> tuple[int, int]:
        """Return how many chunks want a vector, and how many of them were given up."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT count(*), count(*) FILTER (WHERE tries >= ?) FROM wanting"
                " WHERE model = (SELECT n FROM models WHERE name = ?)",
                (MOST_TRIES, model),
            ).fetchone()
        return int(row[0]), int(row[1])

    def reasons(self, model: str, most: int = 5) -> list[str]:
        """Return why chunks were given up."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT DISTINCT reason FROM wanting WHERE reason IS NOT NULL AND tries >= ?"
                " AND model = (SELECT n FROM models WHERE name = ?) LIMIT ?",
                (MOST_TRIES, model, most),
            )
            return [reason for (reason,) in rows]


def _heard(type_: str, text: str) -> str:
    """Return what a model should read of a text: what a message repeats of a search is not its own."""
    if type_ != "message":
        return text
    from scrubjay.text.recall_tags import blank_recalled

    return blank_recalled(text)

"""Vectors of chunks, token vectors, and the embedding queue of chunks that have none.

The table is the source for whatever finds vectors quickly: a copy in memory, a replica, a database index.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.storage.codec import UNREADABLE, DamagedValue, readable
from scrubjay.storage.database import Database
from scrubjay.storage.sql.fair_order import FairOrder
from scrubjay.storage.sql.readable import as_codes, vector_of, vectors_of
from scrubjay.storage.sql.scope import MemorySets, SqlTable, in_parts, named, where
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.text.token_vectors import TokenCodes

# By a memory's number: its best cosine, and the ordinal of that chunk.
Best = dict[int, tuple[float, int]]
Place = tuple[str, int]  # memory id and ordinal of a chunk

# Roles of models. Links, near-duplicates and replicas follow the vectors of the main model alone. The
# index of the next model is being built; a kept one was the main model before.
MAIN, STATIC, MULTILINGUAL = "main", "static", "multilingual"
NEXT, KEPT = "next", "kept"
_MODEL = "(SELECT n FROM models WHERE name = ?)"
_AT_ONCE = 4096
_FEW = 2_000  # scoring this many memories is faster than asking an index or a replica
MAX_TRIES = 3
_REASON = "wanting.reason"  # its place, as the codec knows it
_DAMAGED = "its text is damaged"
_MAX_REASONS = 1000  # in a sealed store equal ones differ
_MAX_DIMS = 1 << 20
# The oldest and the newest chunks of a long queue share its batches; this many of each are looked at.
_WINDOW = 20_000
_CLAIMS_PER_SCAN = 32  # chunks that were requested again or given back are found by the next scan
# Four of these, with their keys, fill a page of 8 KB, and none overflows into another page.
_PART_BYTES = 1900
WHOLE = "all vectors, whole"  # what a search compared that needed no shortlist
# Chunks with a vector but without token vectors, which could not be made at the time.
_WITHOUT_TOKENS = (
    "FROM models AS m JOIN vectors AS v ON v.model = m.n WHERE m.name = ? AND m.token_dims > 0"
    " AND NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.chunk = v.chunk AND t.model = m.n)"
)


class Nearest(NamedTuple):
    """The memories with the nearest chunk, best first, and which vectors were compared for that."""

    rows: list[Row]
    compared: str


class VectorQuery(NamedTuple):
    """One search by vector."""

    vector: NDArray[np.float32]
    model: str
    scope: Scope
    limit: int
    shortlist: int | None
    short_dims: int | None


class SqlVectors(SqlTable, ABC):
    """The table `vectors`, for any number of models."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.sets = MemorySets(db)

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
        """Return the memories with the nearest chunk, by cosine; one row a memory, its best chunk.
        An index may first choose `shortlist` candidates by the first `short_dims` dimensions."""
        for name, given in (("shortlist", shortlist), ("short_dims", short_dims)):
            if given is not None and (type(given) is not int or given < 1):
                raise InvalidInput(f"{name} is {given!r}; give a whole number of at least 1")
        if limit < 1:
            return RankedList("vector")
        if scope.ids is not None:
            rows, compared = self._of_scope(vector, model, scope)
        else:
            query = VectorQuery(vector, model, scope, limit, shortlist, short_dims)
            rows, compared = self._nearest(query)
        return RankedList(
            "vector",
            tuple(rows[:limit]),
            warning=self.damage(model, scope),
            compared="" if shortlist is None else compared,
        )

    def damage(self, model: str, scope: Scope) -> str:
        """Say which vectors a search has to leave out because they are damaged; "" for none."""
        return ""

    @abstractmethod
    def _nearest(self, query: VectorQuery) -> Nearest:
        """Return the memories with the nearest chunk; there may be more than the limit."""

    def add(
        self,
        model: str,
        vectors: Sequence[tuple[int, NDArray[np.float32]]],
        requests: Mapping[int, int] | None = None,
    ) -> None:
        """Store the vectors of chunks that still exist and are still queued; an existing one stays.

        `requests` has, by chunk, the number of a request for a new vector, which replaces the old one.
        A vector is dropped if it was requested again meanwhile: the model has read an outdated text.
        Static and multilingual ones are stored as one byte a number, others as float32.
        """
        seal = self._db.codec.seal_vector
        numbers = requests or {}
        with self._db.write() as db:
            row = db.execute("SELECT n, role FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return
            model_n, whole = row[0], row[1] not in (STATIC, MULTILINGUAL)
            queued: dict[int, int] = dict(
                self._rows_in(
                    "SELECT chunk, asked FROM wanting WHERE model = ? AND chunk IN ({values})",
                    [chunk for chunk, _ in vectors],
                    before=(model_n,),
                )
            )
            asked = {chunk: numbers.get(chunk, 0) for chunk, _ in vectors}
            current = [(n, vector) for n, vector in vectors if queued.get(n, asked[n]) == asked[n]]
            db.executemany(
                "DELETE FROM vectors WHERE model = ? AND chunk = ?",
                [(model_n, n) for n, number in queued.items() if number and number == asked[n]],
            )
            db.executemany(
                "INSERT OR IGNORE INTO vectors (model, chunk, vector)"
                " SELECT ?, n, ? FROM chunks WHERE n = ?",
                [
                    (
                        model_n,
                        seal(vector.astype("<f4").tobytes() if whole else as_codes(vector)),
                        n,
                    )
                    for n, vector in current
                ],
            )
            db.executemany(
                "DELETE FROM wanting WHERE model = ? AND chunk = ?",
                [(model_n, chunk) for chunk, _ in current],
            )

    def missing(self, model: str, scope: Scope) -> int:
        """Return how many chunks of a scope are queued for a first vector of this model."""
        if not self._row("SELECT 1 FROM wanting LIMIT 1"):
            return 0
        return self._number(
            "SELECT count(*) FROM wanting AS w JOIN chunks AS c ON c.n = w.chunk"
            " JOIN memories AS m ON m.n = c.memory"
            " LEFT JOIN vectors AS v ON v.chunk = w.chunk AND v.model = w.model"
            f" WHERE w.model = {_MODEL} AND v.n IS NULL AND {{scope}}",
            (model, scope),
        )

    def without(self, model: str, scope: Scope) -> int:
        """Return how many chunks have no vector of a model, which may be unknown to the database."""
        if self._row("SELECT 1 FROM models WHERE name = ?", (model,)):
            return self.missing(model, scope)
        joined = "chunks AS c JOIN memories AS m ON m.n = c.memory"
        return self._number(f"SELECT count(*) FROM {joined} WHERE {{scope}}", (scope,))

    def stand_ins(
        self, vector: NDArray[np.float32], model: str, instead_of: str, scope: Scope, limit: int
    ) -> list[Row]:
        """Return the nearest of the memories that have no vector of `instead_of` yet, by another model."""
        if not self._row("SELECT 1 FROM wanting LIMIT 1"):
            return []
        unembedded = self._column(
            "SELECT DISTINCT m.n FROM wanting AS w JOIN chunks AS c ON c.n = w.chunk"
            " JOIN memories AS m ON m.n = c.memory"
            " LEFT JOIN vectors AS v ON v.chunk = w.chunk AND v.model = w.model"
            f" WHERE w.model = {_MODEL} AND v.n IS NULL AND {{scope}}",
            (instead_of, scope),
        )
        best = self.nearest_of(unembedded, vector, model, limit)
        return self._named(best, scope)[:limit]

    def is_current(self) -> bool:
        """True when a search uses every stored vector; a replica may be behind."""
        return True

    def fit_is_due(self, model: str, prefixes: Sequence[int]) -> bool:
        """True when short codes should be fitted to a model's vectors; the table needs none."""
        return False

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Fit short codes if due; False when nothing was fitted. `prefixes` are the lengths at
        which the model's vectors can be cut as they are."""
        return False

    def reindex(self) -> None:
        """Rebuild the vector index; a copy in memory is built at every start."""
        return

    def release(self, model: str) -> None:
        """Free the memory for a model that is not searched any more; the table needs none."""
        return

    def drop_index(self, model: int) -> None:
        """Drop what the database has for a model, by its number, beside the tables; only in a write."""
        return

    def first_of(self, model: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the first chunks of memories, by id; those without one are left out."""
        rows = self._rows_in(
            "SELECT m.id, v.vector, (SELECT dims FROM models WHERE n = v.model) FROM memories AS m"
            " JOIN chunks AS c ON c.memory = m.n AND c.ordinal = 0"
            f" JOIN vectors AS v ON v.chunk = c.n AND v.model = {_MODEL}"
            " WHERE m.id IN ({values})",
            ids,
            before=(model,),
        )
        found = ((id_, vector_of(self._db.codec, sealed, dims)) for id_, sealed, dims in rows)
        return {id_: vector for id_, vector in found if vector is not None}

    def nearest_of(
        self,
        memories: Sequence[int] | NDArray[np.int64],
        vector: NDArray[np.float32],
        model: str,
        limit: int,
    ) -> Best:
        """Return the nearest of these memories, by number, with ties; only those with a vector."""
        best: Best = {}
        with self._db.read() as db:
            for several, part in in_parts([int(n) for n in memories]):
                rows = db.execute(
                    "SELECT c.memory, c.ordinal, v.vector FROM chunks AS c"
                    " JOIN vectors AS v ON v.chunk = c.n"
                    f" WHERE v.model = {_MODEL} AND c.memory IN ({several})",
                    (model, *part),
                ).fetchall()
                self._keep_best(best, vector, rows)
        return with_ties(best, limit)

    def _of_scope(self, vector: NDArray[np.float32], model: str, scope: Scope) -> Nearest:
        """Score every memory of a scope without an index, for example when it names its ids."""
        condition, arguments = where(scope, self._db)
        best: Best = {}
        records: dict[int, tuple[str, int]] = {}
        with self._db.read() as db:
            cursor = db.execute(
                "SELECT m.n, c.ordinal, v.vector, m.id, m.updated_us FROM memories AS m"
                " JOIN chunks AS c ON c.memory = m.n JOIN vectors AS v ON v.chunk = c.n"
                f" WHERE v.model = {_MODEL} AND {condition}",
                (model, *arguments),
            )
            while rows := cursor.fetchmany(_AT_ONCE):
                self._keep_best(best, vector, [row[:3] for row in rows])
                sound = named((row[0], row[3], row[4]) for row in rows)
                records.update((n, (id_, updated_us)) for n, id_, updated_us in sound)
        found = [Row(records[n][0], *best[n], records[n][1]) for n in best if n in records]
        return Nearest(sorted(found, key=in_order), WHOLE)

    def _are_few(self, scope: Scope) -> bool:
        """True when scoring all memories of a scope is faster than asking an index."""
        statement = "SELECT 1 FROM memories AS m WHERE {scope} LIMIT 1 OFFSET ?"
        return self._row(statement, (scope, _FEW)) is None

    def _keep_best(
        self, best: Best, vector: NDArray[np.float32], found: Sequence[tuple[int, int, bytes]]
    ) -> None:
        """Add memories by number, with the ordinal and the stored vector of a chunk."""
        cosines, places = self._cosines(vector, [row[2] for row in found])
        for place, cosine in zip(places, cosines, strict=True):
            memory, ordinal, _ = found[place]
            before = best.get(memory)
            if before is None or (cosine, -ordinal) > (before[0], -before[1]):
                best[memory] = (cosine, ordinal)

    def _cosines(
        self, vector: NDArray[np.float32], stored: Sequence[bytes]
    ) -> tuple[list[float], list[int]]:
        """Return the cosines of stored vectors, and the places of those that are not damaged."""
        import numpy as np

        if not stored:
            return [], []
        matrix, places = vectors_of(self._db.codec, stored, len(vector))
        # In double precision: in single, the last bit depends on how many rows are multiplied at once,
        # and then two databases rounded the same cosine to different sixth places.
        cosines: list[float] = np.einsum("ij,j->i", matrix, vector, dtype=np.float64).tolist()
        return cosines, places

    def _named(self, best: Best, scope: Scope) -> list[Row]:
        """Add ids and times to the memories that the scope may see, and sort them."""
        rows = self._ids_and_times(best, scope)
        return sorted((Row(id_, *best[n], us) for n, id_, us in rows), key=in_order)

    def _at(self, model: str, places: Iterable[Place]) -> list[tuple[int, int, bytes]]:
        """Return number, ordinal and vector of the chunks at these places that still exist."""
        wanted: dict[str, set[int]] = {}
        for id_, ordinal in places:
            wanted.setdefault(id_, set()).add(ordinal)
        rows = self._rows_in("SELECT n, id FROM memories WHERE id IN ({values})", list(wanted))
        ordinals = {n: wanted[id_] for n, id_ in rows}
        rows = self._rows_in(
            "SELECT n, memory, ordinal FROM chunks WHERE memory IN ({values})", list(ordinals)
        )
        chunks = {n: (memory, at) for n, memory, at in rows if at in ordinals[memory]}
        rows = self._rows_in(
            f"SELECT chunk, vector FROM vectors WHERE model = {_MODEL} AND chunk IN ({{values}})",
            list(chunks),
            before=(model,),
        )
        return [(*chunks[chunk], stored) for chunk, stored in rows]


def in_order(row: Row) -> tuple[float, int, str]:
    """Return the sort key of rows: score, then the latest, then id."""
    return (-round(row.score, 6), -row.updated_us, row.id)


def with_ties(best: Best, limit: int) -> Best:
    """Keep the best `limit`, and those that tie with the last: time and id decide between them."""
    if len(best) <= limit:
        return best
    last = round(sorted((cosine for cosine, _ in best.values()), reverse=True)[limit - 1], 6)
    return {memory: of for memory, of in best.items() if round(of[0], 6) >= last}


def is_width(dims: object) -> bool:
    """True for a number of dimensions that vectors can have; a damaged row may have anything."""
    return type(dims) is int and 0 < dims <= _MAX_DIMS


class SqlTokenVectors(SqlTable):
    """The table `tokens`: packed token vectors of chunks, read for the few passages that are reranked."""

    def add(self, model: str, tokens: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
        """Store the tokens of chunks that still exist; existing ones stay. Tokens of another width
        than the database has for the model, by an older version, are dropped."""
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

    def is_sound(self, chunk: int, model: int, dims: object) -> bool:
        """True when the token vectors of a chunk can be read."""
        from scrubjay.text.token_vectors import unpack

        parts = self._column(
            "SELECT codes FROM tokens WHERE chunk = ? AND model = ? ORDER BY part", (chunk, model)
        )
        if type(dims) is not int or dims < 1:
            return False
        try:
            return isfinite(unpack(self._db.codec.unseal_vector(b"".join(parts)), dims).scale)
        except UNREADABLE:
            return False

    def of(self, model: str, places: Sequence[Place]) -> Mapping[Place, TokenCodes]:
        """Return the tokens of chunks, by memory id and ordinal; those without tokens are left out."""
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
                    # A damaged one counts as missing, and is computed for this search.
                    with suppress(*UNREADABLE):
                        codes = unpack(unseal(b"".join(part for (part,) in parts)), row[1])
                        if isfinite(codes.scale):
                            found[place] = codes
        return found


class QueuedChunk(NamedTuple):
    """A chunk without a vector, with what a model should read of it. `request` is the number of
    the request. `around` are the neighbors of a short message."""

    chunk: int
    title: str
    heading: str
    context: str
    passage: str
    request: int = 0
    around: str = ""


class _Waiting:
    """The chunks that wait for one model, as far as this process has seen them."""

    def __init__(self) -> None:
        self.order = FairOrder()
        self.last = 0  # the highest chunk that was seen
        self.claims = 0


class SqlEmbeddingQueue(SqlTable):
    """The table `wanting`: chunks without vectors, claimed in batches under a lease, in a fair order."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._waiting: dict[str, _Waiting] = {}

    def activate(
        self,
        model: str,
        dims: int,
        token_dims: int = 0,
        wait_s: float | None = None,
        role: str = MAIN,
    ) -> None:
        """Register a model; when it is new or gives new token vectors, queue every chunk."""
        row = self._row("SELECT dims, token_dims, role FROM models WHERE name = ?", (model,))
        if row is not None and row[2] == KEPT and role != MAIN:  # it was the main model in between
            self._write("UPDATE models SET role = ? WHERE name = ?", (role, model))
        if row is not None and not (is_width(row[0]) and type(row[1]) is int):
            self._write("UPDATE models SET dims = ?, token_dims = 0 WHERE name = ?", (dims, model))
            row = (dims, 0, role)
        if row is not None and row[0] != dims:
            raise InvalidInput(
                f"{self._db.path} has vectors of {model} with {row[0]} dimensions, but this model has"
                f" {dims}; give the other model another name"
            )
        if row is not None and token_dims in (0, row[1]):
            return
        with self._db.write(wait_s) as db:
            if role != MAIN:  # vectors of the one before are of no more use
                db.execute("DELETE FROM models WHERE role = ? AND name <> ?", (role, model))
            db.execute(
                "INSERT OR IGNORE INTO models (name, dims, role) VALUES (?, ?, ?)",
                (model, dims, role),
            )
            known = db.execute("SELECT token_dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is not None and known[0] == token_dims:  # another process was faster
                return
            # Tokens of another width are useless; existing vectors stay.
            db.execute(f"DELETE FROM tokens WHERE model = {_MODEL}", (model,))
            db.execute("UPDATE models SET token_dims = ? WHERE name = ?", (token_dims, model))
            db.execute(
                "INSERT OR IGNORE INTO wanting (model, chunk) SELECT m.n, c.n"
                " FROM models AS m, chunks AS c WHERE m.name = ?1 AND (?2 OR NOT EXISTS"
                " (SELECT 1 FROM vectors AS v WHERE v.chunk = c.n AND v.model = m.n))",
                (model, token_dims > 0),
            )

    def claim(self, model: str, most: int, lease_s: float) -> list[QueuedChunk]:
        """Lease the next chunks. A message of recalled text alone has nothing for a model to read,
        and is removed from the queue."""
        while True:
            with self._db.write():
                leased = self._lease(model, most, lease_s)
            # Read after the lease: what is written meanwhile is requested again.
            claimed = self._read(leased)
            if lost := leased.keys() - {one.chunk for one in claimed}:
                self._give_up(model, sorted(lost))
            readable = [chunk for chunk in claimed if chunk.passage.strip()]
            # Only if it was not requested again meanwhile.
            self._write_each(
                f"DELETE FROM wanting WHERE chunk = ? AND asked = ? AND model = {_MODEL}",
                [(c.chunk, c.request, model) for c in claimed if not c.passage.strip()],
            )
            if readable or not claimed:
                return readable

    def newest(self, model: str, most: int) -> list[QueuedChunk]:
        """Return the newest queued chunks without a lease, for a model that reads them in this write."""
        rows = self._rows(
            f"SELECT chunk, asked FROM wanting WHERE model = {_MODEL} AND tries < ?"
            " ORDER BY chunk DESC LIMIT ?",
            (model, MAX_TRIES, most),
        )
        return self._read(dict(rows))

    def _lease(self, model: str, most: int, lease_s: float) -> dict[int, int]:
        """Lease the next chunks in a fair order; return the numbers of their requests. Only in a write."""
        waiting = self._waiting.setdefault(model, _Waiting())
        scanned = waiting.claims % _CLAIMS_PER_SCAN == 0
        self._look(model, waiting, everything=scanned)
        waiting.claims += 1
        leased: dict[int, int] = {}
        while len(leased) < most:
            chunks = waiting.order.take(most - len(leased))
            if chunks:
                leased.update(self._lease_free(model, chunks, lease_s))
            elif scanned:
                break
            else:
                scanned = True
                self._look(model, waiting, everything=True)
        return leased

    def _lease_free(self, model: str, chunks: Sequence[int], lease_s: float) -> list[Any]:
        """Lease those of these chunks that still wait and that no other process has leased."""
        now = time.time()
        with self._db.write() as db:
            return [
                row
                for several, part in in_parts(chunks)
                for row in db.execute(
                    f"UPDATE wanting SET leased_until_s = ? WHERE model = {_MODEL} AND chunk IN"
                    f" ({several}) AND leased_until_s < ? AND tries < ? RETURNING chunk, asked",
                    (now + lease_s, model, *part, now, MAX_TRIES),
                ).fetchall()
            ]

    def _look(self, model: str, waiting: _Waiting, *, everything: bool) -> None:
        """Look for chunks that wait: for new ones, or for everything."""
        after = 0 if everything else waiting.last
        free = (
            "SELECT w.chunk, c.memory, m.namespace FROM wanting AS w JOIN chunks AS c ON c.n = w.chunk"
            f" JOIN memories AS m ON m.n = c.memory WHERE w.model = {_MODEL} AND w.chunk > ?"
            " AND w.leased_until_s < ? AND w.tries < ? ORDER BY w.chunk"
        )
        arguments = (model, after, time.time(), MAX_TRIES, _WINDOW)
        found = self._rows(f"{free} LIMIT ?", arguments)
        if len(found) == _WINDOW:
            found += reversed(self._rows(f"{free} DESC LIMIT ?", arguments))
        waiting.order.add(found)
        waiting.last = max((chunk for chunk, *_ in found), default=waiting.last)

    def _give_up(self, model: str, chunks: Sequence[int]) -> None:
        """Set aside chunks whose text cannot be read; of one that was deleted, nothing is left."""
        self._write_each(
            "UPDATE wanting SET leased_until_s = 0, tries = ?, reason = ?"
            f" WHERE chunk = ? AND model = {_MODEL}",
            [(MAX_TRIES, self._sealed_reason(_DAMAGED), chunk, model) for chunk in chunks],
        )

    def _read(self, requests: Mapping[int, int]) -> list[QueuedChunk]:
        """Read what a model should see of these chunks, given with the numbers of their requests."""
        from scrubjay.storage.sql.messages import ROW, SqlMessages
        from scrubjay.storage.sql.records import CONTEXT, HEADING, TEXT, TITLE
        from scrubjay.text.recall_tags import blank_recalled

        messages = SqlMessages(self._db)
        texts: dict[int, tuple[str, str, str, str, str]] = {}
        with self._db.read() as db:

            def text_of(memory: int) -> tuple[str, str, str, str, str]:
                row = db.execute(
                    f"SELECT id, title, context, text, {ROW} FROM memories WHERE n = ?", (memory,)
                ).fetchone()
                if row is None:
                    raise DamagedValue("the memory was deleted a moment ago")
                id_, *sealed = row[:4]
                columns = (TITLE, CONTEXT, TEXT)
                title, context, text = (
                    self._unseal(value, column, id_)
                    for column, value in zip(columns, sealed, strict=True)
                )
                if row[4] == "message":  # recalled text is not the message's own
                    text = blank_recalled(text)
                around = messages.neighbor_texts(memory, text, row[4:], for_model=True)
                return id_, title, context, text, around

            def queued(row: tuple[int, int, str | bytes, int, int]) -> QueuedChunk:
                n, memory, heading, start, stop = row
                if memory not in texts:
                    texts[memory] = text_of(memory)
                id_, title, context, text, around = texts[memory]
                heading = self._unseal(heading, HEADING, id_)
                read = (title, heading, context, text[start:stop])
                return QueuedChunk(n, *read, requests[n], around)

            rows = self._rows_in(
                "SELECT n, memory, heading, start, stop FROM chunks WHERE n IN ({values})"
                " ORDER BY n",
                list(requests),
            )
            return list(readable(queued, rows))

    def release(self, model: str, chunks: list[int], reason: str | None, *, tried: bool) -> None:
        """End the lease of chunks, with the reason; `tried` counts as a failed try."""
        self._write_each(
            "UPDATE wanting SET leased_until_s = 0, tries = tries + ?, reason = ?"
            f" WHERE chunk = ? AND model = {_MODEL}",
            [(int(tried), self._sealed_reason(reason), chunk, model) for chunk in chunks],
        )

    def _sealed_reason(self, reason: str | None) -> str | bytes | None:
        # Not bound to a passage: it is shown, and nothing else. It may quote the text.
        return None if reason is None else self._seal(reason, _REASON, "")

    def retry(self, model: str) -> None:
        """Try failed chunks again, and those without token vectors."""
        (lacking,) = self._row(f"SELECT EXISTS (SELECT 1 {_WITHOUT_TOKENS})", (model,))
        if not lacking and not self.left(model)[1]:
            return
        with self._db.write() as db:
            db.execute(f"UPDATE wanting SET tries = 0 WHERE model = {_MODEL}", (model,))
            db.execute(
                f"INSERT OR IGNORE INTO wanting (model, chunk) SELECT m.n, v.chunk {_WITHOUT_TOKENS}",
                (model,),
            )

    def left(self, model: str) -> tuple[int, int]:
        """Return how many chunks are queued, and how many of them have failed for good."""
        queued, failed = self._row(
            "SELECT count(*), count(*) FILTER (WHERE tries >= ?) FROM wanting"
            f" WHERE model = {_MODEL}",
            (MAX_TRIES, model),
        )
        return int(queued), int(failed)

    def failures(self, model: str, most: int = 5) -> list[str]:
        statement = (
            "SELECT DISTINCT reason FROM wanting WHERE reason IS NOT NULL AND tries >= ?"
            f" AND model = {_MODEL} LIMIT ?"
        )
        rows = self._rows(statement, (MAX_TRIES, model, _MAX_REASONS))
        reasons = readable(lambda row: self._unseal(row[0], _REASON, ""), rows)
        return list(dict.fromkeys(reasons))[:most]

"""Vector search by pgvector: exact in a small store, by an HNSW index in a large one.

pgvector lists the nearest chunks; their cosines are then computed from the float32 values of the table
`vectors`, so they are the same as in any other store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from scrubjay.errors import StoreError
from scrubjay.storage.postgres.session import Session
from scrubjay.storage.sql.readable import named_damage, vector_of, vectors_of
from scrubjay.storage.sql.scope import where
from scrubjay.storage.sql.vectors import (
    WHOLE,
    Best,
    Nearest,
    SqlVectors,
    VectorQuery,
    with_ties,
)
from scrubjay.types import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.storage.postgres.connection import PostgresDatabase

# Up to here every vector is compared: that takes about as long as the index, and misses none.
MAX_EXACT = 50_000
# HNSW indexes at most this many dimensions; more as half floats.
_MAX_WHOLE_DIMS, _MAX_HALF_DIMS = 2_000, 4_000
MIN_VERSION = (0, 8)  # before it, an index with a filter returned too few results
_BATCH = 500
_EF_SEARCH = 400
_INDEXING_MB = 512
_ROUNDS = 6
_MODEL = "SELECT n, dims FROM models WHERE name = ?"
_SENT_HEADER_BYTES = 4  # before the numbers, in the binary form of a vector


class PostgresVector(SqlVectors):
    """The vectors of one schema, for any number of models."""

    def __init__(self, db: PostgresDatabase) -> None:
        super().__init__(db)
        self._postgres = db
        self._suspects: set[int] = set()  # memories with a vector that could not be read
        self._prepare()

    def _nearest(self, query: VectorQuery) -> Nearest:
        with self._postgres.read() as db:
            model = self._row(_MODEL, (query.model,))
            if model is None:
                return Nearest([], WHOLE)
            fetch, by_index = 2 * query.limit + 16, False
            if self._indexed(model[0]):
                by_index = query.scope.everything or not self._are_few(query.scope)
            for _ in range(_ROUNDS):
                best: Best = {}
                found = self._nearest_chunks(db, query, model, fetch, by_index=by_index)
                if by_index and len(found) < fetch:
                    # pgvector reads no more than 20,000 vectors of its index, whether or not the scope
                    # has any of those: a small namespace of a large store was not found.
                    by_index = False
                    found = self._nearest_chunks(db, query, model, fetch, by_index=False)
                self._keep_best(best, query.vector, found)
                kept = with_ties(best, query.limit)
                # All ties of the last are needed: age and id decide between them.
                if len(found) < fetch or len(kept) < len(best):
                    break
                fetch *= 4
            compared = "whole vectors that the index listed" if by_index else WHOLE
            return Nearest(self._named(kept, query.scope), compared)

    def damage(self, model: str, scope: Scope) -> str:
        memories = self._ids_and_times(self._damaged_memories(), scope)
        ids = sorted(id_ for _, id_, _ in memories)
        return named_damage("vector", "not searched", ids, self._postgres.path) if ids else ""

    def _damaged_memories(self) -> set[int]:
        """Return which suspects still have a damaged vector; the others are none any more."""
        suspects = list(self._suspects)
        if not suspects:
            return set()
        rows = self._rows_in(
            "SELECT c.memory, v.vector, o.dims FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
            " JOIN models AS o ON o.n = v.model WHERE c.memory IN ({values})",
            suspects,
        )
        codec = self._postgres.codec
        damaged = {n for n, stored, dims in rows if vector_of(codec, stored, dims) is None}
        self._suspects.difference_update(set(suspects) - damaged)
        return damaged

    def _keep_best(
        self, best: Best, vector: NDArray[np.float32], found: Sequence[tuple[int, int, bytes]]
    ) -> None:
        super()._keep_best(best, vector, found)
        _, sound = vectors_of(self._postgres.codec, [row[2] for row in found], len(vector))
        if len(sound) < len(found):
            self._suspects.update(found[n][0] for n in set(range(len(found))).difference(sound))

    def add(
        self,
        model: str,
        vectors: Sequence[tuple[int, NDArray[np.float32]]],
        asked: Mapping[int, int] | None = None,
    ) -> None:
        with self._postgres.write() as db:
            super().add(model, vectors, asked)
            self._copy(db, "v.n > (SELECT coalesce(max(vector), 0) FROM embeddings)")

    def fit_is_due(self, model: str, prefixes: Sequence[int]) -> bool:
        row = self._row(_MODEL, (model,))
        if row is None or row[1] > _MAX_HALF_DIMS or self._indexed(row[0]):
            return False
        beyond = "SELECT 1 FROM embeddings WHERE model = ? LIMIT 1 OFFSET ?"
        return self._row(beyond, (row[0], MAX_EXACT)) is not None

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Create the index of a model's vectors if that is due; others read and write meanwhile."""
        if not self.fit_is_due(model, prefixes):
            return False
        with self._postgres.read() as db:
            n, dims = self._row(_MODEL, (model,))
            kind, connection = _indexed_as(dims), db.connection
            connection.execute("SET statement_timeout = 0")
            # With the usual 64 MB, the index of 100,000 vectors does not fit, and takes far longer.
            connection.execute(cast("Any", f"SET maintenance_work_mem = '{_INDEXING_MB}MB'"))
            try:
                connection.execute(cast("Any", f"DROP INDEX IF EXISTS {_index(n)}"))
                wrong = f"DELETE FROM embeddings WHERE model = {n} AND vector_dims(v) <> {dims}"
                connection.execute(cast("Any", wrong))  # the index would refuse them
                statement = (
                    f"CREATE INDEX CONCURRENTLY {_index(n)} ON embeddings USING hnsw"
                    f" ((v::{kind}) {kind.partition('(')[0]}_ip_ops) WHERE model = {n}"
                )
                connection.execute(cast("Any", statement))
            finally:
                connection.execute("RESET maintenance_work_mem")
                self._postgres.login.limit_statements(connection)
        return True

    def reindex(self) -> None:
        with self._postgres.write() as db:
            db.execute("DELETE FROM embeddings")
            self._copy(db, "TRUE")

    def drop_index(self, model: int) -> None:
        with self._postgres.write() as db:
            db.execute(f"DROP INDEX IF EXISTS {_index(model)}")

    def _nearest_chunks(
        self,
        db: Session,
        query: VectorQuery,
        model: tuple[int, int],
        fetch: int,
        *,
        by_index: bool,
    ) -> list[tuple[int, int, bytes]]:
        """Return memory, ordinal and stored vector of the nearest chunks; an index may return too few."""
        condition, arguments = where(query.scope, self._postgres)
        # The inner product of unit vectors is the cosine.
        # pgvector refuses to compare a copy of another width; its index has none.
        width = "" if by_index else f" AND vector_dims(e.v) = {model[1]}"
        statement = (
            f"SELECT e.vector FROM embeddings AS e JOIN memories AS m ON m.n = e.memory"
            f" WHERE e.model = {model[0]}{width} AND {condition} ORDER BY "
        )
        if by_index:
            # A second sort key would keep Postgres from using the index.
            kind = _indexed_as(model[1])
            statement += f"e.v::{kind} <#> ?::{kind} LIMIT ?"
        else:  # not the expression of the index, so that Postgres cannot use it
            statement += "e.v <#> ?::vector, e.vector LIMIT ?"
        db.settle()
        with db.connection.transaction():
            if by_index:
                db.execute(f"SET LOCAL hnsw.ef_search = {_EF_SEARCH}")
                db.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                db.execute("SET LOCAL enable_seqscan = off")
            given = (*arguments, _vector_text(query.vector), fetch)
            nearest = [n for (n,) in db.execute(statement, given)]
        return self._rows_in(
            "SELECT c.memory, c.ordinal, v.vector FROM vectors AS v"
            " JOIN chunks AS c ON c.n = v.chunk WHERE v.n IN ({values})",
            nearest,
        )

    def _prepare(self) -> None:
        from psycopg import errors

        row = self._row("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        version = None if row is None else tuple(map(int, row[0].split(".")[:2]))
        (exists,) = self._row("SELECT to_regclass('embeddings') IS NOT NULL")
        if version is not None and version < MIN_VERSION:
            raise StoreError(
                f"{self._postgres.path} has pgvector {'.'.join(map(str, version))}; scrubjay needs"
                f" {'.'.join(map(str, MIN_VERSION))} or newer: ALTER EXTENSION vector UPDATE"
            )
        if version is None or not exists:
            with self._postgres.write() as db:
                try:
                    db.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
                    db.settle()
                except (
                    errors.UndefinedFile,
                    errors.FeatureNotSupported,
                    errors.InsufficientPrivilege,
                ) as error:
                    raise StoreError(
                        f"{self._postgres.path} has no pgvector ({' '.join(str(error).split())});"
                        " install it on the server and have a superuser run: CREATE EXTENSION vector;"
                        " or store the vectors in Qdrant: --vectors qdrant://host:6333/notes"
                    ) from error
                db.execute(
                    "CREATE TABLE IF NOT EXISTS embeddings (vector BIGINT PRIMARY KEY REFERENCES"
                    " vectors ON DELETE CASCADE, model BIGINT NOT NULL, memory BIGINT NOT NULL,"
                    " v public.vector NOT NULL)"
                )
                # Until a new table is analyzed, Postgres expects hardly any rows: without this index
                # it compared every memory with every vector.
                db.execute(
                    "CREATE INDEX IF NOT EXISTS embeddings_of_memories ON embeddings (memory)"
                )
        vectors, copied = self._row(
            "SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM embeddings)"
        )
        if vectors != copied:
            with self._postgres.write() as db:
                self._copy(db, "NOT EXISTS (SELECT 1 FROM embeddings WHERE vector = v.n)")

    def differing(self) -> list[tuple[int, str]]:
        """Return the vectors whose copy in pgvector is missing or different, with the ids of memories."""
        import numpy as np

        codec, found, after = self._postgres.codec, [], 0
        while batch := self._rows(
            "SELECT v.n, m.id, v.vector, o.dims, vector_send(e.v) FROM vectors AS v"
            " JOIN models AS o ON o.n = v.model JOIN chunks AS c ON c.n = v.chunk"
            " JOIN memories AS m ON m.n = c.memory LEFT JOIN embeddings AS e ON e.vector = v.n"
            " WHERE v.n > ? ORDER BY v.n LIMIT ?",
            (after, _BATCH),
        ):
            after = batch[-1][0]
            for n, id_, stored, dims, sent in batch:
                vector = vector_of(codec, stored, dims)
                copy = b"" if sent is None else bytes(sent)[_SENT_HEADER_BYTES:]
                if vector is not None and not np.array_equal(np.frombuffer(copy, ">f4"), vector):
                    found.append((n, id_))
        return found

    def _copy(self, db: Session, which: str) -> None:
        """Copy vectors to pgvector; those that are damaged stay out, so every opening finds them."""
        codec = self._postgres.codec
        after = 0
        while batch := db.execute(
            "SELECT v.n, v.model, c.memory, v.vector, m.dims FROM vectors AS v"
            " JOIN models AS m ON m.n = v.model"
            f" JOIN chunks AS c ON c.n = v.chunk WHERE v.n > ? AND {which} ORDER BY v.n LIMIT ?",
            (after, _BATCH),
        ).fetchall():
            after = batch[-1][0]
            read = [(*row[:3], vector_of(codec, row[3], row[4])) for row in batch]
            self._suspects.update(memory for _, _, memory, vector in read if vector is None)
            db.executemany(
                "INSERT INTO embeddings (vector, model, memory, v) VALUES (?, ?, ?, ?::vector)",
                [(*numbers, _vector_text(v)) for *numbers, v in read if v is not None],
            )
            if len(batch) < _BATCH:
                break

    def _indexed(self, model: int) -> bool:
        row = self._row(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)", (_index(model),)
        )
        return bool(row and row[0])


def _index(model: int) -> str:
    return f"embeddings_of_model_{model}"


def _indexed_as(dims: int) -> str:
    return f"vector({dims})" if dims <= _MAX_WHOLE_DIMS else f"halfvec({dims})"


def _vector_text(vector: NDArray[np.float32]) -> str:
    return "[" + ",".join(map(repr, vector.astype("float64").tolist())) + "]"

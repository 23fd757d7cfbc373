"""Vector search by pgvector: exact in a small store, by an HNSW index in a large one.

pgvector lists the nearest chunks; their cosines are then computed from the float32 values of the table
`vectors`, so they are the same as in any other store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from scrubjay.errors import StoreError
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.postgres.session import Session
from scrubjay.storage.sql.scope import in_parts, where
from scrubjay.storage.sql.vectors import Best, SqlVectors, check_positive, with_ties
from scrubjay.types import RankedList, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Up to here every vector is compared: that takes about as long as the index, and misses none.
MAX_EXACT = 50_000
# HNSW indexes at most this many dimensions; more as half floats.
_MAX_WHOLE_DIMS, _MAX_HALF_DIMS = 2_000, 4_000
MIN_VERSION = (0, 8)  # before it, an index with a filter returned too few results
_BATCH = 500
_EF_SEARCH = 400
_INDEXING_MB = 512
_ROUNDS = 6


class PostgresVector(SqlVectors):
    """The vectors of one schema, for any number of models."""

    def __init__(self, db: PostgresDatabase) -> None:
        super().__init__(db)
        self._postgres = db
        self._prepare()

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
        check_positive("shortlist", shortlist)
        check_positive("short_dims", short_dims)
        if scope.ids is not None:
            return RankedList("vector", tuple(self._of_scope(vector, model, scope)[:limit]))
        with self._postgres.read() as db:
            row = db.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is None:
                return RankedList("vector")
            fetch, by_index = 2 * limit + 16, False
            if self._indexed(db, row[0]):
                by_index = scope.everything or not self._are_few(scope)
            for _ in range(_ROUNDS):
                best: Best = {}
                found = self._nearest(db, vector, row, scope, fetch, by_index=by_index)
                if by_index and len(found) < fetch:
                    # pgvector reads no more than 20,000 vectors of its index, whether or not the scope
                    # has any of those: a small namespace of a large store was not found.
                    by_index = False
                    found = self._nearest(db, vector, row, scope, fetch, by_index=False)
                self._keep_best(best, vector, found)
                kept = with_ties(best, limit)
                # All ties of the last are needed: age and id decide between them.
                if len(found) < fetch or len(kept) < len(best):
                    break
                fetch *= 4
            rows = self._named(db, kept, scope)
        return RankedList("vector", tuple(rows[:limit]))

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
        with self._postgres.read() as db:
            row = db.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
            if row is None or row[1] > _MAX_HALF_DIMS or self._indexed(db, row[0]):
                return False
            (count,) = db.execute(
                "SELECT count(*) FROM (SELECT 1 FROM embeddings WHERE model = ? LIMIT ?)",
                (row[0], MAX_EXACT + 1),
            ).fetchone()
            return bool(count > MAX_EXACT)

    def fit(
        self, model: str, prefixes: Sequence[int], stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Create the index of a model's vectors if that is due; others read and write meanwhile."""
        if not self.fit_is_due(model, prefixes):
            return False
        with self._postgres.read() as db:
            n, dims = db.execute("SELECT n, dims FROM models WHERE name = ?", (model,)).fetchone()
            connection = db.connection
            connection.execute("SET statement_timeout = 0")
            # With the usual 64 MB, the index of 100,000 vectors does not fit, and takes far longer.
            connection.execute(cast("Any", f"SET maintenance_work_mem = '{_INDEXING_MB}MB'"))
            try:
                connection.execute(cast("Any", f"DROP INDEX IF EXISTS {_index(n)}"))
                connection.execute(
                    cast(
                        "Any",
                        f"CREATE INDEX CONCURRENTLY {_index(n)} ON embeddings USING hnsw"
                        f" ((v::{_indexed_as(dims)}) {_indexed_as(dims).partition('(')[0]}_ip_ops)"
                        f" WHERE model = {n}",
                    )
                )
            finally:
                connection.execute("RESET maintenance_work_mem")
                self._postgres.login.limit_statements(connection)
        return True

    def reindex(self) -> None:
        with self._postgres.write() as db:
            db.execute("DELETE FROM embeddings")
            self._copy(db, "TRUE")

    def _nearest(
        self,
        db: Session,
        vector: NDArray[np.float32],
        model: tuple[int, int],
        scope: Scope,
        fetch: int,
        *,
        by_index: bool,
    ) -> list[tuple[int, int, bytes]]:
        """Return memory, ordinal and stored vector of the nearest chunks; an index may return too few."""
        condition, arguments = where(scope, self._postgres)
        query = _vector_text(vector)
        # The inner product of unit vectors is the cosine.
        statement = (
            f"SELECT e.vector FROM embeddings AS e JOIN memories AS m ON m.n = e.memory"
            f" WHERE e.model = {model[0]} AND {condition} ORDER BY "
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
            nearest = [n for (n,) in db.execute(statement, (*arguments, query, fetch))]
        found: list[tuple[int, int, bytes]] = []
        for several, part in in_parts(nearest):
            found += db.execute(
                "SELECT c.memory, c.ordinal, v.vector FROM vectors AS v"
                f" JOIN chunks AS c ON c.n = v.chunk WHERE v.n IN ({several})",
                part,
            ).fetchall()
        return found

    def _prepare(self) -> None:
        from psycopg import errors

        with self._postgres.read() as db:
            version = _version(db)
            exists = db.execute("SELECT to_regclass('embeddings') IS NOT NULL").fetchone()[0]
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
        with self._postgres.read() as db:
            vectors, copied = db.execute(
                "SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM embeddings)"
            ).fetchone()
        if vectors != copied:
            with self._postgres.write() as db:
                self._copy(db, "NOT EXISTS (SELECT 1 FROM embeddings WHERE vector = v.n)")

    def _copy(self, db: Session, which: str) -> None:
        import numpy as np

        unseal = self._postgres.codec.unseal_vector
        after = 0
        while batch := db.execute(
            "SELECT v.n, v.model, c.memory, v.vector FROM vectors AS v"
            f" JOIN chunks AS c ON c.n = v.chunk WHERE v.n > ? AND {which} ORDER BY v.n LIMIT ?",
            (after, _BATCH),
        ).fetchall():
            after = batch[-1][0]
            db.executemany(
                "INSERT INTO embeddings (vector, model, memory, v) VALUES (?, ?, ?, ?::vector)",
                [
                    (n, model, memory, _vector_text(np.frombuffer(unseal(stored), "<f4")))
                    for n, model, memory, stored in batch
                ],
            )
            if len(batch) < _BATCH:
                break

    def _indexed(self, db: Session, model: int) -> bool:
        row = db.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)", (_index(model),)
        ).fetchone()
        return bool(row and row[0])


def _index(model: int) -> str:
    return f"embeddings_of_model_{model}"


def _indexed_as(dims: int) -> str:
    return f"vector({dims})" if dims <= _MAX_WHOLE_DIMS else f"halfvec({dims})"


def _vector_text(vector: NDArray[np.float32]) -> str:
    return "[" + ",".join(map(repr, vector.astype("float64").tolist())) + "]"


def _version(db: Session) -> tuple[int, ...] | None:
    row = db.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return None if row is None else tuple(map(int, row[0].split(".")[:2]))

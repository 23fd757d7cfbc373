"""Vectors found by Qdrant and judged by the truth.

The server lists the nearest points of what a scope may see, as far as it knows; the truth says which of
these are really there and seen, and scores them by their float32 values, exactly as it does alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.storage.qdrant.client import NotThere, load
from scrubjay.storage.replicas.breaker import Breaker
from scrubjay.storage.replicas.outbox import SqlOutbox
from scrubjay.storage.sql.vectors import Best, SqlVectors, check_positive
from scrubjay.types import RankedList, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from qdrant_client.http.models import QueryRequest, SearchParams

    from scrubjay.storage.database import Database
    from scrubjay.storage.qdrant.client import QdrantServer

MOST_EXACT = 20_000  # vectors of a store that are compared one by one
_HNSW_EF = 256
_OVERSAMPLING = 2.0
_ROUNDS = 4
_FARTHER = 6  # times as many points as in the round before
_MOST_POINTS = 10_000
_SPARE_POINTS = 32
_BLUR = 1e-5  # by so much may the server's float32 cosines be off


def _nothing() -> None:
    pass


class _Point(NamedTuple):
    id: str
    ordinal: int
    score: float


class QdrantVectors(SqlVectors):
    """The vectors of one store, for any number of models, with a server that finds them."""

    def __init__(self, db: Database, server: QdrantServer) -> None:
        super().__init__(db)
        self._server = server
        self._store = SqlOutbox(db).store()
        self.breaker = Breaker("vectors", server.ping)
        self.on_loss: Callable[[], None] = _nothing

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

        The server makes a shortlist of its own, so none is made by short vectors.
        """
        check_positive("shortlist", shortlist)
        check_positive("short_dims", short_dims)
        if limit < 1:
            return RankedList("vector")
        if scope.ids is not None or (scope.holds and self._are_few(scope)):
            rows = self._of_scope(vector, model, scope)
        else:
            rows = self._found(vector, model, scope, limit)
        return RankedList("vector", tuple(rows[:limit]))

    def is_current(self) -> bool:
        """True when the server was told of every vector."""
        with self._db.read() as db:
            statement = "SELECT 1 FROM outbox WHERE tier = 'vectors' LIMIT 1"
            return db.execute(statement).fetchone() is None

    def close(self) -> None:
        """Stop asking whether the server is back; its connections are closed by whoever opened them."""
        self.breaker.close()

    def _found(
        self, vector: NDArray[np.float32], model: str, scope: Scope, limit: int
    ) -> list[Row]:
        with self._db.read() as db:
            known = db.execute("SELECT dims FROM models WHERE name = ?", (model,)).fetchone()
        if known is None:
            return []
        load()
        from qdrant_client.http.models import QueryRequest

        from scrubjay.storage.qdrant.filter import filter_of

        name = self._server.collection(model, known[0])
        seen = filter_of(scope, self._store, self._db)
        if seen is None:
            return []
        params = self._params()
        most = max(_MOST_POINTS, limit + _SPARE_POINTS)
        wanted = min(2 * limit + _SPARE_POINTS, most)
        rows: list[Row] = []
        for _ in range(_ROUNDS):
            request = QueryRequest(
                query=vector.tolist(),
                filter=seen,
                params=params,
                limit=wanted,
                with_payload=["id", "ordinal"],
            )
            points = self.breaker.call(partial(self._listed, name, known[0], request))
            if points is None:
                return self._lost(model)
            rows = self._judged(vector, model, scope, points)
            if len(points) < wanted:
                return rows
            # What ties with the last row may be among the points that were not listed.
            if len(rows) >= limit and points[-1].score < rows[limit - 1].score - _BLUR:
                return rows
            wanted = min(wanted * _FARTHER, most)
        # Nearly all that is near cannot be seen, for a reason that the server does not know.
        return rows if len(rows) >= limit else self._of_scope(vector, model, scope)

    def _lost(self, model: str) -> list[Row]:
        """Say that the server has no vectors of a model; where there are none at all, that is right."""
        with self._db.read() as db:
            some = db.execute(
                "SELECT 1 FROM vectors WHERE model = (SELECT n FROM models WHERE name = ?) LIMIT 1",
                (model,),
            ).fetchone()
        if some is None:
            return []
        self.on_loss()
        raise Unavailable(
            f"{self._server.address.shown} has no vectors of this store, which may be on their way;"
            " if it stays so, run: scrubjay reindex vectors"
        )

    def _listed(self, name: str, dims: int, request: QueryRequest) -> list[_Point] | None:
        """Return the nearest points, best first; None where the server has no collection of them."""
        try:
            if not self._server.has(name, dims):
                return None
            found = self._server.ask(
                lambda apis: apis.search_api.query_points(name, query_request=request)
            )
        except NotThere:  # somebody has deleted the collection meanwhile
            self._server.forget(name)
            return None
        return [
            _Point(point.payload["id"], point.payload["ordinal"], point.score)
            for point in (found.result.points if found.result is not None else ())
            if point.payload is not None
        ]

    def _judged(
        self, vector: NDArray[np.float32], model: str, scope: Scope, points: Sequence[_Point]
    ) -> list[Row]:
        """Return what the truth has of these points and the scope may see, by its own cosines."""
        best: Best = {}
        with self._db.read() as db:
            places = [(point.id, point.ordinal) for point in points]
            self._keep_best(best, vector, self._at(db, model, places))
            return self._named(db, best, scope)

    def _params(self) -> SearchParams:
        """Return how the server is to search: one by one while there are few vectors."""
        from qdrant_client.http.models import QuantizationSearchParams, SearchParams

        if self._counted("vectors", "TRUE", (), MOST_EXACT) <= MOST_EXACT:
            return SearchParams(exact=True)
        return SearchParams(
            hnsw_ef=_HNSW_EF,
            quantization=QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING),
        )

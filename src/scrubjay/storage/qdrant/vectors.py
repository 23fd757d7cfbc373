"""Vector search by Qdrant, checked and scored by the database.

The server lists the nearest points that a scope may see, as far as its payload shows. The database
drops those that were deleted or may not be seen, and scores the rest by its own float32 vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.storage.database import Database
from scrubjay.storage.model_switch import IS_REFILLING
from scrubjay.storage.qdrant.client import NoCollection, QdrantServer, import_client
from scrubjay.storage.replicas.breaker import Breaker
from scrubjay.storage.replicas.outbox import VECTORS, Outbox
from scrubjay.storage.sql.vectors import MAIN, WHOLE, Best, Nearest, SqlVectors, VectorQuery
from scrubjay.types import Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from qdrant_client.http.models import QueryRequest, SearchParams

MAX_EXACT = 20_000  # vectors of a store that the server compares one by one
_HNSW_EF = 256
_OVERSAMPLING = 2.0
_ROUNDS = 4
_ROUND_FACTOR = 6  # each round fetches this many times more points
_MAX_POINTS = 10_000
_SPARE_POINTS = 32
_LARGE_S = (
    60.0  # how long a store is taken to have more than MAX_EXACT vectors, once it was seen to
)
_ROUNDING = 1e-5  # by how much the server's float32 cosines may be off


class _Point(NamedTuple):
    id: str
    ordinal: int
    score: float


class QdrantVectors(SqlVectors):
    """The vectors of one store, searched by a server."""

    def __init__(self, db: Database, server: QdrantServer) -> None:
        super().__init__(db)
        self._server = server
        self._store = Outbox(db).store_id()
        self.breaker = Breaker(VECTORS, server.ping)
        self.on_loss: Callable[[], None] = lambda: None
        self._large_until_s = 0.0

    def is_current(self) -> bool:
        return self._row("SELECT 1 FROM outbox WHERE tier = 'vectors' LIMIT 1") is None

    def close(self) -> None:
        self.breaker.close()

    def _nearest(self, query: VectorQuery) -> Nearest:
        """Search on the server, which has no use for a shortlist and short vectors."""
        vector, model, scope, limit = query[:4]
        if scope.holds and self._are_few(scope):
            return self._of_scope(vector, model, scope)
        known = self._row(
            f"SELECT dims, role, {IS_REFILLING} FROM models WHERE name = ?", (model,)
        )
        if known is None:
            return Nearest([], WHOLE)
        if known[1] != MAIN or known[2]:  # the server has no copy of those, or not yet
            return self._db.vectors._nearest(query)
        import_client()
        from qdrant_client.http.models import QueryRequest

        from scrubjay.storage.qdrant.filter import filter_of

        name = self._server.collection_name(model, known[0])
        scope_filter = filter_of(scope, self._store, self._db)
        if scope_filter is None:
            return Nearest([], WHOLE)
        params = self._params()
        compared = WHOLE if params.exact else "whole vectors that the server listed"
        max_points = max(_MAX_POINTS, limit + _SPARE_POINTS)
        wanted = min(2 * limit + _SPARE_POINTS, max_points)
        rows: list[Row] = []
        for _ in range(_ROUNDS):
            request = QueryRequest(
                query=vector.tolist(),
                filter=scope_filter,
                params=params,
                limit=wanted,
                with_payload=["id", "ordinal"],
            )
            points = self.breaker.call(partial(self._query, name, known[0], request))
            if points is None:
                self._check_none_stored(model)
                return Nearest([], WHOLE)
            rows = self._checked(vector, model, scope, points)
            if len(points) < wanted:
                return Nearest(rows, compared)
            # Ties with the last row may be among the points that were not listed.
            if len(rows) >= limit and points[-1].score < rows[limit - 1].score - _ROUNDING:
                return Nearest(rows, compared)
            wanted = min(wanted * _ROUND_FACTOR, max_points)
        if len(rows) >= limit:
            return Nearest(rows, compared)
        # The scope hides nearly all that is near, for a reason that the server does not store.
        return self._of_scope(vector, model, scope)

    def _check_none_stored(self, model: str) -> None:
        """Raise Unavailable when the server lacks a model's vectors."""
        stored = (
            "SELECT 1 FROM vectors WHERE model = (SELECT n FROM models WHERE name = ?) LIMIT 1"
        )
        if self._row(stored, (model,)) is None:
            return
        self.on_loss()
        raise Unavailable(
            f"{self._server.address.shown} has no vectors of this store; they may still be on their"
            " way: if this error stays, run: scrubjay reindex vectors"
        )

    def _query(self, name: str, dims: int, request: QueryRequest) -> list[_Point] | None:
        """Return the nearest points, best first; None when the collection does not exist."""
        try:
            if not self._server.has_collection(name, dims):
                return None
            found = self._server.call(
                lambda apis: apis.search_api.query_points(name, query_request=request)
            )
        except NoCollection:  # it was deleted meanwhile
            self._server.forget_collection(name)
            return None
        return [
            _Point(point.payload["id"], point.payload["ordinal"], point.score)
            for point in (found.result.points if found.result is not None else ())
            if point.payload is not None
        ]

    def _checked(
        self, vector: NDArray[np.float32], model: str, scope: Scope, points: Sequence[_Point]
    ) -> list[Row]:
        """Return those of the points that are stored and in scope, scored by the database."""
        best: Best = {}
        with self._db.read():
            places = [(point.id, point.ordinal) for point in points]
            self._keep_best(best, vector, self._at(model, places))
            return self._named(best, scope)

    def _params(self) -> SearchParams:
        from qdrant_client.http.models import QuantizationSearchParams, SearchParams

        if not self._is_large():
            return SearchParams(exact=True)
        return SearchParams(
            hnsw_ef=_HNSW_EF,
            quantization=QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING),
        )

    def _is_large(self) -> bool:
        """True when the store has more than MAX_EXACT vectors. Not looked up in each search: the
        database walks over as many rows."""
        now_s = time.monotonic()
        if now_s >= self._large_until_s:
            beyond = self._row("SELECT 1 FROM vectors LIMIT 1 OFFSET ?", (MAX_EXACT,))
            self._large_until_s = now_s + _LARGE_S if beyond is not None else 0.0
        return now_s < self._large_until_s

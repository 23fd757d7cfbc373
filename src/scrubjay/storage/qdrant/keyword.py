"""Keyword search in Postgres with candidates from Qdrant: the server lists, Postgres scores.

The server's scores are never below those of Postgres, so a list is long enough when its last score is below
that of the last result: then the results are those of a search in Postgres alone. What the server cannot
list (phrases, beginnings of words, heavier fields) or does not have, Postgres searches alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.storage.database import Clause
from scrubjay.storage.postgres import cover_density
from scrubjay.storage.postgres.keyword import (
    ALL,
    MAX_CACHED,
    Asked,
    Counts,
    PostgresKeyword,
    Ranked,
    Run,
)
from scrubjay.storage.postgres.matching import Matching, weight_of
from scrubjay.storage.postgres.words import split
from scrubjay.storage.qdrant.client import (
    BM25,
    COVER_DENSITY,
    NoCollection,
    QdrantServer,
    import_client,
)
from scrubjay.storage.qdrant.keyword_replica import MEAN_LENGTH, sparse
from scrubjay.storage.qdrant.sparse import asking_bm25, asking_cover_density
from scrubjay.storage.replicas.outbox import EVERYTHING, WORDS, Outbox
from scrubjay.storage.sql.keyword_index import Indexed, indexed
from scrubjay.storage.sql.keyword_ranking import FIELDS, K1, KeywordQuery
from scrubjay.types import RankedList, Scope, Term

if TYPE_CHECKING:
    from qdrant_client.http.models import Filter, QueryRequest

    from scrubjay.storage.codec import Codec
    from scrubjay.storage.database import Connection, Database
    from scrubjay.storage.qdrant.sparse import Sparse
    from scrubjay.storage.replicas.breaker import Breaker

_SPARE = 32
_ROUNDS = 3
_ROUND_FACTOR = 8  # each round fetches this many times more candidates
_MAX_CANDIDATES = 10_000
_MAX_WAITING = 1_000  # memories that the server does not have yet, all of which are candidates
_MIN_WEIGHT = 0.001  # of a field: with less, a memory may contain a term and score nothing
_ROUNDING = 1e-5  # the server's scores have four bytes
_CLOSE = 2e-6  # scores that differ by less may be equal
# Counting how many memories contain a term takes longer than ranking them. In a large store the counts
# of before are used again for some time: scores then differ in the third figure.
_LARGE = 10_000
_MAX_GROWTH = 0.01
_MAX_AGE_S = 60.0


# What waits for the server, and the mean length of its vectors, in one round trip.
_WAITING = (
    f"SELECT o.id, m.n, (SELECT value FROM meta WHERE key = '{MEAN_LENGTH}')"
    f" FROM projections AS p LEFT JOIN (SELECT tier, id FROM outbox WHERE tier = '{WORDS}'"
    " ORDER BY n LIMIT ?) AS o ON o.tier = p.tier LEFT JOIN memories AS m ON m.id = o.id"
    f" WHERE p.tier = '{WORDS}' AND p.place = ?"
)


class _Listed(NamedTuple):
    """What the server lists: numbers of memories, and the highest score of any that it does not list."""

    numbers: list[int]
    beyond: float


class _Old(NamedTuple):
    """Counts of terms, with the size of the index and the time when they were begun."""

    size: Indexed
    since_s: float
    counted: dict[tuple[str | None, Term | None], int]

    def is_usable(self, index: Indexed, now_s: float) -> bool:
        if len(self.counted) > MAX_CACHED:
            return False
        if self.size.commit == index.commit:
            return True
        growth = abs(index.memories - self.size.memories)
        is_close = index.memories > _LARGE and growth <= _MAX_GROWTH * index.memories
        return is_close and now_s - self.since_s < _MAX_AGE_S


class _Search(NamedTuple):
    """A search, with the mean length of now where scores depend on it."""

    matching: Matching
    scope: Scope
    weights: Mapping[str, float]
    limit: int
    mean: float | None = None


class _Waiting(NamedTuple):
    """Memories that the server does not have as they are, and the mean length of its vectors."""

    numbers: list[int]
    mean: float


class QdrantKeyword(PostgresKeyword):
    """The keyword index of one schema, with candidates from a server."""

    def __init__(self, db: Database, server: QdrantServer, breaker: Breaker) -> None:
        super().__init__(db)
        self._server = server
        self._store = Outbox(db).store_id()
        self._breaker = breaker
        self._old: _Old | None = None
        self.on_loss: Callable[[], None] = lambda: None

    def _counts(self, db: Connection) -> Counts:
        if self._db.in_write:
            return super()._counts(db)
        index, now_s = indexed(db), time.monotonic()
        old = self._old
        if old is None or not old.is_usable(index, now_s):
            old = self._old = _Old(index, now_s, {})
        return Counts(db, self._db, old.size, old.counted)

    def _rank_elsewhere(
        self,
        asked: Asked,
        query: KeywordQuery,
        terms: Sequence[Term],
        runs: Sequence[Run],
        *,
        each_form: bool,
    ) -> list[Ranked] | None:
        weights: dict[str, float] = {}
        for run in runs:
            token = single_token(run.tokens, self._db.codec)
            if token is None:
                return None
            weights[token] = weights.get(token, 0.0) + run.idf
        wanted = len(terms) if query.every_first else len(terms) + 1  # more than any contains
        # More than all terms together can add: those with most terms come first in this list.
        each = 2.0 * (K1 + 1) * sum(weights.values()) + 1.0
        queries = [asking_bm25(weights)]
        if 1 < wanted <= len(terms):
            queries.append(asking_bm25(weights, each))
        rows: list[Ranked] = []

        def is_enough(numbers: Sequence[int], beyond: Sequence[float], factor: float) -> bool:
            candidates = _candidates(asked.matching, numbers)
            rows[:] = [
                row
                for row in asked.bm25.score(runs, candidates, ALL, each_form=each_form)
                if row[2]
            ]
            highest = beyond[0] * factor
            of_complete = max(beyond[-1] * (1 + _ROUNDING) - each * wanted, 0.0) * factor
            return _is_decided(rows, query.limit, wanted, highest, min(highest, of_complete))

        search = _Search(asked.matching, query.scope, query.weights, query.limit, asked.bm25.mean)
        return rows if self._search(search, queries, BM25, is_enough) else None

    def _cover_density_elsewhere(
        self,
        matching: Matching,
        terms: Sequence[Term],
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> RankedList | None:
        runs = [run for term in terms for run in term.any_of]
        tokens = [single_token(run, self._db.codec) for run in runs]
        single = [token for token in tokens if token is not None]
        if len(single) < len(tokens) or not tokens:
            return None
        found: list[RankedList] = []

        def is_enough(numbers: Sequence[int], beyond: Sequence[float], factor: float) -> bool:
            ranked = cover_density.rank(
                matching, terms, weights, limit, _candidates(matching, numbers)
            )
            rows = tuple(row for row in ranked.rows if row.score > 0)
            found[:] = [ranked._replace(rows=rows)]
            last = rows[limit - 1].score if len(rows) == limit else 0.0
            return not beyond[0] or beyond[0] * factor < last - _CLOSE

        search = _Search(matching, scope, weights, limit)
        queries = [asking_cover_density(single)]
        return found[0] if self._search(search, queries, COVER_DENSITY, is_enough) else None

    def _search(
        self,
        search: _Search,
        queries: Sequence[Sparse],
        using: str,
        is_enough: Callable[[Sequence[int], Sequence[float], float], bool],
    ) -> bool:
        """Ask for more candidates until there are enough; False when Postgres must search alone."""
        of_fields = [weight_of(field, search.weights) for field in FIELDS]
        if self._db.in_write or max(of_fields) > 1 or min(of_fields) < _MIN_WEIGHT:
            return False
        waiting = self._waiting(search.matching.db)
        if waiting is None:
            return False
        import_client()
        from scrubjay.storage.qdrant.filter import filter_of

        which = filter_of(search.scope, self._store, self._db)
        if which is None:
            return False
        # Of a longer mean length, every memory is shorter, and its score higher.
        factor = max(1.0, (search.mean or 0.0) / waiting.mean) * (1 + _ROUNDING)
        size = min(2 * search.limit + _SPARE, _MAX_CANDIDATES)
        for _ in range(_ROUNDS):
            try:
                lists = self._breaker.call(partial(self._lists, queries, using, which, size))
            except Unavailable:
                return False
            if lists is None:
                self.on_loss()
                return False
            numbers = dict.fromkeys(n for one in lists for n in one.numbers)
            numbers.update(dict.fromkeys(waiting.numbers))
            if is_enough([*numbers], [one.beyond for one in lists], factor):
                return True
            if size == _MAX_CANDIDATES:
                return False
            size = min(size * _ROUND_FACTOR, _MAX_CANDIDATES)
        return False

    def _waiting(self, db: Connection) -> _Waiting | None:
        """Return what the server lacks; None when it is too much, or when it has nothing yet."""
        rows = db.execute(_WAITING, (_MAX_WAITING + 1, self._server.address.shown)).fetchall()
        if not 0 < len(rows) <= _MAX_WAITING or any(id_ == EVERYTHING for id_, *_ in rows):
            return None
        mean = rows[0][2]
        numbers = list(dict.fromkeys(n for _, n, _ in rows if n is not None))
        return _Waiting(numbers, mean / 1000) if mean else None

    def _lists(
        self, queries: Sequence[Sparse], using: str, which: Filter, size: int
    ) -> list[_Listed] | None:
        """Return a list for each query, best first; None when the collection does not exist."""
        from qdrant_client.http.models import QueryRequest, QueryRequestBatch

        name = self._server.words_collection_name()
        requests: list[QueryRequest] = [
            QueryRequest(
                query=sparse(query), using=using, filter=which, limit=size, with_payload=["n"]
            )
            for query in queries
        ]
        try:
            if not self._server.has_collection(name, None):
                return None
            batch = QueryRequestBatch(searches=requests)
            found = self._server.call(
                lambda apis: apis.search_api.query_batch_points(name, query_request_batch=batch)
            )
        except NoCollection:  # it was deleted meanwhile
            self._server.forget_collection(name)
            return None
        return [
            _Listed(
                [(point.payload or {})["n"] for point in part.points],
                part.points[-1].score if len(part.points) == size else 0.0,
            )
            for part in found.result or ()
        ]


def single_token(run: Sequence[str], codec: Codec) -> str | None:
    """Return the token that a run consists of, as it is indexed; None for a phrase or a beginning."""
    if len(run) != 1 or (len(run[0]) > 1 and run[0].endswith("*")):
        return None
    tokens = split(codec.token(run[0]))
    return tokens[0] if len(tokens) == 1 else None


def _candidates(matching: Matching, numbers: Sequence[int]) -> Clause:
    sql = f"w.memory = ANY(?::bigint[]){matching.scope.sql}"
    return Clause(sql, (list(numbers), *matching.scope.arguments))


def _is_decided(
    rows: Sequence[Ranked], limit: int, wanted: int, beyond: float, complete_beyond: float
) -> bool:
    """True when no other memory can be among the first `limit`, or tie with the last of them.

    Memories with every term are first. Of the others, none has a score above `beyond`; if it has
    every term, none above `complete_beyond`.
    """
    if not beyond:
        return True  # all that match are listed
    if len(rows) < limit:
        return False
    places = sorted(((held >= wanted, score) for _, score, held in rows), reverse=True)
    is_complete, last = places[limit - 1]
    if is_complete:
        return complete_beyond < last - _CLOSE
    return not complete_beyond and beyond < last - _CLOSE

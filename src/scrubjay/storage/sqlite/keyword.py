"""Keyword search over our own postings, ranked by BM25.

In a large store the best memories are found by MaxScore: the rarest terms first, until no memory that only
holds the others can be among the best. A scope is checked from the best memory on, or, where it selects
little, before ranking.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.database import Clause, Connection, Database
from scrubjay.storage.sql import keyword_ranking as ranking
from scrubjay.storage.sql.scope import EVERYTHING, in_parts, where
from scrubjay.storage.sqlite.errors import is_damage
from scrubjay.storage.sqlite.fts5 import keyword as fts5
from scrubjay.storage.sqlite.postings.arithmetic import Arithmetic, Numbers, Plain, Ranked
from scrubjay.storage.sqlite.postings.blocks import DamagedBlock
from scrubjay.storage.sqlite.postings.cache import Cache
from scrubjay.storage.sqlite.postings.lookup import OWN, Lookup, TokenList
from scrubjay.storage.sqlite.postings.migration import is_filled
from scrubjay.storage.sqlite.postings.runs import Run
from scrubjay.types import RankedList, Scope, Term

_FEW = 300  # postings: lists are faster than arrays
_LARGE = 400_000  # postings: reading them takes longer than loading numpy
_EXTRA = 16  # memories beyond the limit: some may not be visible
_MANY_VISIBLE = 0.2  # of the best: then the rest is checked as it is needed, too

_Run = tuple[Run, float]  # with its weight


class SqliteKeyword(ranking.KeywordIndex):
    """The keyword index of one file."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._cache: Cache[TokenList] = Cache()

    def search(
        self,
        terms: Sequence[Term],
        scope: Scope,
        limit: int,
        weights: Mapping[str, float],
        *,
        every_first: bool = True,
    ) -> RankedList:
        with self._db.one_state():
            return super().search(terms, scope, limit, weights, every_first=every_first)

    def _score(self, db: Connection, query: ranking.KeywordQuery) -> ranking.Scored:
        try:
            if not is_filled(db):
                return fts5.score(self._db, db, query)
            if self._db.in_write:
                self._db.write_gathered()
            return self._ranked(db, query)
        except (sqlite3.DatabaseError, DamagedBlock) as error:
            if not isinstance(error, DamagedBlock) and not is_damage(error):
                raise
            # It is derived from the memories: other sources can still find them.
            raise Unavailable(
                f"the keyword index is damaged; run: {to_type('doctor --repair', self._db.path)}"
            ) from error

    def _ranked(self, db: Connection, query: ranking.KeywordQuery) -> ranking.Scored:
        lookup = self._lookup(db, query.terms, query.weights)
        visible = _Visible(db, lookup.arithmetic, *where(query.scope, self._db))

        def finds(term: Term) -> bool:
            return visible.any_of(lookup.numbers(term.any_of))

        terms = ranking.parts_of_the_unknown(finds, query.terms)
        held = [lookup.held_by(term) for term in terms]
        few = sum(held) <= ranking.MANY or not ranking.selects(query.scope)
        reader = query.scope.reader if few else None
        if reader is not None or lookup.memories <= ranking.SMALL_STORE:
            idfs = self._own_idfs(db, lookup, terms, held, reader)
            return _score_small(lookup, terms, idfs, visible)
        return _score_large(lookup, terms, held, query, visible)

    def _own_idfs(
        self,
        db: Connection,
        lookup: Lookup,
        terms: Sequence[Term],
        held: Sequence[int],
        reader: str | None,
    ) -> list[float]:
        """Return the weights of terms in a small store, or among the memories that a user may see.

        Counted over the whole file, the scores of a user's own memories revealed whether others had
        stored a guessed word: a number could be read digit by digit.
        """
        memories = lookup.memories
        if reader is not None:
            condition, arguments = where(Scope(reader=reader), self._db)
            (memories,) = db.execute(
                f"SELECT count(*) FROM memories AS m WHERE {condition}", arguments
            ).fetchone()
            theirs = _Visible(db, lookup.arithmetic, condition, arguments)
            held = [len(theirs.among(lookup.numbers(term.any_of))) for term in terms]
        return [ranking.idf(ranking.rarity_of(memories, count)) for count in held]

    def rarity(self, term: Term) -> float:
        with self._db.one_state(), self._db.read() as db:
            if not is_filled(db):
                return fts5.rarity(self._db, db, term)
            if self._db.in_write:
                self._db.write_gathered()
            lookup = self._lookup(db, [term], {})
            return ranking.idf(ranking.rarity_of(lookup.memories, lookup.held_by(term)))

    def holding(self, term: Term) -> tuple[Clause, Clause]:
        """Return how to select the memories that hold a term: in any field, and in their own fields."""
        with self._db.one_state(), self._db.read() as db:
            if not is_filled(db):
                return fts5.holding(self._db, term)
            any_field, own = (
                self._held(db, term, weights) for weights in ((1.0,) * len(OWN), OWN)
            )
        return _among(any_field), _among(own)

    def _held(self, db: Connection, term: Term, weights: Sequence[float]) -> list[int]:
        spared = tuple((token,) for token in term.unless)
        runs = (*term.any_of, *spared)
        lookup = Lookup(db, self._db.codec, tuple(weights), _arithmetic, runs, self._cache)
        numbers = lookup.numbers(term.any_of, counted=True)
        if spared:
            others = lookup.numbers(spared, counted=True)
            numbers = lookup.arithmetic.without(numbers, others)
        return list(map(int, numbers))

    def _lookup(
        self, db: Connection, terms: Sequence[Term], weights: Mapping[str, float]
    ) -> Lookup:
        runs = (run for term in terms for part in (term.any_of, *term.parts) for run in part)
        weighed = tuple(float(weights.get(name, 1.0)) for name in ranking.FIELDS)
        return Lookup(db, self._db.codec, weighed, _arithmetic, runs, self._cache)


def _among(numbers: Sequence[int]) -> Clause:
    return Clause("SELECT value FROM json_each(?)", (json.dumps(numbers),))


def _arithmetic(postings: int) -> Arithmetic:
    """Return how to calculate with this many postings: with numpy if that is quicker."""
    if postings <= _FEW or (postings < _LARGE and sys.modules.get("numpy") is None):
        return Plain()
    try:
        from scrubjay.storage.sqlite.postings.vectors import Vectors
    except ImportError:
        return Plain()
    return Vectors()


class _Visible(NamedTuple):
    """The memories that a scope may see."""

    db: Connection
    arithmetic: Arithmetic
    condition: str
    arguments: list[object]

    @property
    def all(self) -> bool:
        return self.condition == EVERYTHING

    def among(self, numbers: Numbers) -> Numbers:
        """Return those of these memories that are visible, in their order."""
        if self.all or not len(numbers):
            return numbers
        if len(numbers) > ranking.MANY:
            return self.arithmetic.common(numbers, self.numbers())
        # By number only; otherwise SQLite reads a whole namespace.
        statement = (
            f"SELECT m.n FROM memories AS m NOT INDEXED WHERE m.n IN ({{}}) AND {self.condition}"
        )
        seen = {
            n
            for several, part in in_parts(list(map(int, numbers)))
            for (n,) in self.db.execute(statement.format(several), (*part, *self.arguments))
        }
        return [n for n in numbers if int(n) in seen]

    def any_of(self, numbers: Numbers) -> bool:
        size = 64
        while len(numbers):
            if len(self.among(numbers[:size])):
                return True
            numbers, size = numbers[size:], size * 16
        return False

    def numbers(self) -> Numbers:
        rows = self.db.execute(
            f"SELECT m.n FROM memories AS m WHERE {self.condition}", self.arguments
        )
        return self.arithmetic.ordered(n for (n,) in rows)


def _score_small(
    lookup: Lookup, terms: Sequence[Term], idfs: Sequence[float], visible: _Visible
) -> ranking.Scored:
    """Rank by our own weights; of several forms of a term, the best counts."""
    everywhere = lookup.numbers([run for term in terms for run in term.any_of])
    seen = None if visible.all else set(map(int, visible.among(everywhere)))
    scores: ranking.Scores = {}
    held: dict[int, int] = {}
    arithmetic = lookup.arithmetic
    for term, idf in zip(terms, idfs, strict=True):
        holding: ranking.Scores = {}
        for run in term.any_of:
            scored = arithmetic.score(lookup.run(run).all(), idf, lookup.norm)
            for n, score in arithmetic.best(scored, lookup.memories):
                if seen is None or n in seen:
                    holding[n] = max(holding.get(n, 0.0), score)
        for n, score in holding.items():
            scores[n] = scores.get(n, 0.0) + score
            held[n] = held.get(n, 0) + 1
    return ranking.Scored(scores, {n for n, count in held.items() if count == len(terms)}, idfs)


def _score_large(
    lookup: Lookup,
    terms: Sequence[Term],
    held: Sequence[int],
    query: ranking.KeywordQuery,
    visible: _Visible,
) -> ranking.Scored:
    """Rank as FTS5 does: each form of a term has its own weight, and all of them count."""
    runs: list[_Run] = []
    idfs: list[float] = []
    for term, count in zip(terms, held, strict=True):
        forms = [lookup.run(run) for run in term.any_of]
        weighed = [
            (run, ranking.fts5_idf(ranking.rarity_of(lookup.memories, run.held_by)))
            for run in forms
        ]
        runs += weighed
        # A form that no memory contains cannot score.
        rarest = ranking.fts5_idf(ranking.rarity_of(lookup.memories, count))
        idfs.append(max((idf for run, idf in weighed if run.held_by), default=rarest))
    ranker = _Ranker(lookup, runs, visible, query.limit)
    if not query.every_first:
        return ranking.Scored(ranker.best(ranker.rank_any), set(), idfs)
    complete = ranker.best(ranker.rank_complete(terms, held))
    scores = complete
    if len(complete) < query.limit and len(terms) > 1:
        scores = {**ranker.best(ranker.rank_any), **complete}
    return ranking.Scored(scores, set(complete), idfs)


class _Ranker(NamedTuple):
    """Ranks memories by runs with weights."""

    lookup: Lookup
    runs: Sequence[_Run]
    visible: _Visible
    limit: int

    def best(self, rank: Callable[[int, Numbers | None], Ranked]) -> ranking.Scores:
        """Return the best visible memories, with all that tie with the last.

        `rank` returns the best of all memories, or of those it is given.
        """
        fetch = self.limit + _EXTRA
        while True:
            ranked = rank(fetch, None)
            ended = len(ranked) < fetch
            seen = set(map(int, self.visible.among([n for n, _ in ranked])))
            found = [pair for pair in ranked if pair[0] in seen]
            if ended or _has_all_ties(found, ranked[-1][1], self.limit):
                return dict(found)
            if not self.visible.all and len(seen) < _MANY_VISIBLE * fetch:
                break
            if fetch > ranking.MOST_TIES:
                if self.visible.all or len(found) >= self.limit:
                    return dict(found)
                break
            fetch = min(4 * fetch, ranking.MOST_TIES + 1)
        numbers = self.visible.numbers()
        fetch = self.limit + _EXTRA
        while True:
            ranked = rank(fetch, numbers)
            if (
                len(ranked) < fetch
                or fetch > ranking.MOST_TIES
                or _has_all_ties(ranked, ranked[-1][1], self.limit)
            ):
                return dict(ranked)
            fetch = min(4 * fetch, ranking.MOST_TIES + 1)

    def rank_any(self, k: int, among: Numbers | None) -> Ranked:
        """Return the best memories that hold any of the runs."""
        arithmetic, norm = self.lookup.arithmetic, self.lookup.norm
        return arithmetic.best_of_any(self.runs, k, norm, among)

    def rank_complete(
        self, terms: Sequence[Term], held: Sequence[int]
    ) -> Callable[[int, Numbers | None], Ranked]:
        """Return a ranking of the memories that hold every term."""
        if not min(held):
            return lambda k, among: []
        rarest_first = sorted(range(len(terms)), key=held.__getitem__)
        by_term = [[self.lookup.run(run) for run in terms[at].any_of] for at in rarest_first]
        arithmetic = self.lookup.arithmetic
        scored = arithmetic.complete(by_term, self.runs, self.lookup.norm)
        return partial(arithmetic.best, scored)


def _has_all_ties(found: Ranked, lowest: float, limit: int) -> bool:
    """True if the best `limit` are there, and every memory that ties with the last of them."""
    return len(found) >= limit and round(lowest, 6) < round(found[limit - 1][1], 6)

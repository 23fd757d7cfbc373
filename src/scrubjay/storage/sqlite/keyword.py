"""FTS5 keyword index over our own tokens, ranked by BM25; one row a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql import keyword_ranking
from scrubjay.storage.sql.keyword_ranking import (
    FIELDS,
    MOST_TIES,
    Scores,
    best_of,
    complete_first,
    fts5_idf,
    idf,
    parts_of_the_unknown,
    rarity_of,
    selects,
)
from scrubjay.storage.sql.scope import EVERYTHING, match, match_run, where
from scrubjay.types import RankedList, Scope, Term


class _Query(NamedTuple):
    """One search: the statement that scores, the arguments of its scope, and the limit."""

    db: Connection
    codec: Codec
    statement: str
    scope: list[object]
    limit: int

    def score(self, matching: str) -> Scores:
        return dict(self.db.execute(self.statement, (matching, *self.scope)))

    def best(self, matching: str) -> Scores:
        """Score the best matches, with all ties of the last: age and id decide between those."""
        fetch = self.limit + 16
        ordered = f"{self.statement} ORDER BY score DESC LIMIT ?"
        while True:
            rows = self.db.execute(ordered, (matching, *self.scope, fetch)).fetchall()
            last = self.limit - 1
            all_ties = len(rows) < fetch or round(rows[-1][1], 6) < round(rows[last][1], 6)
            if all_ties or fetch > MOST_TIES:
                return dict(rows)
            fetch *= 4

    def finds(self, term: Term) -> bool:
        arguments = (match(term, self.codec), *self.scope)
        return self.db.execute(f"{self.statement} LIMIT 1", arguments).fetchone() is not None


class SqliteKeyword:
    """The keyword index of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def search(
        self,
        terms: Sequence[Term],
        scope: Scope,
        limit: int,
        weights: Mapping[str, float],
        *,
        every_first: bool = True,
    ) -> RankedList:
        if not terms:
            return RankedList("keyword")
        condition, arguments = where(scope, self._db)
        # FTS5 returns negative BM25; the sign is changed only here.
        bm25 = f"-bm25(words, {', '.join(str(float(weights.get(name, 1.0))) for name in FIELDS)})"
        statement = f"SELECT words.rowid, {bm25} AS score FROM words WHERE words MATCH ?"
        with self._db.read() as db:
            query = _Query(db, self._db.codec, statement + _each_in(condition), arguments, limit)
            terms = parts_of_the_unknown(query.finds, terms)
            memories = _row_count(db)
            small = memories <= keyword_ranking.SMALL_STORE
            rarities = everywhere = {term: _rarity(query, term, memories) for term in terms}
            matches = sum((memories + 1) / (rarity + 1) - 0.5 for rarity in rarities.values())
            if matches > keyword_ranking.MANY and selects(scope):
                query = query._replace(statement=statement + _all_in(condition))
            elif scope.reader is not None:
                small, rarities = True, self._rarities_seen_by(db, scope, terms)
            if small:
                scores, complete = _score_small(query, rarities, everywhere)
            else:
                scores, complete = _score_large(query, rarities, every_first=every_first)
            ranked = complete_first(scores, complete) if every_first else list(scores.items())
            idfs = [
                idf(rarity) if small else fts5_idf(_rarest(query, term, memories, rarity))
                for term, rarity in rarities.items()
            ]
            return best_of(db, ranked, limit, idfs)

    def _rarities_seen_by(
        self, db: Connection, scope: Scope, terms: Sequence[Term]
    ) -> dict[Term, float]:
        """Return how rare terms are among the memories that a user may see.

        Counted over the whole file, the scores of a user's own memories revealed whether others had
        stored a guessed word: a number could be read digit by digit.
        """
        condition, arguments = where(Scope(reader=scope.reader), self._db)
        (memories,) = db.execute(
            f"SELECT count(*) FROM memories AS m WHERE {condition}", arguments
        ).fetchone()
        query = _Query(db, self._db.codec, "", arguments, 0)
        return {term: _rarity(query, term, memories, _each_in(condition)) for term in terms}

    def rarity(self, term: Term) -> float:
        with self._db.read() as db:
            return idf(_rarity(_Query(db, self._db.codec, "", [], 0), term, _row_count(db)))


def _each_in(condition: str) -> str:
    """Check the scope of each memory that matches: fast where few do."""
    exists = f" AND EXISTS (SELECT 1 FROM memories AS m WHERE m.n = words.rowid AND {condition})"
    return "" if condition == EVERYTHING else exists


def _all_in(condition: str) -> str:
    """Collect all memories in scope first; the plus keeps SQLite from querying FTS5 row by row."""
    among = f" AND +words.rowid IN (SELECT m.n FROM memories AS m WHERE {condition})"
    return "" if condition == EVERYTHING else among


def _score_large(
    query: _Query, rarities: Mapping[Term, float], *, every_first: bool
) -> tuple[Scores, set[int]]:
    """Let FTS5 rank: memories with every term first, and those with any only if needed."""
    each = [match(term, query.codec) for term in rarities]
    if not every_first:
        return query.best(" OR ".join(each)), set()
    complete = query.best(" AND ".join(each))
    if len(complete) >= query.limit or len(each) == 1:
        return complete, set(complete)
    return {**query.best(" OR ".join(each)), **complete}, set(complete)


def _score_small(
    query: _Query, rarities: Mapping[Term, float], everywhere: Mapping[Term, float]
) -> tuple[Scores, set[int]]:
    """Rank by our own weights, one run of tokens at a time; FTS5's weights are divided out."""
    scores: Scores = {}
    held: dict[int, int] = {}
    for term, rarity in rarities.items():
        holding: Scores = {}
        for run in term.any_of:
            alone = everywhere[term]
            if len(term.any_of) > 1:
                alone = _rarity(query, Term((run,)), _row_count(query.db))
            weight = idf(rarity) / fts5_idf(alone)
            for n, score in query.score(match_run(run, query.codec)).items():
                holding[n] = max(holding.get(n, 0.0), score * weight)
        for n, score in holding.items():
            scores[n] = scores.get(n, 0.0) + score
            held[n] = held.get(n, 0) + 1
    return scores, {n for n, count in held.items() if count == len(rarities)}


def _rarity(query: _Query, term: Term, memories: int, condition: str = "") -> float:
    """Return how many memories lack a term for each one that contains it, of all or of some."""
    count = f"SELECT count(*) FROM words WHERE words MATCH ?{condition}"
    arguments = (match(term, query.codec), *(query.scope if condition else ()))
    return rarity_of(memories, query.db.execute(count, arguments).fetchone()[0])


def _rarest(query: _Query, term: Term, memories: int, rarity: float) -> float:
    """Return the rarity of a term's rarest form: FTS5 weighs each form by its own."""
    if len(term.any_of) == 1:
        return rarity
    # A form that no memory contains cannot score.
    statement = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
    stored = (
        run
        for run in term.any_of
        if query.db.execute(statement, (match_run(run, query.codec),)).fetchone()
    )
    return max((_rarity(query, Term((run,)), memories) for run in stored), default=rarity)


def _row_count(db: Connection) -> int:
    """Return the number of rows, from FTS5's record of averages: counting takes longer than the search."""
    row = db.execute("SELECT block FROM words_data WHERE id = 1").fetchone()
    number = 0
    for byte in row[0] if row else b"":
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number

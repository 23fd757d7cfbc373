"""Words in SQLite: BM25 by FTS5 over tokens that text.py made, one row a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

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

if TYPE_CHECKING:
    from scrubjay.storage.codec import Codec


class _Ask(NamedTuple):
    """One search of one index: the statement that scores, what narrows it, and how deep it goes."""

    db: Connection
    codec: Codec
    statement: str
    narrowing: list[object]
    limit: int

    def score(self, matching: str) -> Scores:
        """Score everything that matches."""
        return dict(self.db.execute(self.statement, (matching, *self.narrowing)))

    def best(self, matching: str) -> Scores:
        """Score the best that match, with all that tie with the last: age and id decide between those."""
        fetch = self.limit + 16
        ordered = f"{self.statement} ORDER BY score DESC LIMIT ?"
        while True:
            rows = self.db.execute(ordered, (matching, *self.narrowing, fetch)).fetchall()
            cut = self.limit - 1
            all_ties = len(rows) < fetch or round(rows[-1][1], 6) < round(rows[cut][1], 6)
            if all_ties or fetch > MOST_TIES:
                return dict(rows)
            fetch *= 4

    def finds(self, term: Term) -> bool:
        """True when anything in reach holds a term."""
        matching = (match(term, self.codec), *self.narrowing)
        return self.db.execute(f"{self.statement} LIMIT 1", matching).fetchone() is not None


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
        """Return the memories that hold any of the terms, by BM25; by default after those that hold all."""
        if not terms:
            return RankedList("keyword")
        condition, arguments = where(scope, self._db)
        # FTS5 gives negative BM25; it is turned round here and nowhere else.
        bm25 = f"-bm25(words, {', '.join(str(float(weights.get(one, 1.0))) for one in FIELDS)})"
        statement = f"SELECT words.rowid, {bm25} AS score FROM words WHERE words MATCH ?"
        with self._db.read() as db:
            ask = _Ask(db, self._db.codec, statement + _each_in(condition), arguments, limit)
            terms = parts_of_the_unknown(ask.finds, terms)
            memories = _how_many(db)
            small = memories <= keyword_ranking.SMALL_STORE
            rarities = everywhere = {term: _rarity(ask, term, memories) for term in terms}
            many = (
                sum(_held_by(rarity, memories) for rarity in rarities.values())
                > keyword_ranking.MANY
            )
            if many and selects(scope):
                ask = ask._replace(statement=statement + _all_in(condition))
            elif scope.reader is not None:
                small, rarities = True, self._seen_by(db, scope, terms)
            if small:
                scores, complete = _small(ask, rarities, everywhere)
            else:
                scores, complete = _large(ask, rarities, every_first=every_first)
            ranked = complete_first(scores, complete) if every_first else list(scores.items())
            idfs = [
                idf(rarity) if small else fts5_idf(_rarest(ask, term, memories, rarity))
                for term, rarity in rarities.items()
            ]
            return best_of(db, ranked, limit, idfs)

    def _seen_by(self, db: Connection, scope: Scope, terms: Sequence[Term]) -> dict[Term, float]:
        """Return how rare terms are among what a person may see.

        Counted over the whole file, the scores of one's own memories told whether somebody else had
        stored a word that one could guess: a number could be read digit by digit.
        """
        condition, arguments = where(Scope(reader=scope.reader), self._db)
        (memories,) = db.execute(
            f"SELECT count(*) FROM memories AS m WHERE {condition}", arguments
        ).fetchone()
        ask = _Ask(db, self._db.codec, "", arguments, 0)
        return {term: _rarity(ask, term, memories, _each_in(condition)) for term in terms}

    def rarity(self, term: Term) -> float:
        """Return the weight of a term that a small store ranks by."""
        with self._db.read() as db:
            return idf(_rarity(_Ask(db, self._db.codec, "", [], 0), term, _how_many(db)))


def _each_in(condition: str) -> str:
    """Narrow by looking at each memory that matches: where few do, that is next to nothing."""
    if condition == EVERYTHING:
        return ""
    return f" AND EXISTS (SELECT 1 FROM memories AS m WHERE m.n = words.rowid AND {condition})"


def _all_in(condition: str) -> str:
    """Narrow by collecting all memories in sight first: where many match, the scope may be the smaller.

    The plus keeps SQLite from asking FTS5 row by row, which would rank anew for each.
    """
    if condition == EVERYTHING:
        return ""
    return f" AND +words.rowid IN (SELECT m.n FROM memories AS m WHERE {condition})"


def _large(
    ask: _Ask, rarities: Mapping[Term, float], *, every_first: bool
) -> tuple[Scores, set[int]]:
    """Let FTS5 rank: first what holds every term, and what holds any only if that is not enough."""
    each = [match(term, ask.codec) for term in rarities]
    if not every_first:
        return ask.best(" OR ".join(each)), set()
    complete = ask.best(" AND ".join(each))
    if len(complete) >= ask.limit or len(each) == 1:
        return complete, set(complete)
    return {**ask.best(" OR ".join(each)), **complete}, set(complete)


def _small(
    ask: _Ask, rarities: Mapping[Term, float], everywhere: Mapping[Term, float]
) -> tuple[Scores, set[int]]:
    """Rank by our own weights, a run of tokens at a time; FTS5's own, of rarities everywhere, are undone."""
    scores: Scores = {}
    held: dict[int, int] = {}
    for term, rarity in rarities.items():
        holding: Scores = {}
        for run in term.any_of:
            matching = match_run(run, ask.codec)
            alone = (
                everywhere[term]
                if len(term.any_of) == 1
                else _rarity(ask, Term((run,)), _how_many(ask.db))
            )
            weight = idf(rarity) / fts5_idf(alone)
            for n, score in ask.score(matching).items():
                holding[n] = max(holding.get(n, 0.0), score * weight)
        for n, score in holding.items():
            scores[n] = scores.get(n, 0.0) + score
            held[n] = held.get(n, 0) + 1
    return scores, {n for n, count in held.items() if count == len(rarities)}


def _rarity(ask: _Ask, term: Term, memories: int, narrowed: str = "") -> float:
    """Return how many memories lack a term for every one that holds it, of all or of some."""
    count = f"SELECT count(*) FROM words WHERE words MATCH ?{narrowed}"
    arguments = (match(term, ask.codec), *(ask.narrowing if narrowed else ()))
    held = ask.db.execute(count, arguments).fetchone()[0]
    return rarity_of(memories, held)


def _held_by(rarity: float, memories: int) -> float:
    """Return how many memories hold a term of this rarity."""
    return (memories + 1) / (rarity + 1) - 0.5


def _rarest(ask: _Ask, term: Term, memories: int, rarity: float) -> float:
    """Return the rarity of a term's rarest form: FTS5 weighs each form by its own."""
    if len(term.any_of) == 1:
        return rarity
    held = (_rarity(ask, Term((run,)), memories) for run in term.any_of if _held(ask, run))
    return max(held, default=rarity)


def _held(ask: _Ask, run: Sequence[str]) -> bool:
    """True when any memory holds a form: one that none holds cannot score."""
    statement = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
    return ask.db.execute(statement, (match_run(run, ask.codec),)).fetchone() is not None


def _how_many(db: Connection) -> int:
    """Return how many rows the index has: the first number of FTS5's own record of averages.

    Counting them takes longer than the search.
    """
    row = db.execute("SELECT block FROM words_data WHERE id = 1").fetchone()
    number = 0
    for byte in row[0] if row else b"":
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number

"""Keyword search by FTS5, which an older file has until our own index has all of its memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Clause, Connection, Database
from scrubjay.storage.sql import keyword_ranking as ranking
from scrubjay.storage.sql.scope import EVERYTHING, where
from scrubjay.types import Scope, Term

_HOLDS = "SELECT rowid FROM words WHERE words MATCH ?"


class _Query(NamedTuple):
    """One search: the statement that scores, the arguments of its scope, and the limit."""

    db: Connection
    codec: Codec
    statement: str
    scope: list[object]
    limit: int

    def score(self, matching: str) -> ranking.Scores:
        return dict(self.db.execute(self.statement, (matching, *self.scope)))

    def best(self, matching: str) -> ranking.Scores:
        """Score the best matches, with all ties of the last: age and id decide between those."""
        fetch = self.limit + 16
        ordered = f"{self.statement} ORDER BY score DESC LIMIT ?"
        while True:
            rows = self.db.execute(ordered, (matching, *self.scope, fetch)).fetchall()
            last = self.limit - 1
            all_ties = len(rows) < fetch or round(rows[-1][1], 6) < round(rows[last][1], 6)
            if all_ties or fetch > ranking.MOST_TIES:
                return dict(rows)
            fetch *= 4

    def finds(self, term: Term) -> bool:
        arguments = (match(term, self.codec), *self.scope)
        return self.db.execute(f"{self.statement} LIMIT 1", arguments).fetchone() is not None


def score(of: Database, db: Connection, query: ranking.KeywordQuery) -> ranking.Scored:
    condition, arguments = where(query.scope, of)
    weights = [str(float(query.weights.get(name, 1.0))) for name in ranking.FIELDS]
    # FTS5 returns negative BM25; the sign is changed only here.
    bm25 = f"-bm25(words, {', '.join(weights)})"
    statement = f"SELECT words.rowid, {bm25} AS score FROM words WHERE words MATCH ?"
    fts = _Query(db, of.codec, statement + _each_in(condition), arguments, query.limit)
    terms = ranking.parts_of_the_unknown(fts.finds, query.terms)
    memories = _row_count(db)
    small = memories <= ranking.SMALL_STORE
    rarities = everywhere = {term: _rarity(fts, term, memories) for term in terms}
    matches = sum((memories + 1) / (rarity + 1) - 0.5 for rarity in rarities.values())
    if matches > ranking.MANY and ranking.selects(query.scope):
        fts = fts._replace(statement=statement + _all_in(condition))
    elif query.scope.reader is not None:
        small, rarities = True, _rarities_seen_by(of, db, query.scope, terms)
    if small:
        idfs = [ranking.idf(rarity) for rarity in rarities.values()]
        return ranking.Scored(*_score_small(fts, rarities, everywhere), idfs)
    rarest = (_rarest(fts, term, memories, rarity) for term, rarity in rarities.items())
    scored = _score_large(fts, rarities, every_first=query.every_first)
    return ranking.Scored(*scored, [*map(ranking.fts5_idf, rarest)])


def rarity(of: Database, db: Connection, term: Term) -> float:
    query = _Query(db, of.codec, "", [], 0)
    return ranking.idf(_rarity(query, term, _row_count(db)))


def holding(of: Database, term: Term) -> tuple[Clause, Clause]:
    wanted = match(term, of.codec)
    own = f"{{title text topics ident}} : {wanted}"
    return Clause(_HOLDS, (wanted,)), Clause(_HOLDS, (own,))


def _rarities_seen_by(
    of: Database, db: Connection, scope: Scope, terms: Sequence[Term]
) -> dict[Term, float]:
    """Return how rare terms are among the memories that a user may see."""
    condition, arguments = where(Scope(reader=scope.reader), of)
    (memories,) = db.execute(
        f"SELECT count(*) FROM memories AS m WHERE {condition}", arguments
    ).fetchone()
    query = _Query(db, of.codec, "", arguments, 0)
    return {term: _rarity(query, term, memories, _each_in(condition)) for term in terms}


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
) -> tuple[ranking.Scores, set[int]]:
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
) -> tuple[ranking.Scores, set[int]]:
    """Rank by our own weights, one run of tokens at a time; FTS5's weights are divided out."""
    scores: ranking.Scores = {}
    held: dict[int, int] = {}
    for term, rarity in rarities.items():
        holding: ranking.Scores = {}
        for run in term.any_of:
            alone = everywhere[term]
            if len(term.any_of) > 1:
                alone = _rarity(query, Term((run,)), _row_count(query.db))
            weight = ranking.idf(rarity) / ranking.fts5_idf(alone)
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
    return ranking.rarity_of(memories, query.db.execute(count, arguments).fetchone()[0])


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


def match(term: Term, codec: Codec) -> str:
    """Return a term as an FTS5 expression; `unless` excludes texts that contain those tokens."""
    wanted = " OR ".join(match_run(run, codec) for run in term.any_of)
    if not term.unless:
        return f"({wanted})"
    excluded = " OR ".join(match_run((token,), codec) for token in term.unless)
    return f"(({wanted}) NOT ({excluded}))"


def match_run(run: Sequence[str], codec: Codec) -> str:
    """Return neighbouring tokens as an FTS5 phrase; a star at the end makes the last one a prefix."""
    *others, last = run
    is_prefix = len(last) > 1 and last.endswith("*")
    final = codec.prefix(last[:-1]) if is_prefix else codec.token(last)
    tokens = " ".join((*map(codec.token, others), final))
    quoted = tokens.replace('"', '""')
    return f'"{quoted}" *' if is_prefix else f'"{quoted}"'

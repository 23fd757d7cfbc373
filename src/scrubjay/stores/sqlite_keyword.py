"""Words in SQLite: BM25 by FTS5 over tokens that text.py made, one row a memory.

FTS5 gives a term that more than half of the memories hold no weight at all. In a large store that is
right; in a small one, where half may be two, it would leave nothing to rank by. There the terms are
asked one by one and weighed by ln(1 + (N - n + 0.5) / (n + 0.5)), which is never zero.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from math import log

from scrubjay.stores.scope_sql import in_parts, where
from scrubjay.stores.sqlite import Database
from scrubjay.types import RankedList, Row, Scope

FIELDS = ("title", "text", "topics", "context", "ident")
SMALL_STORE = 2000
_K1 = 1.2  # FTS5's, as are b = 0.75 and the least idf
_LEAST_IDF = 1e-6
_MOST_TIES = 4096  # a word that nearly every memory holds ties them all

Scored = list[tuple[int, float]]


class SqliteKeyword:
    """The keyword index of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def search(
        self, terms: Sequence[str], scope: Scope, limit: int, weights: Mapping[str, float]
    ) -> RankedList:
        """Return the memories that hold any of the terms, best first by BM25."""
        if not terms:
            return RankedList("keyword")
        tokens = [self._db.codec.token(term).replace('"', '""') for term in terms]
        condition, arguments = where(scope, self._db.codec)
        # The plus keeps SQLite from asking FTS5 row by row, which would rank anew for each.
        narrowed = (
            ""
            if scope.everything
            else f" AND +words.rowid IN (SELECT m.n FROM memories AS m WHERE {condition})"
        )
        # FTS5 gives negative BM25; it is turned round here and nowhere else.
        bm25 = f"-bm25(words, {', '.join(str(float(weights.get(one, 1.0))) for one in FIELDS)})"
        statement = f"SELECT words.rowid, {bm25} AS score FROM words WHERE words MATCH ?{narrowed}"
        with self._db.read() as db:
            memories = _how_many(db)
            small = memories <= SMALL_STORE
            rarities = _rarities(db, tokens, memories)
            if small:
                scored = _in_a_small_store(db, statement, rarities, arguments)
            else:
                scored = _in_a_large_store(db, statement, tokens, arguments, limit)
            found = _named(db, _with_ties(scored, limit))
        found.sort(key=lambda row: (-round(row.score, 6), -row.updated_us, row.id))
        idf = _idf if small else _fts5_idf
        best = (_K1 + 1) * sum(idf(rarity) for rarity in rarities.values())
        return RankedList("keyword", tuple(found[:limit]), best=best)


def _in_a_large_store(
    db: sqlite3.Connection, statement: str, tokens: list[str], arguments: list[object], limit: int
) -> Scored:
    match = " OR ".join(f'"{token}"' for token in tokens)
    fetch = limit + 16
    while True:
        rows: Scored = db.execute(
            f"{statement} ORDER BY score DESC LIMIT ?", (match, *arguments, fetch)
        ).fetchall()
        # Ties at the cut are broken by age and id, so all of them must be on the table.
        all_ties = len(rows) < fetch or round(rows[-1][1], 6) < round(rows[limit - 1][1], 6)
        if all_ties or fetch > _MOST_TIES:
            return rows
        fetch *= 4


def _in_a_small_store(
    db: sqlite3.Connection, statement: str, rarities: dict[str, float], arguments: list[object]
) -> Scored:
    scores: dict[int, float] = {}
    for token, rarity in rarities.items():
        weight = _idf(rarity) / _fts5_idf(rarity)
        for n, score in db.execute(statement, (f'"{token}"', *arguments)):
            scores[n] = scores.get(n, 0.0) + score * weight
    return list(scores.items())


def _rarities(db: sqlite3.Connection, tokens: list[str], memories: int) -> dict[str, float]:
    """Return how many memories lack each token for every one that holds it."""
    count = "SELECT count(*) FROM words WHERE words MATCH ?"
    held = {token: db.execute(count, (f'"{token}"',)).fetchone()[0] for token in tokens}
    return {token: (memories - n + 0.5) / (n + 0.5) for token, n in held.items()}


def _how_many(db: sqlite3.Connection) -> int:
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


def _idf(rarity: float) -> float:
    return log(1 + rarity)


def _fts5_idf(rarity: float) -> float:
    return log(rarity) if rarity > 1 else _LEAST_IDF


def _with_ties(scored: Scored, limit: int) -> Scored:
    """Keep the best so many, and those that tie with the last: age and id decide between them."""
    if len(scored) <= limit:
        return scored
    last = round(sorted((score for _, score in scored), reverse=True)[limit - 1], 6)
    return [(n, score) for n, score in scored if round(score, 6) >= last]


def _named(db: sqlite3.Connection, scored: Scored) -> list[Row]:
    """Add id and age to rows, which still exist."""
    scores = dict(scored)
    found: list[Row] = []
    for several, part in in_parts([n for n, _ in scored]):
        found += (
            Row(id_, scores[n], None, updated_us)
            for n, id_, updated_us in db.execute(
                f"SELECT n, id, updated_us FROM memories WHERE n IN ({several})", part
            )
        )
    return found

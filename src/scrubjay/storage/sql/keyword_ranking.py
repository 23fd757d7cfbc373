"""Keyword ranking, the same in SQLite and Postgres.

Memories with every term come first, then those with any. Where the BM25 score of the former is lower, it
is raised just above: the score shown is the score sorted by.

In a large store a term that more than half of the memories hold has no weight, as in FTS5. In a small one,
where half may be two, nothing would be left to rank by. There each term is weighed by
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sql.scope import in_parts, named
from scrubjay.types import RankedList, Row, Scope, Term

FIELDS = ("title", "text", "topics", "context", "ident")
SMALL_STORE = 2000
# Matches: up to this number each memory is checked; for more, all visible memories are collected first.
MANY = 10_000
MOST_TIES = 4096  # a word that nearly every memory holds ties them all
K1 = 1.2  # of FTS5, as are b = 0.75 and the smallest idf
B = 0.75
_MIN_IDF = 1e-6
_LIFT = 0.001  # keeps the order of raised memories
_MIN_LIFT = 2e-6  # more than two scores may differ by and still be equal

Scores = dict[int, float]


class KeywordQuery(NamedTuple):
    """One search by word."""

    terms: Sequence[Term]
    scope: Scope
    limit: int
    weights: Mapping[str, float]
    every_first: bool


class Scored(NamedTuple):
    """Scores of memories, those that contain every term, and the weight of each term."""

    scores: Scores
    complete: set[int]
    idfs: Sequence[float]


class KeywordIndex(ABC):
    """Finds memories by word, in a scope; higher scores are better."""

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
        """Return the memories that contain any term, best first; by default those with all terms first."""
        if not terms:
            return RankedList("keyword")
        with self._db.read() as db:
            query = KeywordQuery(terms, scope, limit, weights, every_first)
            scores, complete, idfs = self._score(db, query)
            ranked = complete_first(scores, complete) if every_first else list(scores.items())
            return best_of(db, ranked, limit, idfs)

    def search_by_cover_density(
        self, terms: Sequence[Term], scope: Scope, limit: int, weights: Mapping[str, float]
    ) -> RankedList:
        """Return the memories that contain any term, ranked by `ts_rank_cd` in Postgres. SQLite has no
        such ranking, so BM25 stands for it."""
        found = self.search(terms, scope, limit, weights, every_first=False)
        return found._replace(ranked_by="BM25")

    @abstractmethod
    def _score(self, db: Connection, query: KeywordQuery) -> Scored:
        """Score the best memories, with all that tie with the last."""

    @abstractmethod
    def rarity(self, term: Term) -> float:
        """Return how rare a term is: how many memories lack it for each one that contains it."""


def rarity_of(memories: int, held: int) -> float:
    """Return how many memories lack a term for every one that holds it."""
    return float((memories - held + 0.5) / (held + 0.5))


def idf(rarity: float) -> float:
    """Return the weight of a term in a small store."""
    return log(1 + rarity)


def fts5_idf(rarity: float) -> float:
    """Return the weight of a term in a large store: that of FTS5, and at least a little."""
    return log(rarity) if rarity > 1 else _MIN_IDF


def selects(scope: Scope) -> bool:
    """True when a scope may be small; one that only excludes types or ended memories is not."""
    return not scope._replace(not_types=None, valid_us=None).everything


def parts_of_the_unknown(finds: Callable[[Term], bool], terms: Sequence[Term]) -> list[Term]:
    """Replace an identifier by its parts where the whole is not found."""
    found: dict[Term, None] = {}
    for term in terms:
        if term.parts and not finds(term):
            found.update((Term(part), None) for part in term.parts)
        else:
            found[term] = None
    return list(found)


def complete_first(scores: Scores, complete: set[int]) -> list[tuple[int, float]]:
    """Raise memories with every term above those with only some, where they are not there already."""
    if not complete or len(complete) == len(scores):
        return list(scores.items())
    highest = max(score for n, score in scores.items() if n not in complete)
    if min(scores[n] for n in complete) > highest + _MIN_LIFT:
        return list(scores.items())
    return [
        (n, max(score, highest) + _MIN_LIFT + _LIFT * score if n in complete else score)
        for n, score in scores.items()
    ]


def best_of(
    db: Connection, ranked: list[tuple[int, float]], limit: int, idfs: Sequence[float]
) -> RankedList:
    """Return the best `limit`, by score, then the latest, then id, and the highest possible score."""
    if len(ranked) > limit:  # with those that tie with the last: time and id decide between them
        last = round(sorted((score for _, score in ranked), reverse=True)[limit - 1], 6)
        ranked = [(n, score) for n, score in ranked if round(score, 6) >= last]
    scores = dict(ranked)
    rows = [
        Row(id_, scores[n], None, updated_us)
        for several, part in in_parts(list(scores))
        for n, id_, updated_us in named(
            db.execute(f"SELECT n, id, updated_us FROM memories WHERE n IN ({several})", part)
        )
    ]
    rows.sort(key=lambda row: (-round(row.score, 6), -row.updated_us, row.id))
    return RankedList("keyword", tuple(rows[:limit]), best=(K1 + 1) * sum(idfs))

"""How words are ranked, in SQLite and in Postgres alike: what both keyword indexes share.

What holds every term comes first, then what holds any. Where such a memory's BM25 is lower than that
of one which holds only some, it is lifted just above: the score shown is the score sorted by.

FTS5 gives a term that more than half of the memories hold no weight at all. In a large store that is
right; in a small one, where half may be two, it would leave nothing to rank by. There the terms are
asked one by one and weighed by ln(1 + (N - n + 0.5) / (n + 0.5)), which is never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

from scrubjay.storage.database import Connection
from scrubjay.storage.sql.scope import in_parts
from scrubjay.types import RankedList, Row, Scope, Term

FIELDS = ("title", "text", "topics", "context", "ident")
SMALL_STORE = 2000
# Matches; each is a look at its memory, or all memories in sight are collected first.
MANY = 10_000
MOST_TIES = 4096  # a word that nearly every memory holds ties them all
K1 = 1.2  # FTS5's, as are b = 0.75 and the least idf
B = 0.75
_LEAST_IDF = 1e-6
_LIFT = 0.001  # keeps the order of those that are lifted
_LEAST_LIFT = 2e-6  # more than two scores may differ by and still be equal

Scores = dict[int, float]


def rarity_of(memories: int, held: int) -> float:
    """Return how many memories lack a term for every one that holds it."""
    return float((memories - held + 0.5) / (held + 0.5))


def idf(rarity: float) -> float:
    """Return the weight of a term in a small store."""
    return log(1 + rarity)


def fts5_idf(rarity: float) -> float:
    """Return the weight of a term as FTS5 has it."""
    return log(rarity) if rarity > 1 else _LEAST_IDF


def selects(scope: Scope) -> bool:
    """True when a scope may be small; one that only leaves out a few is nearly everything."""
    return not scope._replace(not_types=None, valid_us=None).everything


def parts_of_the_unknown(finds: Callable[[Term], bool], terms: Sequence[Term]) -> list[Term]:
    """Put the parts of an identifier in its place where the whole is nowhere to be found."""
    asked: dict[Term, None] = {}
    for term in terms:
        if term.parts and not finds(term):
            asked.update((Term(part), None) for part in term.parts)
        else:
            asked[term] = None
    return list(asked)


def complete_first(scores: Scores, complete: set[int]) -> list[tuple[int, float]]:
    """Lift what holds every term above what holds only some, where it is not there already."""
    if not complete or len(complete) == len(scores):
        return list(scores.items())
    highest = max(score for n, score in scores.items() if n not in complete)
    if min(scores[n] for n in complete) > highest + _LEAST_LIFT:
        return list(scores.items())
    return [
        (n, max(score, highest) + _LEAST_LIFT + _LIFT * score if n in complete else score)
        for n, score in scores.items()
    ]


def best_of(
    db: Connection, ranked: list[tuple[int, float]], limit: int, idfs: Sequence[float]
) -> RankedList:
    """Return the best so many, by score, then age, then id, beside the best that any could be."""
    found = _named(db, _with_ties(ranked, limit))
    found.sort(key=lambda row: (-round(row.score, 6), -row.updated_us, row.id))
    return RankedList("keyword", tuple(found[:limit]), best=(K1 + 1) * sum(idfs))


def _with_ties(scored: list[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
    """Keep the best so many, and those that tie with the last: age and id decide between them."""
    if len(scored) <= limit:
        return scored
    last = round(sorted((score for _, score in scored), reverse=True)[limit - 1], 6)
    return [(n, score) for n, score in scored if round(score, 6) >= last]


def _named(db: Connection, scored: list[tuple[int, float]]) -> list[Row]:
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

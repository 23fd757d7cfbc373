"""BM25 in Postgres: one pass over the parts of memories, in which `ts_rank_cd` counts.

Of one token, or of one phrase, `ts_rank_cd` is the sum of the weights of its occurrences. From that
the formula of FTS5 gives the same scores, and the tokens are the same: so a store ranks alike
wherever it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil, log2
from typing import NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Clause, Connection
from scrubjay.storage.postgres.token_vectors import run_asked, run_counted
from scrubjay.storage.sql.keyword_ranking import FIELDS, K1, B

# How often a part holds a run of tokens.
_OFTEN = "ts_rank_cd({main}, w.main, ?::tsquery) + ts_rank_cd({ident}, w.ident, ?::tsquery) AS often{at}"
_HOLDS = "(w.main @@ ?::tsquery OR w.ident @@ ?::tsquery) AS held{at}"
# Rounded, because a weight such as 1.2 is not quite that in the four bytes that Postgres gives it.
_SUMMED = "round(sum(often{at})::float8 * {scale} * 1e5) / 1e5 AS often{at}"
_BM25 = "?::float8 * often{at} * {k1_more} / (often{at} + longer)"
_SCORED = (
    "WITH found AS (SELECT w.memory, w.length, {found} FROM word_parts AS w WHERE {candidates}),"
    " counted AS (SELECT memory, {k1} * ({one_less_b} + {b} * length / ?::float8) AS longer, {counted}"
    " FROM found GROUP BY memory, length),"
    " scored AS (SELECT memory, {score} AS score, {held} AS held FROM counted)"
)
ALL = Clause(" SELECT memory, score, held FROM scored", ())
_BEST = (
    ", ordered AS (SELECT memory, score, held,"
    " score + CASE WHEN held >= ?::int THEN 1e6 ELSE 0 END AS place FROM scored)"
    " SELECT memory, score, held FROM ordered WHERE place >= coalesce("
    "(SELECT place FROM ordered ORDER BY place DESC LIMIT 1 OFFSET ?), 0) - 1e-6"
    " ORDER BY place DESC LIMIT ?"
)
_LEAST_COUNTED = 0.001  # a field that weighs less may hold a token and count as nothing

Scored = tuple[int, float, int]  # a memory, its score, and how many of the terms it holds


class Run(NamedTuple):
    """One run of neighbouring tokens that is asked for: of which term, and its weight."""

    term: int
    tokens: tuple[str, ...]
    idf: float


def best(limit: int, most_ties: int, complete: int) -> Clause:
    """Return how to take the best, those with so many terms first, with all that tie with the last."""
    return Clause(_BEST, (complete, limit - 1, limit + most_ties))


class Bm25(NamedTuple):
    """Scores memories by the weights of fields and the mean length of memories, in tokens."""

    db: Connection
    codec: Codec
    weights: Mapping[str, float]
    mean: float

    def score(
        self, runs: Sequence[Run], candidates: Clause, taken: Clause, *, each_form: bool
    ) -> list[Scored]:
        """Score parts `w` that fulfil a condition; of a term's forms each counts, or only the best.

        All parts of a memory must fulfil it that hold any of the runs. Runs are in the order of terms.
        """
        # Postgres takes no weight above 1. By a power of two nothing is lost.
        scale = 2.0 ** ceil(log2(max(1.0, *map(self._weight, FIELDS))))
        title, text, topics, context, ident = (self._weight(field) / scale for field in FIELDS)
        often = {"main": _array(text, text, context, title), "ident": _array(ident, 0, 0, topics)}
        all_counted = min(map(self._weight, FIELDS)) >= _LEAST_COUNTED
        found: list[str] = []
        counted: list[str] = []
        given: list[object] = []
        for at, run in enumerate(runs):
            found.append(_OFTEN.format(at=at, **often))
            counted.append(_SUMMED.format(at=at, scale=scale))
            given += [run_counted(run.tokens, self.codec)] * 2
            if not all_counted:
                found.append(_HOLDS.format(at=at))
                counted.append(f"bool_or(held{at}) AS held{at}")
                given += [run_asked(run.tokens, self.codec)] * 2
        scores: list[str] = []
        held: list[str] = []
        for _, forms in groupby(range(len(runs)), key=lambda at: runs[at].term):
            places = list(forms)
            each = [_BM25.format(at=at, k1_more=K1 + 1) for at in places]
            scores.append(" + ".join(each) if each_form else f"greatest({', '.join(each)})")
            holds = (f"often{at} > 0" if all_counted else f"held{at}" for at in places)
            held.append(f"({' OR '.join(holds)})::int")
        statement = _SCORED.format(
            found=", ".join(found),
            candidates=candidates.sql,
            counted=", ".join(counted),
            k1=K1,
            b=B,
            one_less_b=1 - B,
            score=" + ".join(scores),
            held=" + ".join(held),
        )
        given += (*candidates.arguments, self.mean, *(run.idf for run in runs), *taken.arguments)
        return self.db.execute(statement + taken.sql, given).fetchall()

    def _weight(self, field: str) -> float:
        return float(self.weights.get(field, 1.0))


def _array(unlabelled: float, ahead: float, second: float, first: float) -> str:
    """Return weights as Postgres takes them: of D, C, B and A."""
    return f"'{{{unlabelled},{ahead},{second},{first}}}'::real[]"

"""Cover-density ranking in Postgres: `ts_rank_cd` of all terms, joined by OR, over the length of a memory.

Joined by OR, each occurrence of a term is a cover of its own: the rank of a memory is the sum of what its
occurrences weigh, whichever of its vectors has them. It is divided by ln(1 + tokens of the memory). For a
memory with one vector that is what `ts_rank_cd` does with normalization 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scrubjay.storage.database import Clause
from scrubjay.storage.postgres.matching import FieldWeights, Matching
from scrubjay.storage.postgres.words import COUNTED, run_query
from scrubjay.storage.sql.scope import named
from scrubjay.types import RankedList, Row, Term

NAME = "ts_rank_cd"
# Rounded as scores are compared, so that the rows that tie with the last are all there to be ordered.
_RANKED = (
    "WITH ranked AS (SELECT w.memory, round((sum(({rank})::float8) * {scale}"
    " / ln(1 + w.length))::numeric, 6) AS score FROM word_parts AS w WHERE {held}"
    " GROUP BY w.memory, w.length),"
    " best AS (SELECT memory, score FROM ranked ORDER BY score DESC FETCH FIRST ? ROWS WITH TIES)"
    " SELECT m.n, m.id, m.updated_us, best.score::float8 FROM best"
    " JOIN memories AS m ON m.n = best.memory"
    " ORDER BY best.score DESC, m.updated_us DESC, m.id LIMIT ?"
)


def rank(
    matching: Matching,
    terms: Sequence[Term],
    weights: Mapping[str, float],
    limit: int,
    candidates: Clause | None = None,
) -> RankedList:
    """Return the best memories that contain any term, or the best of some candidates. A score has no
    upper bound: in place of the best possible one, the list has that of its first memory."""
    if not terms:
        return RankedList("keyword", ranked_by=NAME)
    of_fields, held = FieldWeights.of(weights), candidates or matching.holding(terms)
    statement = _RANKED.format(rank=of_fields.rank, scale=of_fields.scale, held=held.sql)
    codec = matching.of.codec
    runs = (run_query(run, codec, COUNTED) for term in terms for run in term.any_of)
    wanted = " | ".join(filter(None, runs))
    rows = matching.db.execute(
        statement, (wanted, wanted, *held.arguments, limit, limit)
    ).fetchall()
    scores = {n: score for n, *_, score in rows}
    found = tuple(
        Row(id_, scores[n], None, updated_us)
        for n, id_, updated_us in named((n, id_, at) for n, id_, at, _ in rows)
    )
    best = found[0].score if found else 1.0
    return RankedList("keyword", found, best=best, ranked_by=NAME)

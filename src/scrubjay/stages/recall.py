"""Where candidates come from: each source asks one index under the query's scope."""

from __future__ import annotations

from collections.abc import Mapping

from scrubjay.errors import InvalidInput
from scrubjay.pipeline import Run, stage
from scrubjay.types import Found, RankedList

# How much a word counts in each field; text counts 1.
FIELD_WEIGHTS: Mapping[str, float] = {"title": 1.0, "topics": 1.0, "context": 1.0, "ident": 1.0}


@stage
def keyword(
    run: Run, *, depth: int = 64, weights: Mapping[str, float] = FIELD_WEIGHTS
) -> RankedList:
    """Memories that hold all of the query's terms, then those that hold any, by BM25."""
    unknown = [name for name in weights if name not in (*FIELD_WEIGHTS, "text")]
    if unknown or any(weight < 0 for weight in weights.values()):
        fields = ", ".join(("text", *FIELD_WEIGHTS))
        raise InvalidInput(
            f"keyword.weights is {dict(weights)}; the fields are {fields}, weights 0 or more"
        )
    index = run.kit.need("keyword")
    found: RankedList = index.search(
        run.query.words, run.query.scope, _enough(run, "keyword", depth), weights
    )
    return found


@stage
def vector(run: Run, *, depth: int = 64) -> RankedList:
    """Memories whose best chunk lies nearest to the query's vector, by cosine."""
    if run.query.vector is None:  # embed_query has said why
        return RankedList("vector", searched=False)
    index, embedder = run.kit.need("vectors"), run.kit.need("embedder")
    found: RankedList = index.search(
        run.query.vector, embedder.name, run.query.scope, _enough(run, "vector", depth)
    )
    return found


@stage
def nothing_searched(run: Run) -> bool:
    """True when no list could be asked so far."""
    return not any(one.searched for one in run.lists)


@stage
def look_up(run: Run) -> Run:
    """Give the candidates that only words found their cosine as well, so that both count for all."""
    index, embedder = run.kit.vectors, run.kit.embedder
    lacking = tuple(one.id for one in run.pool if "vector" not in one.found)
    if index is None or embedder is None or run.query.vector is None or not lacking:
        return run
    scope = run.query.scope._replace(ids=lacking)
    rows = index.search(run.query.vector, embedder.name, scope, len(lacking)).rows
    found = {row.id: row for row in rows}
    pool = tuple(
        one._replace(
            found={**one.found, "vector": Found(None, found[one.id].score)},
            best_chunk=found[one.id].chunk,
        )
        if one.id in found
        else one
        for one in run.pool
    )
    return run._replace(pool=pool).noting(looked_up=len(found))


def _enough(run: Run, source: str, depth: int) -> int:
    """A list is never shorter than the answer that was asked for."""
    if depth < 1:
        raise InvalidInput(f"{source}.depth is {depth}; it must be 1 or more")
    return max(depth, run.query.limit)

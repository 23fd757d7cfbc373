"""Where candidates come from: each source asks one index under the query's scope."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, Source, stage
from scrubjay.search.stages.spread import different
from scrubjay.types import Found, RankedList, Scope, Term

# How much a word counts in each field; text counts 1.
FIELD_WEIGHTS: Mapping[str, float] = {"title": 1.0, "topics": 1.0, "context": 1.0, "ident": 1.0}


@stage
def keyword(
    run: Run, *, depth: int = 64, times: float = 1, weights: Mapping[str, float] = FIELD_WEIGHTS
) -> RankedList:
    """Memories that hold all of the query's terms, then those that hold any, by BM25.

    So many as `depth` says, or `times` the limit of the search if that is more.
    """
    return by_word(run, run.query.words, _enough(run, "keyword", depth, times), weights)


@stage
def any_word(
    run: Run,
    *,
    depth: int = 30,
    times: float = 3,
    weights: Mapping[str, float] = FIELD_WEIGHTS,
    types: tuple[str, ...] = (),
    not_types: tuple[str, ...] = (),
) -> RankedList:
    """Memories that hold any of the query's terms, by BM25 alone; of some types, or of all but some.

    So many as `depth` says, or `times` the limit of the search if that is more.
    """
    depth = _enough(run, "any_word", depth, times)
    if types and not _holds(run, types):
        return RankedList("keyword")
    narrowed = _of_types(run, types, not_types)
    return by_word(narrowed, run.query.words, depth, weights, every_first=False)


def _of_types(run: Run, types: tuple[str, ...], not_types: tuple[str, ...]) -> Run:
    """Narrow the scope of a run to memories of some types, or to all but some."""
    scope = run.query.scope
    if types:
        asked = scope.types
        scope = scope._replace(
            types=types if asked is None else tuple(one for one in asked if one in types)
        )
    # To look at the type of everything that holds a common word takes longer than the search.
    if not_types and _holds(run, not_types):
        scope = scope._replace(not_types=not_types)
    return run._replace(query=run.query._replace(scope=scope))


def _holds(run: Run, types: tuple[str, ...]) -> bool:
    """True when the store has any memory of these types, or cannot tell."""
    records = run.kit.records
    return records is None or records.holds_any(Scope(types=types))


def by_word(
    run: Run,
    terms: tuple[Term, ...],
    depth: int,
    weights: Mapping[str, float] = FIELD_WEIGHTS,
    *,
    every_first: bool = True,
) -> RankedList:
    """Return so many different texts that hold these terms, those that hold all of them first or not."""
    unknown = [name for name in weights if name not in (*FIELD_WEIGHTS, "text")]
    if unknown or any(weight < 0 for weight in weights.values()):
        fields = ", ".join(("text", *FIELD_WEIGHTS))
        raise InvalidInput(
            f"keyword.weights is {dict(weights)}; the fields are {fields}, weights 0 or more"
        )
    index = run.kit.need("keyword")

    def ask(most: int) -> RankedList:
        found: RankedList = index.search(
            terms, run.query.scope, most, weights, every_first=every_first
        )
        return found

    return different(run, ask, depth)


@stage
def vector(
    run: Run, *, depth: int = 64, times: float = 1, not_types: tuple[str, ...] = ()
) -> RankedList:
    """Memories whose best chunk lies nearest to the query's vector, by cosine; of all but some types."""
    if run.query.vector is None:  # embed_query has said why
        return RankedList("vector", searched=False)
    depth = _enough(run, "vector", depth, times)
    return by_meaning(_of_types(run, (), not_types), run.query.vector, depth)


def by_meaning(run: Run, wanted: Any, depth: int, shortlist: int | None = None) -> RankedList:
    """Return so many different texts that lie nearest to a vector.

    With a `shortlist`, so many are found by the first part of their vectors, and the whole vectors of
    these decide: faster where there are very many, and now and then one is missed.
    """
    index, embedder = run.kit.need("vectors"), run.kit.need("embedder")

    def ask(most: int) -> RankedList:
        found: RankedList = index.search(
            wanted, embedder.name, run.query.scope, most, shortlist=shortlist
        )
        return found

    return different(run, ask, depth)


@stage
def variant(run: Run, *, number: int, times: float = 1) -> RankedList:
    """What one variant of the query finds: a lexical one by its words, the others by their vector."""
    asked = run.query.variants[number]
    depth = _enough(run, "variant", 1, times)
    if asked.kind == "lexical":
        return by_word(run, asked.words, depth)
    return by_meaning(run, asked.vector, depth)


@stage
def lexical(run: Run, *, times: float = 1) -> tuple[Source, ...]:
    """A source for each lexical variant; none reads further than `times` the limit."""
    return _per_variant(run, "lexical", times)


@stage
def semantic(run: Run, *, times: float = 1) -> tuple[Source, ...]:
    """A source for each semantic variant."""
    return _per_variant(run, "semantic", times)


@stage
def hyde(run: Run, *, times: float = 1) -> tuple[Source, ...]:
    """A source for the made-up answer."""
    return _per_variant(run, "hyde", times)


def _per_variant(run: Run, kind: str, times: float) -> tuple[Source, ...]:
    """Name each source after its kind: `lexical:1`, `lexical:2`."""
    numbers = [number for number, one in enumerate(run.query.variants) if one.kind == kind]
    return tuple(
        variant(number=number, times=times).named(f"{kind}:{place}")
        for place, number in enumerate(numbers, start=1)
    )


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
            # A passage that a variant's list chose has a fused score, and stays.
            best_chunk=found[one.id].chunk if one.best_chunk is None else one.best_chunk,
        )
        if one.id in found
        else one
        for one in run.pool
    )
    return run._replace(pool=pool).noting(looked_up=len(found))


def _enough(run: Run, source: str, depth: int, times: float) -> int:
    """A list is never shorter than the answer that was asked for."""
    if depth < 1:
        raise InvalidInput(f"{source}.depth is {depth}; it must be 1 or more")
    if times < 1:
        raise InvalidInput(f"{source}.times is {times}; it must be 1 or more")
    return max(depth, ceil(times * run.query.limit), run.query.least)

"""Sources of candidates: each searches one index, under the scope of the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, Source, by_score, checked_by, limits, stage
from scrubjay.types import (
    DEFAULT_NAMESPACE,
    LANGUAGES,
    Candidate,
    Found,
    RankedList,
    Row,
    Scope,
    Term,
)

if TYPE_CHECKING:
    from scrubjay.storage.sql.keyword_ranking import KeywordIndex

# How much a word counts in each field; in the text it counts 1.
FIELD_WEIGHTS: Mapping[str, float] = {"title": 1.0, "topics": 1.0, "context": 1.0, "ident": 1.0}
# How texts that contain any word are ranked.
BM25, COVER_DENSITY = "bm25", "cover_density"


@stage
@limits(most="1 or more")
def namespaces(run: Run, *, most: int = 50) -> Run:
    """Note which namespaces are searched: those of the scope, or all that the caller can read.
    At most `most` are listed. In an empty store it is `default`."""
    seen, records = run.query.scope.namespaces, run.kit.records
    if seen is None:
        seen = () if records is None else tuple(records.namespaces(run.query.scope, most + 1))
        seen = seen or (DEFAULT_NAMESPACE,)
    run = run.noting(namespaces=seen[:most])
    return run.noting(more="not all of them are listed") if len(seen) > most else run


@stage
@limits(times="1 or more")
def fan_out(run: Run, *, times: float = 2) -> Run:
    """Ask each source for `times` as many rows where shared collections may contain copies.
    Copies of one text become one row, and the list is cut to the length that was asked for.
    While copies still displace other texts, the source is asked for twice as many rows again."""
    copies = run.kit.copies
    if copies is None or copies.is_empty():
        return run
    if spanned := copies.visible_collections(run.query.scope):
        return run._replace(query=run.query._replace(fetch=times)).noting(collections=spanned)
    return run


def different(run: Run, ask: Callable[[int], RankedList], depth: int) -> RankedList:
    """Return up to `depth` rows of different texts; `ask` returns up to a given number of rows."""
    copies, most = run.kit.copies, ceil(depth * run.query.fetch)
    if copies is None or run.query.fetch <= 1:
        return ask(depth)
    while True:
        found = ask(most)
        stand_ins = copies.representatives([row.id for row in found.rows], run.query.scope)
        rows = folded(found.rows, stand_ins)
        if len(rows) >= depth or len(found.rows) < most:
            return found._replace(rows=rows[:depth])
        most *= 2


def folded(rows: tuple[Row, ...], stand_ins: Mapping[str, Row]) -> tuple[Row, ...]:
    """Keep one row per text: that of the memory which stands for all copies, or the place of the first.
    A memory that is in the list keeps its own place, so that copies do not change the order."""
    listed = {row.id for row in rows}
    folded: dict[str, Row] = {}
    for row in rows:
        stands = stand_ins.get(row.id)
        if stands is None or stands.id == row.id:
            folded[row.id] = row
        elif stands.id not in listed and stands.id not in folded:
            # The text is the same, so the chunk is, too.
            folded[stands.id] = row._replace(id=stands.id, updated_us=stands.updated_us)
    return tuple(folded.values())


@stage
@limits(depth="1 or more", times="1 or more")
def keyword(
    run: Run, *, depth: int = 64, times: float = 1, weights: Mapping[str, float] = FIELD_WEIGHTS
) -> RankedList:
    """Memories that contain all terms of the query, then those that contain any, by BM25.
    Up to `depth` rows, or `times` the limit of the search if that is more."""
    return by_word(run, run.query.words, enough(run, depth, times), weights)


def check_ranking(*, ranking: str, **_: object) -> None:
    if ranking not in (BM25, COVER_DENSITY):
        raise InvalidInput(f"ranking is {ranking!r}; it must be {BM25} or {COVER_DENSITY}")


@stage
@limits(depth="1 or more", times="1 or more")
@checked_by(check_ranking)
def any_word(
    run: Run,
    *,
    depth: int = 30,
    times: float = 3,
    weights: Mapping[str, float] = FIELD_WEIGHTS,
    types: tuple[str, ...] = (),
    not_types: tuple[str, ...] = (),
    ranking: str = BM25,
) -> RankedList:
    """Memories that contain any term of the query, by BM25 alone; of some types, or all but some.
    Up to `depth` rows, or `times` the limit of the search if that is more. With `ranking`
    "cover_density", Postgres ranks by `ts_rank_cd`, and SQLite by BM25."""
    if types and not _has_types(run, types):
        return RankedList("keyword")
    depth, narrowed = enough(run, depth, times), _of_types(run, types, not_types)
    return by_any_word(narrowed, depth, weights, ranking)


def _of_types(run: Run, types: tuple[str, ...], not_types: tuple[str, ...]) -> Run:
    """Narrow the scope of a run to memories of some types, or to all but some."""
    scope = run.query.scope
    if types:
        allowed = types if scope.types is None else tuple(t for t in scope.types if t in types)
        scope = scope._replace(types=allowed)
    # Checking the type of every text with a common word takes longer than the search.
    if not_types and _has_types(run, not_types):
        scope = scope._replace(not_types=not_types)
    return run._replace(query=run.query._replace(scope=scope))


def _has_types(run: Run, types: tuple[str, ...]) -> bool:
    records = run.kit.records
    return records is None or records.any_visible(Scope(types=types))


def by_word(
    run: Run, terms: tuple[Term, ...], depth: int, weights: Mapping[str, float] = FIELD_WEIGHTS
) -> RankedList:
    """Return up to `depth` different texts that contain these terms, those with all of them first."""
    search, scope = _keyword_index(run, weights).search, run.query.scope
    return different(
        run, lambda most: search(terms, scope, most, weights, every_first=True), depth
    )


def by_any_word(run: Run, depth: int, weights: Mapping[str, float], ranking: str) -> RankedList:
    """Return up to `depth` different texts that contain any term of the query, by one ranking."""
    index = _keyword_index(run, weights)
    search = (
        index.search_by_cover_density
        if ranking == COVER_DENSITY
        else partial(index.search, every_first=False)
    )
    terms, scope = run.query.words, run.query.scope
    return different(run, lambda most: search(terms, scope, most, weights), depth)


def _keyword_index(run: Run, weights: Mapping[str, float]) -> KeywordIndex:
    """Return the index, after a check of the weights of fields."""
    unknown = [name for name in weights if name not in (*FIELD_WEIGHTS, "text")]
    if unknown or any(weight < 0 for weight in weights.values()):
        fields = ", ".join(("text", *FIELD_WEIGHTS))
        raise InvalidInput(
            f"keyword.weights is {dict(weights)}; the fields are {fields}, weights 0 or more"
        )
    index: KeywordIndex = run.kit.need("keyword")
    return index


@stage
@limits(depth="1 or more", times="1 or more")
def vector(
    run: Run, *, depth: int = 64, times: float = 1, not_types: tuple[str, ...] = ()
) -> RankedList:
    """Memories whose best chunk is nearest to the query's vector, by cosine; of all but some types."""
    if run.query.vector is None:  # embed_query has noted the reason
        return RankedList("vector", searched=False)
    narrowed, depth = _of_types(run, (), not_types), enough(run, depth, times)
    found = by_meaning(narrowed, run.query.vector, depth)
    return found if run.query.static is None else _with_stand_ins(narrowed, found, depth)


def _with_stand_ins(run: Run, found: RankedList, depth: int) -> RankedList:
    """Add the nearest of the texts that have only a static vector so far, and keep the best `depth`.
    Cosines of both models are compared as they are (docs/decisions/034-static-vectors.md)."""
    static, embedder = run.kit.need("static"), run.kit.need("embedder")
    rows = run.kit.need("vectors").stand_ins(
        run.query.static, static.name, embedder.name, run.query.scope, depth
    )
    best = {row.id: row for row in found.rows}
    for row in rows:
        if row.id not in best or best[row.id].score < row.score:
            best[row.id] = row
    return found._replace(rows=by_score(best.values())[:depth])


def by_meaning(run: Run, wanted: Any, depth: int, shortlist: int | None = None) -> RankedList:
    """Return up to `depth` different texts that are nearest to a vector.
    With a `shortlist`, that many are chosen by the first part of their vectors, and the whole
    vectors of those decide: faster in a very large store, but it sometimes misses one."""
    search, model = run.kit.need("vectors").search, run.kit.need("embedder").name
    ask = partial(search, wanted, model, run.query.scope, shortlist=shortlist)
    return different(run, ask, depth)


@stage
@limits(times="1 or more")
def variant(run: Run, *, number: int, times: float = 1) -> RankedList:
    """Memories that match one variant of the query: a lexical one by words, others by vector."""
    chosen = run.query.variants[number]
    depth = enough(run, 1, times)
    if chosen.kind == "lexical":
        return by_word(run, chosen.words, depth)
    return by_meaning(run, chosen.vector, depth)


@stage
@limits(times="1 or more")
def lexical(run: Run, *, times: float = 1) -> tuple[Source, ...]:
    """A source for each lexical variant, with up to `times` the limit of the search in rows."""
    return _per_variant(run, "lexical", times)


@stage
@limits(times="1 or more")
def semantic(run: Run, *, times: float = 1) -> tuple[Source, ...]:
    """A source for each semantic variant."""
    return _per_variant(run, "semantic", times)


@stage
@limits(times="1 or more")
def hyde(run: Run, *, times: float = 1) -> tuple[Source, ...]:
    """A source for the hypothetical answer."""
    return _per_variant(run, "hyde", times)


def _per_variant(run: Run, kind: str, times: float) -> tuple[Source, ...]:
    """Name each source after its kind: `lexical:1`, `lexical:2`."""
    numbers = [number for number, made in enumerate(run.query.variants) if made.kind == kind]
    return tuple(
        variant(number=number, times=times).named(f"{kind}:{place}")
        for place, number in enumerate(numbers, start=1)
    )


@stage
def nothing_searched(run: Run) -> bool:
    """True when no list could be searched so far."""
    return not any(ranked.searched for ranked in run.lists)


@stage
def look_up(run: Run) -> Run:
    """Look up the cosine of candidates that only words found, so that both count for all."""
    across, embedder = run.query.across, run.kit.embedder
    if run.query.vector is not None and embedder is not None:
        run = _looked_up(run, "vector", run.query.vector, embedder.name)
    return run if across is None else _looked_up(run, LANGUAGES, across.vector, across.model)


def _looked_up(run: Run, name: str, vector: Any, model: str) -> Run:
    """Add the cosine by one model to the candidates that the list of this name lacks."""
    index = run.kit.vectors
    lacking = tuple(candidate.id for candidate in run.pool if name not in candidate.found)
    if index is None or not lacking:
        return run
    scope = run.query.scope._replace(ids=lacking)
    found = {row.id: row for row in index.search(vector, model, scope, len(lacking)).rows}
    static = run.kit.static
    if name == "vector" and run.query.static is not None and static is not None:
        unread = scope._replace(ids=tuple(id_ for id_ in lacking if id_ not in found))
        rows = index.search(run.query.static, static.name, unread, len(lacking)).rows
        found |= {row.id: row for row in rows}

    def with_cosine(candidate: Candidate) -> Candidate:
        if (row := found.get(candidate.id)) is None:
            return candidate
        places = {**candidate.found, name: Found(None, row.score)}
        # A chunk that the list of a variant chose has a fused score, and stays.
        chunk = row.chunk if candidate.best_chunk is None else candidate.best_chunk
        return candidate._replace(found=places, best_chunk=chunk)

    looked_up = run.notes.get("looked_up", 0) + len(found)
    return run.holding(map(with_cosine, run.pool)).noting(looked_up=looked_up)


def enough(run: Run, depth: int, times: float) -> int:
    """Return the length of a list, which is never shorter than the limit of the search."""
    return max(depth, ceil(times * run.query.limit), run.query.least)

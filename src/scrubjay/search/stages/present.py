"""What a reader gets to see: how many, above what score, which passage."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.text.snippets import count_matches, preview, snippet
from scrubjay.types import NEAR_DUPLICATE, Candidate, Chunk, Memory


@stage
def pool(run: Run, *, size: int = 64) -> Run:
    """Keep the best for the slower stages: so many, or as many as were asked for if that is more."""
    if size < 1:
        raise InvalidInput(f"pool.size is {size}; it must be 1 or more")
    return run._replace(pool=run.pool[: max(size, run.query.limit)])


@stage
def top(run: Run) -> Run:
    """Keep as many as were asked for."""
    return run._replace(pool=run.pool[: run.query.limit])


@stage
def mark_near_duplicates(run: Run) -> Run:
    """Name, with each hit, the memories that say nearly the same, as far as the caller may see them."""
    graph = run.kit.graph
    if graph is None or not run.pool:
        return run
    # A near-duplicate may lack a word that was asked for; every other filter binds it.
    scope = run.query.scope._replace(holds=(), lacks=())
    alike = graph.linked([one.id for one in run.pool], scope, NEAR_DUPLICATE)
    if not alike:
        return run
    pool = tuple(one._replace(near_duplicates=alike.get(one.id, ())) for one in run.pool)
    return run._replace(pool=pool).noting(marked=len(alike))


@stage
def count_passages(run: Run) -> Run:
    """Note how many passages each candidate has: one of many is near a query by chance."""
    records = run.kit.records
    if records is None or not run.pool:
        return run
    counts = records.how_many_chunks([one.id for one in run.pool])
    pool = tuple(one._replace(passages=counts.get(one.id)) for one in run.pool)
    return run._replace(pool=pool).noting(of_several=sum(one > 1 for one in counts.values()))


@stage
def count_candidates(run: Run) -> Run:
    """Count the different memories that were found, before any of them is cut off."""
    return run._replace(counts={**run.counts, "candidates": len(run.pool)})


@stage
def count_hits(run: Run) -> Run:
    """Count how many of the hits each list found; one that two lists found counts for both."""
    found = {one.name: sum(one.name in hit.found for hit in run.pool) for one in run.lists}
    return run.noting(hits=found)


@stage
def at_least(run: Run, *, score: float = 0.0) -> Run:
    """Drop what scores below the profile's floor or the caller's minimum."""
    asked = run.query.min_score
    low = score if asked is None else max(score, asked)
    return run._replace(pool=tuple(one for one in run.pool if round(one.score, 6) >= low))


@stage
def load(run: Run) -> Run:
    """Fetch the records of the pool, under the scope again; what was deleted meanwhile is dropped."""
    records = run.kit.records
    if records is None:
        return run
    memories = records.get([one.id for one in run.pool], run.query.shown)
    chunks = records.chunks(
        (one.id, one.best_chunk) for one in run.pool if one.best_chunk is not None
    )
    pool = tuple(
        one._replace(memory=memories[one.id], chunk=chunks.get((one.id, one.best_chunk or 0)))
        for one in run.pool
        if one.id in memories
    )
    return run._replace(pool=pool)


@stage
def passages(run: Run, *, width_chars: int = 240) -> Run:
    """Choose the passage a reader should see first, with its lines, and cut a snippet out of it.

    That is the chunk that vectors liked best, unless it holds none of the query's words and another
    one does: who asked for a word wants to see it.
    """
    if width_chars < 1:
        raise InvalidInput(f"passages.width_chars is {width_chars}; it must be 1 or more")
    return run._replace(pool=tuple(_with_passage(run, one, width_chars) for one in run.pool))


def _with_passage(run: Run, one: Candidate, width_chars: int) -> Candidate:
    if one.memory is None:
        return one
    text, terms, language = one.memory.text, run.query.terms, one.memory.language
    chunk = one.chunk
    whole = chunk is not None and chunk.stop - chunk.start == len(text)
    if not whole and (
        chunk is None or not any(count_matches([text[chunk.start : chunk.stop]], terms, language))
    ):
        chunk = wordiest(run, one.memory) or chunk
    passage = text[chunk.start : chunk.stop] if chunk else text
    shown = snippet(passage, terms, width_chars, language)
    return one._replace(chunk=chunk, snippet=shown, complete=shown == text)


def wordiest(run: Run, memory: Memory) -> Chunk | None:
    """Return the first of a memory's chunks that hold the most of the query's words."""
    if run.kit.records is None:
        return None
    text, terms = memory.text, run.query.terms
    chunks = run.kit.records.chunks_of(memory.id)
    if len(chunks) == 1:
        return chunks[0]
    passages = [text[chunk.start : chunk.stop] for chunk in chunks]
    likely = [passage if _may_hold(passage, terms) else "" for passage in passages]
    counts = count_matches(likely, terms, memory.language)
    if not any(counts):
        counts = count_matches(passages, terms, memory.language)
    found = [(n, -chunk.ordinal, chunk) for n, chunk in zip(counts, chunks, strict=True)]
    best = max(found, default=None)
    return best[2] if best and best[0] else None


def _may_hold(passage: str, terms: tuple[str, ...]) -> bool:
    """False when no term can be in a passage, by its first letters: looking for words takes far longer.

    A few words change their first letters (dying, die); then another passage is shown.
    """
    if not passage.isascii():
        return True
    small = passage.lower()
    return any(term.removesuffix("*")[:3] in small for term in terms)


@stage
def previews(
    run: Run,
    *,
    expand_top: int = 3,
    above: float = 0.80,
    under_chars: int = 2048,
    preview_chars: int = 200,
) -> Run:
    """Show how each text begins, cut at a word; the first few that a reranker is sure of, whole.

    Those are the first `expand_top` that were reranked, score above `above` and have fewer than
    `under_chars` characters. Where there is nothing to show, the trace says what was searched.
    """
    if expand_top < 0 or preview_chars < 1:
        raise InvalidInput(
            f"previews.expand_top is {expand_top} and preview_chars {preview_chars};"
            " at least 0 and 1 are right"
        )
    if not run.pool:
        return run.noting(nothing_found=_searched(run))
    pool, expanded = [], 0
    for one in run.pool:
        text = one.memory.text if one.memory else ""
        sure = one.rerank_score is not None and round(one.score, 6) > above
        whole = sure and len(text) < under_chars and expanded < expand_top
        expanded += whole
        shown = text if whole else preview(text, preview_chars)
        pool.append(one._replace(snippet=shown, complete=shown == text))
    return run._replace(pool=tuple(pool)).noting(expanded=expanded)


def _searched(run: Run) -> str:
    """Say what was searched in vain: nothing found is an answer, too."""
    lists = ", ".join(f"{one.name} {len(one.rows)}" for one in run.lists if one.searched)
    looked_at = run.counts.get("candidates", 0)
    return f"{lists or 'nothing'}; {looked_at} candidates, none of them good enough"


@stage
def check_files(run: Run, *, most: int = 2000) -> Run:
    """Mark documents whose file has changed or vanished since it was read, and count all such files.

    Where more than `most` files are indexed, only those of the hits are looked at.
    """
    files = run.kit.files
    if files is None or not (indexed := files.how_many()):
        return run
    if indexed <= most:
        known = {
            one.memory: one for one in files.seen(run.query.scope._replace(holds=(), lacks=()))
        }
    else:
        known = dict(files.of([one.id for one in run.pool if one.memory and one.memory.source]))
    if not known:  # that others have files is none of this caller's business
        return run
    # One file may be in two namespaces, read at different times.
    seen = {(one.path, one.size, one.mtime_ns): one for one in known.values()}
    states = {key: one.state() for key, one in seen.items()}
    stale = {id_: states[one.path, one.size, one.mtime_ns] for id_, one in known.items()}
    pool = tuple(one._replace(stale=stale.get(one.id, one.stale)) for one in run.pool)
    changed = {path for (path, *_), state in states.items() if state}
    checked = {path for path, *_ in states}
    counts = {**run.counts, "checked_files": len(checked), "changed_files": len(changed)}
    return run._replace(pool=pool, counts=counts)

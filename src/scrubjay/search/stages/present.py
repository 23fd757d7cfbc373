"""Presentation: which hits are shown, above which score, and which passage of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scrubjay.errors import TimedOut, Unavailable
from scrubjay.search.pipeline import Run, limits, stage
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.text.snippets import count_matches, preview, snippet
from scrubjay.types import NEAR_DUPLICATE, Candidate, Chunk, Memory

_ITSELF = "…"
BANDS: Mapping[str, float] = {"excellent": 0.30, "good": 0.20}
LOWEST_BAND, UNREAD = "weak", "unread"


@stage
@limits(size="1 or more")
def pool(run: Run, *, size: int = 64) -> Run:
    """Keep the best candidates for the slower stages: `size`, or the limit of the search if larger."""
    return run._replace(pool=run.pool[: max(size, run.query.limit)])


@stage
def top(run: Run) -> Run:
    """Keep as many candidates as the limit of the search allows."""
    return run._replace(pool=run.pool[: run.query.limit])


@stage
def mark_near_duplicates(run: Run) -> Run:
    """List with each hit the memories with nearly the same text that the caller can read."""
    graph = run.kit.graph
    # A near-duplicate may lack a word of the query; every other filter applies to it.
    scope = run.query.scope._replace(holds=(), lacks=())
    try:
        if graph is None or not run.pool or graph.is_empty():
            return run
        alike = graph.linked([candidate.id for candidate in run.pool], scope, NEAR_DUPLICATE)
    except TimedOut as error:  # the hits are the same without the marks
        raise Unavailable(str(error)) from error
    if not alike:
        return run
    pool = (one._replace(near_duplicates=alike.get(one.id, ())) for one in run.pool)
    return run.holding(pool).noting(marked=len(alike))


@stage
def count_passages(run: Run) -> Run:
    """Count the chunks of each candidate: one of many is near a query by chance."""
    records = run.kit.records
    if records is None or not run.pool:
        return run
    counts = records.chunk_counts([candidate.id for candidate in run.pool])
    pool = (candidate._replace(passages=counts.get(candidate.id)) for candidate in run.pool)
    return run.holding(pool).noting(of_several=sum(count > 1 for count in counts.values()))


@stage
def count_candidates(run: Run) -> Run:
    """Count the different memories that were found, before any is cut off."""
    return run.counting(candidates=len(run.pool))


@stage
def count_hits(run: Run) -> Run:
    """Count the hits that each list found; a hit in two lists counts for both."""
    names = [ranked.name for ranked in run.lists]
    return run.noting(hits={name: sum(name in hit.found for hit in run.pool) for name in names})


@stage
def at_least(run: Run, *, score: float = 0.0) -> Run:
    """Drop candidates that score below the profile's floor or the caller's minimum."""
    asked = run.query.min_score
    least = score if asked is None else max(score, asked)
    return run.holding(one for one in run.pool if round(one.score, 6) >= least)


@stage
def load(run: Run) -> Run:
    """Load the memories of the pool, under the scope again; those deleted meanwhile are dropped."""
    records = run.kit.records
    if records is None:
        return run
    asked = [candidate.id for candidate in run.pool]
    memories = records.get(asked, run.query.shown)
    chunks = best_chunks(records, run.pool)
    run = run.holding(
        candidate._replace(memory=memories[candidate.id], chunk=chunks.get(candidate.id))
        for candidate in run.pool
        if candidate.id in memories
    )
    lost = [id_ for id_ in dict.fromkeys(asked) if id_ not in memories and records.is_damaged(id_)]
    return run.noting(warning=records.damage_note(lost)) if lost else run


def best_chunks(records: SqlRecords, pool: Iterable[Candidate]) -> dict[str, Chunk]:
    """Return the best chunk of each candidate that has one, by the id of the candidate."""
    best = [(one.id, one.best_chunk) for one in pool if one.best_chunk is not None]
    return {id_: chunk for (id_, _), chunk in records.chunks(best).items()}


@stage
@limits(turns="1 or more")
def around(run: Run, *, turns: int = 1) -> Run:
    """Add to each short message the `turns` messages before and after it: they give it a meaning.

    They become its context, a line each, as `role: text`, or the text alone where the role is unknown;
    the line “…” stands for the message itself.
    """
    records = run.kit.records
    messages = [one.memory for one in run.pool if one.memory and one.memory.type == "message"]
    if records is None or not messages:
        return run
    most_chars = records.short_turn_chars
    short = [message.id for message in messages if len(message.text) <= most_chars]
    # A neighbour may lack a word of the query; every other filter applies to it.
    scope = run.query.shown._replace(holds=(), lacks=())
    neighbours = records.around(short, turns, scope) if short else {}
    if not neighbours:
        return run

    def with_context(candidate: Candidate) -> Candidate:
        sides = neighbours.get(candidate.id, ((), ()))
        before, after = ([_line(turn, most_chars) for turn in side] for side in sides)
        if candidate.memory is None or not (before or after):
            return candidate
        lines = filter(None, (candidate.memory.context, *before, _ITSELF, *after))
        return candidate._replace(memory=candidate.memory._replace(context="\n".join(lines)))

    return run.holding(map(with_context, run.pool)).noting(told=len(neighbours))


def _line(turn: Memory, most_chars: int) -> str:
    """Return a message as one line, no longer than what is embedded of it with its neighbour."""
    text = " ".join(turn.text.split())
    shown = preview(text, most_chars)
    speaker = f"{turn.role}: " if turn.role else ""
    return f"{speaker}{shown}{'' if shown == text else ' …'}"


@stage
@limits(width_chars="1 or more")
def passages(run: Run, *, width_chars: int = 240) -> Run:
    """Choose the passage to show first, with its lines, and cut a snippet out of it.

    That is the best chunk by vector, unless it contains no word of the query and another chunk does.
    """
    return run.holding(_with_passage(run, candidate, width_chars) for candidate in run.pool)


def _with_passage(run: Run, candidate: Candidate, width_chars: int) -> Candidate:
    if candidate.memory is None:
        return candidate
    text, terms, language = candidate.memory.text, run.query.terms, candidate.memory.language
    chunk = candidate.chunk
    whole = chunk is not None and chunk.stop - chunk.start == len(text)
    if not whole and (
        chunk is None or not any(count_matches([text[chunk.start : chunk.stop]], terms, language))
    ):
        chunk = wordiest(run, candidate.memory) or chunk
    passage = text[chunk.start : chunk.stop] if chunk else text
    shown = snippet(passage, terms, width_chars, language)
    return candidate._replace(chunk=chunk, snippet=shown, complete=shown == text)


def wordiest(run: Run, memory: Memory) -> Chunk | None:
    """Return the first of a memory's chunks that contain the most words of the query."""
    if run.kit.records is None:
        return None
    text, terms = memory.text, run.query.terms
    chunks = run.kit.records.chunks_of(memory.id)
    if len(chunks) == 1:
        return chunks[0]
    passages = [text[chunk.start : chunk.stop] for chunk in chunks]
    likely = [passage if _may_match(passage, terms) else "" for passage in passages]
    counts = count_matches(likely, terms, memory.language)
    if not any(counts):
        counts = count_matches(passages, terms, memory.language)
    ranked = [(n, -chunk.ordinal, chunk) for n, chunk in zip(counts, chunks, strict=True) if n]
    return max(ranked)[2] if ranked else None


def _may_match(passage: str, terms: tuple[str, ...]) -> bool:
    """False when no term can be in a passage, by first letters alone: `matches` takes far longer.

    A few words change their first letters (dying, die); then another passage is shown.
    """
    if not passage.isascii():
        return True
    small = passage.lower()
    return any(term.removesuffix("*")[:3] in small for term in terms)


def band_of(score: float, bands: Mapping[str, float] = BANDS) -> str:
    """Return the first band that a score reaches, or the lowest."""
    reached = (name for name, least in bands.items() if round(score, 6) >= least)
    return next(reached, LOWEST_BAND)


@stage
@limits(expand_top="0 or more", preview_chars="1 or more", bands="between 0 and 1")
def previews(
    run: Run,
    *,
    expand_top: int = 3,
    above: float = 0.80,
    under_chars: int = 2048,
    preview_chars: int = 200,
    bands: Mapping[str, float] = BANDS,
) -> Run:
    """Show the beginning of each text, cut at a word, and the best few texts whole.

    Those are the first `expand_top` that were reranked, score above `above` and have fewer than
    `under_chars` characters. `bands` are words for scores of a reranker, each with its least score; other
    hits are marked as unread. Without hits, the trace notes what was searched.
    """
    if not run.pool:
        return run.noting(nothing_found=_searched(run))
    pool, expanded = [], 0
    for candidate in run.pool:
        text = candidate.memory.text if candidate.memory else ""
        sure = candidate.rerank_score is not None and round(candidate.score, 6) > above
        whole = sure and len(text) < under_chars and expanded < expand_top
        expanded += whole
        shown = text if whole else preview(text, preview_chars)
        band = UNREAD if candidate.rerank_score is None else band_of(candidate.score, bands)
        pool.append(candidate._replace(snippet=shown, complete=shown == text, band=band))
    return run._replace(pool=tuple(pool)).noting(expanded=expanded)


def _searched(run: Run) -> str:
    lists = [f"{ranked.name} {len(ranked.rows)}" for ranked in run.lists if ranked.searched]
    found = f"{run.counts.get('candidates', 0)} candidates, none of them good enough"
    return f"{', '.join(lists) or 'nothing'}; {found}"


@stage
def check_files(run: Run, *, most: int = 2000) -> Run:
    """Mark hits whose file has changed or vanished since it was ingested, and count all such files.

    Where more than `most` files are ingested, only those of the hits are checked.
    """
    files = run.kit.files
    if files is None or files.is_empty():
        return run
    if files.count() <= most:
        scope = run.query.scope._replace(holds=(), lacks=())
        known = {file.memory: file for file in files.visible(scope)}
    else:
        known = dict(files.of([one.id for one in run.pool if one.memory and one.memory.source]))
    if not known:  # the files of others are not counted
        return run
    # One file may be in two namespaces, read at different times.
    distinct = {(file.path, file.size, file.mtime_ns): file for file in known.values()}
    states = {key: file.state() for key, file in distinct.items()}
    stale = {id_: states[file.path, file.size, file.mtime_ns] for id_, file in known.items()}
    pool = (one._replace(stale=stale.get(one.id, one.stale)) for one in run.pool)
    changed = {path for (path, *_), state in states.items() if state}
    checked = {path for path, *_ in states}
    return run.holding(pool).counting(checked_files=len(checked), changed_files=len(changed))

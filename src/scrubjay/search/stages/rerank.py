"""Reranking: compare the query with the best passages token by token, or with a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable
from scrubjay.runtime.command_hints import pending_vectors
from scrubjay.search.pipeline import (
    Run,
    Stage,
    configured,
    explained_by,
    limits,
    stage,
    summed,
    when,
)
from scrubjay.search.stages.fuse import blended_best, over
from scrubjay.search.stages.present import best_chunks, wordiest
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.snippets import embedding_text
from scrubjay.types import Candidate, Chunk, Found, Memory, Step

if TYPE_CHECKING:
    from scrubjay.models import Matrix
    from scrubjay.models.guard import GuardedEmbedder, GuardedReranker
    from scrubjay.search.explanation import Explanation
    from scrubjay.text.token_vectors import TokenCodes

LATE = "late"
CROSS = "cross_encoder"
BUNDLED = "bundled_cross_encoder"
# Average MaxSim of MiniLM between a question and an unrelated passage.
UNRELATED = 0.38
_MOST_QUERY_CHARS = 2000
_SHORTEST_CHARS = 200  # a reranker takes hardly less time for a shorter text
_MADE_AT_ONCE = 8  # passages embedded while a search waits: about a quarter of a second


@stage
@limits(
    depth="1 or more",
    floor="0 or more and below 1",
    static_floor="0 or more and below 1",
)
def late_interaction(
    run: Run, *, depth: int = 64, floor: float = 0.0, static_floor: float = 0.0
) -> Run:
    """Compare each token of the query with its nearest token in a candidate's best passage (MaxSim).
    Scores are counted from the floor, the average of unrelated texts, to 1. The token vectors
    are stored with the vector of the passage; while many are missing, static ones are compared,
    counted from `static_floor`. A query in a language that the model does not support is left as
    it is: its tokens are single letters."""
    index = run.kit.need("tokens")
    if not run.pool:
        return run
    if run.query.tokens is None:  # embed_query has noted the reason, or the model has none
        raise Unavailable("the query has no token vectors")
    embedder, tokens = run.kit.need("embedder"), run.query.tokens
    if run.query.foreign:
        return run.noting(left_out=f"{embedder.name} does not support {run.query.language}")
    places = [(candidate.id, candidate.best_chunk or 0) for candidate in run.pool[:depth]]
    stored = index.of(embedder.name, places)
    if any(codes.codes.shape[1] != tokens.shape[1] for codes in stored.values()):
        raise Unavailable(
            f"the stored token vectors have another width than those of {embedder.name} on this"
            " machine; another version of it writes to this store"
        )
    missing = [place for place in places if place not in stored]
    if len(missing) > _MADE_AT_ONCE and not embedder.is_instant:
        embedder, tokens = _static_query(run, f"{len(missing)} of {len(places)}")
        stored, missing = {}, places
    if missing:
        stored = {**stored, **_made(run, embedder, missing)}

    from scrubjay.text.token_vectors import TokenCodes, max_sim

    none = TokenCodes(tokens[:0], 1.0)  # for a memory that was just deleted
    scores = max_sim(tokens, [stored.get(place, none) for place in places])
    least = static_floor if embedder.is_instant else floor
    above = [max(score - least, 0.0) / (1 - least) for score in scores]
    run = _with_scores(run, LATE, [min(score, 1.0) for score in above])
    return run.noting(by="late interaction", model=embedder.name, passages=len(places))


def _static_query(run: Run, waiting: str) -> tuple[GuardedEmbedder, Matrix]:
    """Return the static embedder and its token vectors of the query; raises Unavailable without one."""
    static = run.kit.static
    text = valid_unicode(run.query.meaning or run.query.text)[:_MOST_QUERY_CHARS]
    tokens = None if static is None else static.encode([text], as_query=True)[1]
    if static is None or not tokens:
        raise Unavailable(f"{waiting} passages have no token vectors yet; {pending_vectors()}")
    return static, tokens[0]


def _made(
    run: Run, embedder: GuardedEmbedder, places: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], TokenCodes]:
    """Compute the few token vectors that are not stored yet; a worker stores them later."""
    from scrubjay.text.token_vectors import TokenCodes, pack, unpack

    records = run.kit.need("records")
    memories = records.get([id_ for id_, _ in places], run.query.scope)
    chunks = records.chunks(places)
    here = [place for place in places if place in chunks and place[0] in memories]
    found = ((memories[id_], chunks[id_, ordinal]) for id_, ordinal in here)
    texts = [
        embedding_text(of.title, chunk.heading, of.context, of.text[chunk.start : chunk.stop])
        for of, chunk in found
    ]
    tokens = embedder.encode(texts)[1] if texts else []
    if tokens is None:
        return {}
    if embedder.is_instant:
        return {place: TokenCodes(rows, 1.0) for place, rows in zip(here, tokens, strict=True)}
    # Rounded as they will be when stored, so that results do not change then.
    return {
        place: unpack(pack(rows), rows.shape[1]) for place, rows in zip(here, tokens, strict=True)
    }


@stage
@limits(depth="1 or more", chars="1 or more", deadline_ms="above 0", give_up_s="above 0")
def cross_encoder(
    run: Run,
    *,
    depth: int = 20,
    chars: int = 4000,
    deadline_ms: float | None = 2000,
    give_up_s: float = 10,
    titles: bool = False,
) -> Run:
    """Score the best passage of each candidate with the configured reranker, in one call.
    A passage is the best chunk with its surroundings, up to `chars` characters; a large number
    means the whole document. With `titles`, the title stands before it. The measured speed of the
    reranker decides how many passages fit into the deadline. A query in a language that the reranker
    states not to support is left as it is. A call that takes longer than `give_up_s` is abandoned."""
    reranker: GuardedReranker = run.kit.bundled_reranker or run.kit.need("reranker")
    if not run.pool:
        return run
    if not reranker.reads(run.query.language):
        return run.noting(left_out=f"{reranker.name} does not support {run.query.language}")
    texts = _passages(run, run.pool[:depth], chars, titles=titles)
    speed_ms = reranker.ms_per_1000_chars(give_up_s) if deadline_ms is not None else None
    pairs = _fitting(texts, speed_ms, deadline_ms)
    query = valid_unicode(run.query.meaning or run.query.text)[:_MOST_QUERY_CHARS]
    scores = reranker.score(query, texts[:pairs], within_s=give_up_s)
    run = _with_scores(run, CROSS, scores).counting(reranked=pairs)
    run = run.noting(by=reranker.name, pairs=pairs, of=len(texts))
    if pairs < len(texts):
        run = run.warning(
            f"{pairs} of {len(texts)} passages were reranked: no more fit into {deadline_ms:g} ms"
        )
    return run if speed_ms is None else run.noting(ms_per_1000_chars=round(speed_ms, 3))


@stage
def bundled_reads(run: Run) -> bool:
    """True when the bundled reranker may be used, and reads the language of the query."""
    reranker = run.kit.bundled_reranker
    return reranker is not None and reranker.reads(run.query.language)


def best_reader(*, named: Stage, bundled: Stage, late: Stage) -> Stage:
    """Read candidates with the reranker that the user has chosen, else with the bundled one where it is
    installed, else by token vectors."""
    return when(
        test=configured(part="reranker"),
        then=(named,),
        otherwise=(
            when(
                test=bundled_reads(),
                then=(bundled.named(BUNDLED),),
                otherwise=(late,),
            ).named("no_reranker_chosen"),
        ),
    )


def _fitting(texts: Sequence[str], speed_ms: float | None, deadline_ms: float | None) -> int:
    """Return how many texts fit into the deadline, at least one; decided before the call."""
    if speed_ms is None or deadline_ms is None:
        return len(texts)
    spent_ms = 0.0
    for number, text in enumerate(texts):
        spent_ms += speed_ms * max(len(text), _SHORTEST_CHARS) / 1000
        if spent_ms > deadline_ms and number:
            return number
    return len(texts)


def _with_scores(run: Run, name: str, scores: Sequence[float]) -> Run:
    """Give the scores of a reranker to the first candidates, in order."""
    scored = tuple(
        candidate._replace(found={**candidate.found, name: Found(None, score)}, rerank_score=score)
        for candidate, score in zip(run.pool, scores, strict=False)
    )
    return run.holding((*scored, *run.pool[len(scored) :]))


def _passages(run: Run, chosen: Sequence[Candidate], chars: int, *, titles: bool) -> list[str]:
    """Return the passage of each candidate for a reranker; "" for one that was just deleted.
    Where vectors chose no chunk, it is the chunk with the most words of the query."""
    records = run.kit.need("records")
    memories = {candidate.id: candidate.memory for candidate in chosen if candidate.memory}
    unread = [candidate.id for candidate in chosen if candidate.memory is None]
    memories |= records.get(unread, run.query.scope)
    # A text that fits is read whole, so its best chunk need not be looked up.
    long = {id_: memory for id_, memory in memories.items() if len(memory.text) > chars}
    chunks = best_chunks(records, (candidate for candidate in chosen if candidate.id in long))
    chunks |= {
        id_: best
        for id_, memory in long.items()
        if id_ not in chunks and (best := wordiest(run, memory))
    }
    known = [(memories.get(candidate.id), chunks.get(candidate.id)) for candidate in chosen]
    return [
        embedding_text(memory.title if titles else "", "", "", _around(memory, chunk, chars))
        if memory
        else ""
        for memory, chunk in known
    ]


def _around(memory: Memory, chunk: Chunk | None, chars: int) -> str:
    """Return a chunk with as much of its document before and after it as fits."""
    text = memory.text
    start, stop = (chunk.start, chunk.stop) if chunk else (0, min(chars, len(text)))
    room = chars - (stop - start)
    if room <= 0:
        return text[start:stop]
    # Room that one side does not need goes to the other.
    before = min(start, max(room // 2, room - (len(text) - stop)))
    after = min(len(text) - stop, room - before)
    return text[_word_start(text, start - before, start) : stop + after]


def _word_start(text: str, position: int, latest: int) -> int:
    """Return the start of the first whole word from a position on."""
    if position <= 0 or text[position - 1].isspace():
        return max(position, 0)
    space = text.find(" ", position, latest)
    return space + 1 if space >= 0 else position


def _explain_blend(explanation: Explanation, _: Step) -> None:
    if (score := explanation.hit.rerank_score) and "rerank" in explanation.hit.why:
        best = blended_best(explanation)
        share = explanation.hit.why["rerank"] / score * best
        explanation.add("rerank", f"{share:g} × {score:.6f}{over(best)}")


@stage
@limits(top3="between 0 and 1", top10="between 0 and 1", beyond="between 0 and 1")
@explained_by(_explain_blend)
def blend(run: Run, *, top3: float = 0.75, top10: float = 0.60, beyond: float = 0.40) -> Run:
    """Mix fused and rerank score; the higher a candidate ranked in fusion, the more fusion counts.
    A candidate that was not reranked keeps the last share of its fused score, so that it stays
    below the reranked ones. Where none was reranked, fused scores stay as they are."""
    if all(candidate.rerank_score is None for candidate in run.pool):
        return run
    pool = []
    for place, candidate in enumerate(run.pool, start=1):
        score = candidate.rerank_score
        share = top3 if place <= 3 else top10 if place <= 10 else beyond
        share = beyond if score is None else share
        why = {name: part * share for name, part in candidate.why.items()}
        read = {} if score is None else {"rerank": (1 - share) * score}
        pool.append(summed(candidate, {**why, **read}))
    return run.ranked(pool)

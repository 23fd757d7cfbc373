"""A finished run as the answer that a caller gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.types import Candidate, Hit, Memory, Results, Step

if TYPE_CHECKING:
    from scrubjay.search.pipeline import Run


def results_of(run: Run, profile: str, took_ms: float) -> Results:
    """Turn a finished run into the answer."""
    hits = tuple(hit_of(candidate, candidate.memory) for candidate in run.pool if candidate.memory)
    topics: dict[str, int] = {}
    for hit in hits:
        for topic in hit.topics:
            topics[topic] = topics.get(topic, 0) + 1
    return Results(
        query=run.query.text,
        profile=profile,
        hits=hits,
        counts={
            **{one.name: len(one.rows) for one in run.lists},
            **run.counts,
            "returned": len(hits),
        },
        topics=dict(sorted(topics.items(), key=lambda pair: (-pair[1], pair[0]))),
        degraded=tuple(dict.fromkeys(degradations(run.trace))),
        trace=run.trace,
        took_ms=took_ms,
        confidence=run.confidence,
        terms=run.query.terms,
    )


def degradations(steps: tuple[Step, ...]) -> list[str]:
    """Every reason why this answer is less than it could be, in the order of the stages."""
    reasons: list[str] = []
    for step in steps:
        if step.lost:
            reasons.append(f"{step.stage}: {step.lost}")
        if "warning" in step.notes:
            reasons.append(f"{step.stage}: {step.notes['warning']}")
        reasons.extend(degradations(step.branches))
    return reasons


def hit_of(candidate: Candidate, memory: Memory) -> Hit:
    """Show a candidate as a result."""
    vector = candidate.found.get("vector")
    said = memory.text if candidate.description is None else candidate.description
    return Hit(
        id=memory.id,
        # As it was sorted by, so that it never rises down the list.
        score=round(candidate.score, 6),
        text=candidate.snippet if candidate.brief else said,
        title=memory.title,
        type=memory.type,
        topics=memory.topics,
        namespace=memory.namespace,
        collection=memory.collection,
        domain=memory.domain,
        severity=memory.severity,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        source=memory.source,
        lines=(candidate.chunk.first_line, candidate.chunk.last_line) if candidate.chunk else None,
        page=_page(candidate, memory),
        heading=candidate.chunk.heading if candidate.chunk else "",
        language=memory.language,
        stale=candidate.stale,
        rerank_score=candidate.rerank_score,
        snippet=candidate.snippet,
        complete=candidate.complete,
        token_estimate=-(-len(said) // 4),
        cosine=vector.score if vector else None,
        why=candidate.why,
        found=candidate.found,
        near_duplicates=candidate.near_duplicates,
        tier=candidate.tier,
        context="" if candidate.brief else memory.context,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        session=memory.session,
        role=memory.role,
        event_time=memory.event_time,
        event_until=memory.event_until,
        passages=candidate.passages,
        owner=memory.owner,
        agent=memory.agent,
    )


def _page(candidate: Candidate, memory: Memory) -> int | None:
    """Return the page of a passage, in texts that have pages: each begins with a form feed."""
    if candidate.chunk is None or memory.metadata.get("format") != "pages":
        return None
    return memory.text.count("\f", 0, candidate.chunk.start) + 1

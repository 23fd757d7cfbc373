"""Compact results for a person: a table, how many candidates were reranked, and the topics."""

from __future__ import annotations

from datetime import datetime

from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import Screen, one_line
from scrubjay.types import Hit, Results

_HEAD = ("score", "cosine", "type", "changed", "complete", "id", "topics", "preview")


def compact(found: Results, screen: Screen, now: datetime | None = None) -> str:
    """Return `Results.compact()` as lines, each hit on one; scores and cosines are of 100."""
    now = now or facts.here()
    head, *rows = table([_HEAD, *(_row(hit, now) for hit in found.hits)])
    lines = [screen.bold(head), *rows] if rows else render.nothing(found)
    topics = ", ".join(f"{topic} ({count:,})" for topic, count in found.topics.items())
    return "\n".join((*lines, found.summary, *([one_line(f"Topics: {topics}")] if topics else [])))


def _row(hit: Hit, now: datetime) -> tuple[str, ...]:
    score = f"{facts.points(hit.score):3}"
    return (
        score if hit.band is None else f"{score} {one_line(hit.band)}",
        "" if hit.cosine is None else f"{facts.points(hit.cosine):6}",
        one_line(hit.type),
        facts.stamp(hit.updated_at or hit.created_at, now),
        "yes" if hit.complete else "no",
        one_line(hit.id),
        one_line(", ".join(hit.topics)),
        one_line(f"{hit.title}: {hit.snippet}" if hit.title else hit.snippet),
    )

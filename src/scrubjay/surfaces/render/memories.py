"""Stored memories as text for a person: one in full, or many as a list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.layout import cut, indent, pad, width
from scrubjay.surfaces.render.terminal import Screen, clean, one_line
from scrubjay.types import NEAR_DUPLICATE, Link, Memories, Memory

if TYPE_CHECKING:
    from scrubjay.write.fields import Change

_DIRECTED = ("supersedes", "superseded by")
_MIN_COLUMNS = 8  # of a title: less is useless


def memory(
    stored: Memory,
    screen: Screen,
    now: datetime | None = None,
    history: Sequence[Change] = (),
    tier: str | None = None,
) -> str:
    now = now or facts.here()
    parts = (
        *facts.about(stored, now),
        *facts.as_entry(stored),
        facts.validity(stored, now),
        facts.of_tier(tier),
        stored.collection,
        stored.source,
        stored.id,
    )
    line = screen.dim(" · ".join(one_line(part) for part in parts if part))
    head = [screen.bold(one_line(stored.title)), line] if stored.title else [line]
    others = [link for link in stored.links if link.kind not in (NEAR_DUPLICATE, *_DIRECTED)]
    message = stored.metadata.get("message") if stored.type == "fact" else None
    below = [
        f"context: {stored.context}" if stored.context else "",
        facts.near_duplicates([link.to for link in stored.links if link.kind == NEAR_DUPLICATE]),
        *(f"{link.kind} {link.to}" for link in stored.links if link.kind in _DIRECTED),
        f"links: {', '.join(map(_linked, others))}" if others else "",
        f"extracted from message {message}" if isinstance(message, str) else "",
        *(f"{_became(change)} {facts.age(change.at, now)}" for change in history),
    ]
    notes = [screen.dim(indent(one_line(note), screen.width, 0)) for note in below if note]
    return "\n\n".join(("\n".join(head), clean(stored.text).rstrip(), *notes))


def _linked(link: Link) -> str:
    return f"{link.to} ({link.kind} {link.strength:g})"


def _became(change: Change) -> str:
    if change.field != "valid_until":
        return f"{change.before} became {change.after}"
    return f"superseded as of {change.after}," if change.after else "held again,"


def memories(
    many: list[Memory], screen: Screen, now: datetime | None = None, *, ends: bool = False
) -> str:
    """Return memories as a list, one line each; those that are not valid now are marked.

    With `ends`, each line has the end of the validity, which is never cut; titles are.
    """
    window = facts.end_of if ends else facts.mark_of
    tiers = many.tiers if isinstance(many, Memories) else {}
    now = now or facts.here()
    ids = [one_line(memory.id) for memory in many]
    column = max(map(width, ids), default=0)
    # Entries have more facts.
    most = screen.width // (2 if tiers or any(map(facts.as_entry, many)) else 3)
    if any(memory.type == "message" for memory in many):
        most = screen.width * 3 // 5
    lines = []
    for shown, memory in zip(ids, many, strict=True):
        kind, *others = facts.about(memory, now)
        if memory.type == "message" and memory.session:  # the speaker and the session imply it
            kind = ""
        tier = facts.of_tier(tiers.get(memory.id))
        parts = (tier, kind, *facts.as_entry(memory), *others, facts.place(memory))
        tail = _tail(window(memory, now), one_line(" · ".join(filter(None, parts))), most)
        room = max(screen.width - column - width(tail) - 4, _MIN_COLUMNS)
        text = pad(cut(facts.headline(memory.title, memory.text), room), room)
        lines.append(f"{screen.dim(pad(shown, column))}  {text}  {screen.dim(tail)}".rstrip())
    return "\n".join(lines)


def _tail(window: str, rest: str, most: int) -> str:
    """Return the end of a line: the validity in full, and as much of the rest as fits."""
    if not window:
        return cut(rest, most)
    room = most - width(window) - 3
    return f"{window} · {cut(rest, room)}" if room >= _MIN_COLUMNS else window

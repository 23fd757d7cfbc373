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
    from scrubjay.types.reports import Version

_DIRECTED = ("supersedes", "superseded by", "updates", "updated by")
_MIN_COLUMNS = 8  # of a title: less is useless


def memory(
    stored: Memory,
    screen: Screen,
    now: datetime | None = None,
    history: Sequence[Version] = (),
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
        *(
            f"{_happened(version)}, {facts.age(version.changed_at, now)}"
            for version in history[:-1]
        ),
    ]
    notes = [screen.dim(indent(one_line(note), screen.width, 0)) for note in below if note]
    return "\n\n".join(("\n".join(head), clean(stored.text).rstrip(), *notes))


def _linked(link: Link) -> str:
    return f"{link.to} ({link.kind} {link.strength:g})"


def versions(many: Sequence[Version], screen: Screen, now: datetime | None = None) -> str:
    """Return the versions of a memory, newest first; a text is shown once, at its newest version."""
    now = now or facts.here()
    blocks = []
    text = None
    for version in many:
        line = f"{facts.stamp(version.changed_at, now)}  {_happened(version)}"
        values = (f"{name}: {_value(value)}" for name, value in version.changed.items())
        notes = [indent(one_line(value), screen.width, 2) for value in values]
        block = [screen.dim(line), *map(screen.dim, notes)]
        if version.text != text:
            block.append(clean(version.text).rstrip())
        blocks.append("\n".join(block))
        text = version.text
    return "\n\n".join(blocks)


def _happened(version: Version) -> str:
    return one_line(f"{version.what} by {version.by}" if version.by else version.what)


def changed_back(
    before: Memory, after: Memory, fields: Sequence[str], screen: Screen
) -> list[str]:
    """Return a line for each field that an undo changed back: from what, to what."""
    if not fields:
        return ["Nothing else has changed."]
    most = max((screen.width - max(map(len, fields)) - 6) // 2, _MIN_COLUMNS)
    old_new = ((name, getattr(before, name), getattr(after, name)) for name in fields)
    return [
        f"{name}: {cut(one_line(_value(old)), most)} → {cut(one_line(_value(new)), most)}"
        for name, old, new in old_new
    ]


def _value(value: object) -> str:
    if value is None or value == "":
        return "(none)"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "(none)"
    return value.isoformat() if isinstance(value, datetime) else str(value)


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

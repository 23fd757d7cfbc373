"""Memories as they are stored, for a person to read: one in full, or many as a list."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.layout import cut, indent, pad, width
from scrubjay.surfaces.render.terminal import clean, one_line
from scrubjay.types import NEAR_DUPLICATE, Memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Memory
    from scrubjay.write.fields import Change

_DIRECTED = ("supersedes", "superseded by")
_LEAST_COLUMNS = 8  # of a title: less says nothing


def memory(
    one: Memory,
    screen: Screen,
    now: datetime | None = None,
    history: Sequence[Change] = (),
    tier: str | None = None,
) -> str:
    """Show one memory in full, its text as it was given, and what became of it."""
    now = now or facts.here()
    head = [screen.bold(one_line(one.title))] if one.title else []
    said = (
        *facts.about(one, now),
        *facts.as_entry(one),
        facts.validity(one, now),
        facts.of_tier(tier),
        one.collection,
        one.source,
        one.id,
    )
    line = " · ".join(one_line(part) for part in said if part)
    lines = [*head, screen.dim(line), "", clean(one.text).rstrip()]
    below = [f"context: {one.context}"] if one.context else []
    below += filter(
        None,
        [facts.nearly_the_same([link.to for link in one.links if link.kind == NEAR_DUPLICATE])],
    )
    below += [f"{link.kind} {link.to}" for link in one.links if link.kind in _DIRECTED]
    if links := [link for link in one.links if link.kind not in (NEAR_DUPLICATE, *_DIRECTED)]:
        linked = ", ".join(f"{link.to} ({link.kind} {link.strength:g})" for link in links)
        below.append(f"links: {linked}")
    if one.type == "fact" and isinstance(message := one.metadata.get("message"), str):
        below.append(f"drawn from message {message}")
    below += [f"{_became(change)} {facts.age(change.at, now)}" for change in history]
    for said_below in below:
        lines += ["", screen.dim(indent(one_line(said_below), screen.width, 0))]
    return "\n".join(lines)


def _became(change: Change) -> str:
    if change.field != "valid_until":
        return f"{change.before} became {change.after}"
    return f"superseded as of {change.after}," if change.after else "held again,"


def memories(
    many: list[Memory], screen: Screen, now: datetime | None = None, *, ends: bool = False
) -> str:
    """Show memories as a list, one line each; those that are not valid now are marked.

    With `ends`, it is said of each until when it is valid, or was. That is never cut; titles are.
    """
    window = facts.end_of if ends else facts.mark_of
    tiers = many.tiers if isinstance(many, Memories) else {}
    now = now or facts.here()
    ids = [facts.short_id(one.id) for one in many]
    column = max(map(width, ids), default=0)
    # Entries have more to say of themselves.
    most = screen.width // (2 if tiers or any(map(facts.as_entry, many)) else 3)
    if any(one.type == "message" for one in many):
        most = screen.width * 3 // 5
    lines = []
    for shown, one in zip(ids, many, strict=True):
        kind, *others = facts.about(one, now)
        if one.type == "message" and one.session:  # who said it where tells that
            kind = ""
        tier = facts.of_tier(tiers.get(one.id))
        said = (tier, kind, *facts.as_entry(one), *others, facts.place(one))
        tail = _tail(window(one, now), one_line(" · ".join(filter(None, said))), most)
        room = max(screen.width - column - width(tail) - 4, _LEAST_COLUMNS)
        text = pad(cut(facts.headline(one.title, one.text), room), room)
        lines.append(f"{screen.dim(pad(shown, column))}  {text}  {screen.dim(tail)}".rstrip())
    return "\n".join(lines)


def _tail(window: str, said: str, most: int) -> str:
    """Return what stands at the end of a line: the window whole, and as much of the rest as fits."""
    if not window:
        return cut(said, most)
    room = most - width(window) - 3
    return f"{window} · {cut(said, room)}" if room >= _LEAST_COLUMNS else window

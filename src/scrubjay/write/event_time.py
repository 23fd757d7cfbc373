"""When what a memory speaks of happened: as given, or as its own words say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from scrubjay.text.dates import events_in
from scrubjay.text.recall_tags import heard
from scrubjay.types import Memory

_MOST_CHARS = 2_000  # a longer text speaks of many times, and the narrowest is that of a detail
_TOLD = ("text", "created_at", "type")  # what a derived event time depends on


def dated(memory: Memory, now: datetime, before: Memory | None = None) -> Memory:
    """Return a memory with its times: created when it says, when it was before, or now.

    Without an event time it gets the one its text speaks of.
    """
    created = memory.created_at or (before.created_at if before else None) or now
    return spoken_of(memory, now, before)._replace(created_at=created.astimezone(UTC))


def spoken_of(memory: Memory, now: datetime, before: Memory | None = None) -> Memory:
    """Return a memory with an event time: the given one, else what its text speaks of, if anything.

    That is seen from when it was said, in the time zone that `created_at` was given with, else in that
    of now. A document speaks of too much for one time.
    """
    if memory.event_time or memory.event_until:
        return memory
    said_at = memory.created_at
    if said_at is None:
        kept = before.created_at if before else None
        said_at = kept.astimezone(now.tzinfo) if kept else now
    return _said(memory, said_at)


def redated(before: Memory, after: Memory, changes: Mapping[str, Any], now: datetime) -> Memory:
    """Return a memory that is changed with its times: an event time that its old words gave is renewed.

    One that was given stays, until another is given, or None, which means what the words say.
    """
    if changes.get("event_time"):
        until = after.event_until if "event_until" in changes else None
        return dated(after._replace(event_until=until), now, before)
    asked = "event_time" in changes
    told = any(name in changes for name in _TOLD) and _is_derived(before, now)
    if asked or told:
        until = after.event_until if changes.get("event_until") else None
        after = after._replace(event_time=None, event_until=until)
    if not changes.get("created_at"):  # it stands there in UTC, which is not where it was said
        after = after._replace(created_at=None)
    if asked or told:
        return dated(after, now, before)
    created = after.created_at or before.created_at or now
    return after._replace(created_at=created.astimezone(UTC))


def _said(memory: Memory, said_at: datetime) -> Memory:
    if memory.type == "document" or len(memory.text) > _MOST_CHARS:
        return memory
    # What a message repeats of a search happened to somebody else, or at another time.
    said = heard(memory.text) if memory.type == "message" else memory.text
    window = events_in(said, said_at)
    if window is None:
        return memory
    return memory._replace(event_time=window.begins, event_until=window.ends)


def _is_derived(memory: Memory, now: datetime) -> bool:
    """True when the event time is what the text says, seen from the zone of now or from UTC."""
    if memory.event_time is None or memory.created_at is None:
        return memory.event_until is None
    bare = memory._replace(event_time=None, event_until=None)
    seen = (memory.created_at, memory.created_at.astimezone(now.tzinfo))
    return any(_said(bare, said_at) == memory for said_at in seen)

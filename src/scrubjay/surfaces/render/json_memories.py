"""The JSON of commands that answer with memories: written, read, said, marked, linked, forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.surfaces.render.json import Json, listing, plain

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.types import Memories, Memory, Messages, Stored
    from scrubjay.write.fields import Change


def _findable(left: int | None, why: str) -> Json:
    """Say how something that was written can be found by now.

    `left` are the vectors still owed, and `why` is what they wait for.
    """
    found = {"stored": True, "keyword_indexed": True}
    return {**found, "embedded": left == 0, "pending": left, "why_pending": why}


def added(memory: Memory, left: int | None, why: str, known: Sequence[str] = ()) -> Json:
    """Return a memory that was written, how it can be found by now, and whether it was known."""
    return {"memory": plain(memory), **_findable(left, why), "known": list(known)}


def added_many(memories: Stored, left: int | None, why: str) -> Json:
    """Return memories that were written, how they can be found by now, and which were known."""
    return listing("memories", memories, **_findable(left, why), known=memories.known)


def said(stored: Messages, left: int | None, why: str) -> Json:
    """Return messages that were kept, and what is odd about them."""
    return listing("messages", stored, warnings=stored.warnings, **_findable(left, why))


def got(found: Memories, history: Mapping[str, Sequence[Change]]) -> Json:
    """Return memories that were asked for by id, with what became of each."""
    more = {"missing": found.missing, "unasked": found.unasked, "tiers": found.tiers}
    return listing("memories", found, **more, history=history)


def listed(found: Sequence[Memory]) -> Json:
    """Return memories of one file."""
    return listing("memories", found, missing=())


def of_tiers(found: Memories) -> Json:
    """Return memories of every tier; which those are is said only where there are several."""
    if not found.tiers and not found.unasked:
        return listed(found)
    return listing("memories", found, missing=(), unasked=found.unasked, tiers=found.tiers)


def marked(before: Sequence[Memory], after: Sequence[Memory], missing: Sequence[str]) -> Json:
    """Return memories that were marked as done, or not done, and which of them were not so before."""
    changed = [new.id for old, new in zip(before, after, strict=True) if old.type != new.type]
    return listing("memories", after, changed=changed, missing=missing)


def forgotten(
    found: Sequence[Memory],
    drawn: Sequence[Memory],
    missing: Sequence[str],
    count: int,
    *,
    done: bool,
) -> Json:
    """Return what was, or would be, forgotten, and the facts that go with it."""
    return {
        "forgotten": count,
        "matched": [one.id for one in found],
        "facts": [one.id for one in drawn],
        "missing": list(missing),
        "done": done,
    }


def linked(id: str, other: str, done: str) -> Json:
    """Return two memories that were linked, or taken apart."""
    return {"id": id, "neighbors": [], "done": done, "other": other}


def neighbors(store: Store, id: str, *, depth: int, limit: int | None = None) -> Json:
    """Return what the links of a memory reach, and of which kinds its own links are."""
    near = store.neighbors(id, depth=depth, limit=limit)
    kinds: dict[str, list[str]] = {one.id: [] for one in near}  # none of what is further away
    for made in store.get(id).links:
        kinds.setdefault(made.to, []).append(made.kind)
    told = [
        {"id": one.id, "score": one.score, "depth": one.depth, "kinds": kinds[one.id]}
        for one in near
    ]
    return {"id": id, "neighbors": told, "done": "shown", "other": None}

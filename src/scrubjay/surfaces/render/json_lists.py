"""The JSON of commands about what a store has beside memories: collections, topics, feedback, profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.surfaces.render.json import Json, listing, plain

if TYPE_CHECKING:
    from scrubjay.ops.doctor import Finding
    from scrubjay.search.profiles import Profile
    from scrubjay.types import Memory
    from scrubjay.types.reports import Collection, Covered, FeedbackGiven

STATES = ("failed", "skipped", "indexed")  # of a file, in the order in which a person has to act


def collections(known: Sequence[Collection], done: str = "listed", memories: int = 0) -> Json:
    """Return the collections that there are now, and what was done to one."""
    return listing("collections", known, done=done, memories=memories)


def members(name: str, people: Mapping[str, str], done: str = "listed") -> Json:
    """Return who belongs to a collection now."""
    return {"collection": name, "members": plain(people), "done": done}


def published(id: str, name: str, copy: Memory | None) -> Json:
    """Return the copy of a memory in a collection; none where it was taken away."""
    done = "unpublished" if copy is None else "published"
    return {"id": id, "collection": name, "copy": plain(copy), "done": done}


def topics(known: Mapping[str, int], done: str = "listed", memories: int = 0) -> Json:
    """Return the topics that there are now, and how many memories had the one that was renamed."""
    shown = [{"topic": topic, "memories": count} for topic, count in known.items()]
    return {"topics": shown, "done": done, "memories": memories}


def feedback(given: Sequence[FeedbackGiven], done: str, count: int) -> Json:
    """Return feedback, and what was done with it."""
    return listing("feedback", given, done=done, count=count)


def profiles(known: Sequence[Profile]) -> Json:
    """Return profiles as the lists of stages that they are."""
    return {"profiles": [_profile(one) for one in known]}


def _profile(profile: Profile) -> Json:
    stages = [
        {"name": part.name, "text": str(part), "numbers": plain(part.numbers)}
        for part in profile.stages
    ]
    return {
        "name": profile.name,
        "summary": profile.summary,
        "stages": stages,
        "settings": dict(profile.settings),
    }


def findings(found: Sequence[Finding]) -> Json:
    """Return what an examination found; a part that is merely missing is no failure."""
    return {"ok": all(one.state != "failed" for one in found), **listing("findings", found)}


def in_order(files: Sequence[Covered]) -> list[Covered]:
    """Return files with those first that somebody has to do something about."""
    return sorted(files, key=lambda one: (STATES.index(one.state), one.path))


def counts(files: Sequence[Covered]) -> dict[str, int]:
    """Return how many files are in each state."""
    found = Counter(one.state for one in files)
    return {state: found[state] for state in reversed(STATES)}


def coverage(files: Sequence[Covered], shown: Sequence[Covered]) -> Json:
    """Return the files to show, and the counts of all that fit."""
    return listing("files", shown, counts=counts(files))

"""The same text again: what is said with it this time is taken into the memory that is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scrubjay.times import is_valid
from scrubjay.types import Memory

if TYPE_CHECKING:
    from datetime import datetime

# Not the session, role, owner or agent: who said it first would no longer find it as theirs.
_TAKEN = (
    "title",
    "severity",
    "domain",
    "context",
    "event_time",
    "event_until",
    "source",
    "updated_at",
)


def folded(kept: Memory, again: Memory, now: datetime) -> Memory:
    """Return what is there with what was given again; itself where that says nothing new.

    Nothing is removed by leaving it out. Topics and names in the metadata are added, a window that is
    given takes the place of the one it has, and a collection is taken where it has none. Who says
    again, without a window, what is not valid now means that it is: otherwise it would be stored and
    never found.
    """
    given: dict[str, Any] = {name: got for name in _TAKEN if (got := getattr(again, name))}
    window = (again.valid_from, again.valid_until)
    if any(window) or not is_valid(kept.valid_from, kept.valid_until, now):
        given |= {"valid_from": again.valid_from, "valid_until": again.valid_until}
    merged = kept._replace(
        **given,
        topics=tuple(dict.fromkeys((*kept.topics, *again.topics))),
        collection=kept.collection or again.collection,
        metadata={**kept.metadata, **again.metadata},
    )
    if _are_equal(merged, kept):
        return kept
    return merged._replace(updated_at=again.updated_at or now)


def is_replaced_in_vain(kept: Memory, given: Memory) -> bool:
    """True when an entry of the same id would change nothing; the times it does not give stay."""
    as_given = given._replace(
        created_at=given.created_at or kept.created_at,
        updated_at=given.updated_at or kept.updated_at,
        language=kept.language,
    )
    return _are_equal(as_given, kept)


def _are_equal(one: Memory, other: Memory) -> bool:
    # For Python 1, 1.0 and True are the same; in a store they are not.
    if json.dumps(dict(one.metadata)) != json.dumps(dict(other.metadata)):
        return False
    return one._replace(metadata={}) == other._replace(metadata={})

"""Data of changes: which memory replaced which."""

# No annotations of __future__: see scrubjay.types.

from datetime import datetime
from typing import NamedTuple


class Change(NamedTuple):
    """A memory that was taken to replace another one; `new` and `old` are ids.
    `kind` is supersedes or updates; `strength` is 1 for certain. A change that is not `by_hand` was
    detected. `made_at` is when the link was made, or when the newer memory was stored if that is
    not known."""

    new: str
    old: str
    kind: str
    strength: float
    by_hand: bool
    made_at: datetime | None = None


class Likely(NamedTuple):
    """A new memory that probably updates an older one, or nearly repeats it (`kind` is updates or
    repeats), as far as is known when it is stored. `old_at` is when the older one was created."""

    new: str
    old: str
    kind: str
    strength: float
    old_at: datetime | None = None


class Replacement(NamedTuple):
    """A change as a search sees it, with the times at which both memories were created."""

    new: str
    old: str
    kind: str
    strength: float
    by_hand: bool
    new_at: datetime | None = None
    old_at: datetime | None = None

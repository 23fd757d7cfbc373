"""Passage: a part of a memory that an agent can answer from, with where it is from and of when."""

from __future__ import annotations

from typing import NamedTuple


class Passage(NamedTuple):
    """A whole short text, or a part of a long one, of the hit `id`; `ids` are all hits that it shows.

    `lines` are those of the part, None where a text without a source is shown whole; `complete` is True
    where it is whole. `stored` is when the memory was
    stored or the message said, in the time zone of the store, `event` when it happened. `before` and
    `after` are the turns around a message. `cut` is True where the budget allowed only a part of
    the passage, and `brief` where its tag says only where it is from and of when.
    """

    id: str
    text: str
    score: float
    ids: tuple[str, ...] = ()
    type: str = "fact"
    title: str = ""
    topics: tuple[str, ...] = ()
    namespace: str = ""
    source: str | None = None
    lines: tuple[int, int] | None = None
    page: int | None = None
    heading: str = ""
    role: str | None = None
    session: str | None = None
    stored: str = ""
    event: str = ""
    validity: str = ""
    stale: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    superseded_at: str = ""
    near_duplicates: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    complete: bool = False
    cut: bool = False
    brief: bool = False

"""Files into documents: one small reader a format, each giving text, title, topics, links and structure.

A reader takes a path and bytes and touches nothing else; `walk.py` finds the files, `write/ingest.py`
stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.types import NOTHING


class Unreadable(Exception):
    """Why one file was left out; `failed` when a person would have wanted it in."""

    def __init__(self, reason: str, *, failed: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.failed = failed


class Target(NamedTuple):
    """What a document links to, as written: a `path` relative to it, or the name of a `wiki` page."""

    kind: str
    text: str


class Document(NamedTuple):
    """What was read out of a file. `name` tells several of one file apart, `format` the text's structure.

    `fields` are further fields of `add` that it gives itself, `id` is the one that it asks for; `notes`
    say what of it could not be taken.
    """

    text: str
    title: str = ""
    name: str = ""
    format: str = "text"
    topics: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
    metadata: Mapping[str, Any] = NOTHING
    fields: Mapping[str, Any] = NOTHING
    notes: tuple[str, ...] = ()
    id: str = ""

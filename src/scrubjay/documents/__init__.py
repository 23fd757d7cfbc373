"""Documents: readers of file formats, which return text, title, topics, links and structure.

A reader takes a path and bytes and touches nothing else. `walk.py` finds the files, `isolated.py`
runs the readers of foreign formats in another process, `write/ingest` stores the documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.types import NOTHING


class Unreadable(Exception):
    """The reason why a file was skipped; `failed` if its contents should have been read."""

    def __init__(self, reason: str, *, failed: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.failed = failed


class GaveUp(Unreadable):
    """Reading a file took too much time or memory, or crashed: it is tried again when it changes."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, failed=True)


class Target(NamedTuple):
    """A link target as written: a `path` relative to the document, or the name of a `wiki` page."""

    kind: str
    text: str


class Document(NamedTuple):
    """A document of a file. `name` distinguishes several of one file, `format` is the structure of the text.

    `fields` are further arguments of `add`, `id` is the requested id, `notes` list what was ignored.
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

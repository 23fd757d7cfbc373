"""Types of memories as files."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

FILE = "file"  # the type of a memory that is a file
ROOT = "/memories"  # the folder of all files; it always exists
# Long texts about many things: no event time of their own, and not compared with other memories.
NOT_NOTES = ("document", FILE)


class File(NamedTuple):
    """A memory as a file. `version` is 1 for a new file and grows with every change. `line` is the first
    line of the edit that returned it, or 0."""

    path: str
    text: str
    id: str
    version: int
    updated_at: datetime | None = None
    line: int = 0

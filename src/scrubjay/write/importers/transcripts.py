"""Transcripts of coding agents: one file of JSON lines per session, in folders."""

from __future__ import annotations

import os
from collections.abc import Iterator

from scrubjay.errors import InvalidInput

NO_TEXT = "no text (a call of a tool, its result, or a state of the agent)"
INJECTED = "written by the agent itself (a reminder, a command, or its surroundings)"


def transcripts_below(path: str, prefix: str = "") -> list[str]:
    """Return the transcripts of a folder, the oldest first: a resumed session repeats lines of an older
    file, and the older one is taken."""
    if not os.path.isdir(path):
        return [path]
    found = sorted(_below(path, prefix), key=lambda file: (_changed_ns(file), file))
    if not found:
        raise InvalidInput(f"there are no transcripts ({prefix}*.jsonl) below {path}")
    return found


def _changed_ns(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:  # reported when it is read
        return 0


def _below(path: str, prefix: str) -> Iterator[str]:
    for folder, _, names in os.walk(path):
        for name in names:
            if name.startswith(prefix) and name.endswith(".jsonl"):
                yield os.path.join(folder, name)

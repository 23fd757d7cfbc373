"""Sets of conversations as they are meant to be stored: messages in their sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from scrubjay.times import parse, system_clock

_AFTERWARDS = timedelta(hours=1)


def messages(documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the turns of a conversation in the order of the file; nothing for any other corpus."""
    told = [one.get("metadata", {}) for one in documents]
    if not told or any("turn" not in of or "date" not in of for of in told):
        return []
    return [
        {
            "id": document["id"],
            "text": document["text"],
            "type": "message",
            "session": str(of.get("session", of.get("batch"))),
            "role": of.get("role") or of.get("speaker"),
            "created_at": of["date"],
        }
        for document, of in zip(documents, told, strict=True)
    ]


def clock_after(turns: Sequence[dict[str, Any]]) -> Callable[[], datetime]:
    """Return a clock that stands an hour after the last turn, or goes where there are none."""
    said = [moment for one in turns if (moment := parse(one["created_at"], "date"))]
    if not said:
        return system_clock
    after = max(said) + _AFTERWARDS
    return lambda: after

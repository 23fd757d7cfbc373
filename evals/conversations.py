"""Sets of conversations as they are meant to be stored, and what is asked of them, by kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from evals.measures import Scores
from evals.sets import Part
from scrubjay.text.dates import window_of
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


def by_kind(
    name: str,
    questions: Sequence[tuple[Part, Sequence[dict[str, Any]]]],
    measured: dict[str, Scores],
) -> list[tuple[str, dict[str, Scores]]]:
    """Return a row for each kind of question, and one for those that speak of a time."""
    kinds = [one["metadata"]["category"] for _, asked in questions for one in asked]
    timed: list[bool] = []
    for part, asked in questions:
        now = clock_after(messages(part.documents()))()
        timed += (window_of(one["text"], now) is not None for one in asked)
    rows = {
        f"{name}: {kind.replace('_', ' ')}": [one == kind for one in kinds]
        for kind in sorted(set(kinds))
    }
    rows[f"{name}: with a time expression"] = timed
    return [
        (row, {column: _only(those, scores) for column, scores in measured.items()})
        for row, those in rows.items()
        if any(those)
    ]


def _only(those: Sequence[bool], scores: Scores) -> Scores:
    return {
        of: [one for one, is_one in zip(values, those, strict=True) if is_one]
        for of, values in scores.items()
    }

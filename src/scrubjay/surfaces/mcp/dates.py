"""What the dates of a memory mean, in words: when it was stored, when it happened, until when it holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrubjay.times import format_span

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json

_DAY_CHARS = len("2026-05-03")


def dates(one: Json) -> list[str]:
    """Say when something was stored, or said, and when what it speaks of happened."""
    stored: str = one.get("created_at") or one.get("updated_at") or ""
    done = "said" if one.get("type") == "message" else "stored"
    return [
        *([f"{done} {_day(stored)}"] if stored else []),
        *([f"event {_span(one)}"] if one.get("event_time") else []),
    ]


def validity(one: Json, now: datetime | None = None) -> list[str]:
    """Say that something is not valid any more, or not yet, or until when it is."""
    begins, ends = one.get("valid_from"), one.get("valid_until")
    moment = now or datetime.now(UTC)
    if ends:
        is_over = datetime.fromisoformat(ends) <= moment
        return [f"{'no longer valid since' if is_over else 'valid until'} {_day(ends)}"]
    if begins and datetime.fromisoformat(begins) > moment:
        return [f"not valid before {_day(begins)}"]
    return []


def _span(one: Json) -> str:
    until = one.get("event_until")
    over = datetime.fromisoformat(until) if until else None
    return format_span(datetime.fromisoformat(one["event_time"]), over)


def _day(moment: str) -> str:
    return moment[:_DAY_CHARS]

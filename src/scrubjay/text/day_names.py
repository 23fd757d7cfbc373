"""What a stretch of time is called."""

from __future__ import annotations

from datetime import datetime, timedelta


def span(begins: datetime, over: datetime | None) -> str:
    """Return what a stretch of time is called: a year, a month, a day, or its first day and its last."""
    first = begins.date()
    if over is None or over <= begins:
        return first.isoformat()
    last = (over - timedelta(microseconds=1)).date()
    if begins.day == 1 and over.day == 1:
        months = (over.year - begins.year) * 12 + over.month - begins.month
        if months == 12 and begins.month == 1:
            return f"{begins.year:04d}"
        if months == 1:
            return f"{begins.year:04d}-{begins.month:02d}"
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"

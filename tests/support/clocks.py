"""Time under a test's control."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)


class Clock:
    """Gives the same moment until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> datetime:
        """Move on, as `clock.advance(days=1)`."""
        self.now += timedelta(**by)
        return self.now

"""How fresh a memory is: by its age, or by what is left of the time for which it is valid."""

from __future__ import annotations

from datetime import datetime, timedelta

from scrubjay.types import Memory

_DAY = timedelta(days=1)


def freshness(memory: Memory, now: datetime, half_life_days: float, fading: float) -> float:
    """Return how fresh a memory is, in 0..1: halved for each half-life since it was last changed.

    One that is valid from a moment until another is fully fresh until the last share `fading` of that
    time, and then goes down to 0 in a straight line.
    """
    begins, ends = memory.valid_from, memory.valid_until
    if begins is not None and ends is not None:
        left = (ends - now) / (ends - begins)
        return min(max(left / fading, 0.0), 1.0)
    changed = memory.updated_at or now
    age_days = max((now - changed) / _DAY, 0.0)  # a clock may be behind that of who wrote it
    return float(0.5 ** (age_days / half_life_days))

"""Pace of a long task: how much it does per second, and how long the rest takes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_WINDOW_S = 30.0  # older progress says little: a machine gets busy, texts get longer
_SHORTEST_S = 1.0  # a rate of less time than this is a guess


class Pace:
    """The rate of a task over the last half minute.

    >>> pace = Pace()
    >>> pace.add(0)
    >>> pace.rate() is None
    True
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()  # when a count was first seen

    def add(self, done: int) -> None:
        """Take note of how much is done; a lower count than before begins a new task."""
        now = self._clock()
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()
        if not self._seen or done > self._seen[-1][1]:
            self._seen.append((now, done))
        while len(self._seen) > 1 and self._seen[1][0] <= now - _WINDOW_S:
            self._seen.popleft()

    def rate(self) -> float | None:
        """Return how much is done per second; None while that is not known."""
        if len(self._seen) < 2:
            return None
        (began, before), (_, done) = self._seen[0], self._seen[-1]
        took_s = self._clock() - began
        return (done - before) / took_s if took_s >= _SHORTEST_S else None

    def left_s(self, left: int) -> float | None:
        """Return how many seconds the rest takes at this rate; None while that is not known."""
        rate = self.rate()
        return left / rate if rate else None


def duration(seconds: float) -> str:
    """Return a duration in words, such as "4 min 10 s".

    >>> duration(3.14), duration(250), duration(7530)
    ('3.1 s', '4 min 10 s', '2 h 5 min')
    """
    if seconds < 9.95:
        return f"{max(seconds, 0.1):.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def per_second(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 9.95 else f"{rate:.2g}/s"

"""How many requests somebody may send: a bucket that empties with each and fills with time."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

_BURST_S = 2.0  # of requests may come at once
_MOST_KEPT = 10_000  # whoever was not seen for the longest time begins anew


class Buckets:
    """A bucket for each caller; `take` says how long one has to wait.

    Nobody has to wait without a rate.
    """

    def __init__(self, per_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._most = max(1.0, (per_s or 0.0) * _BURST_S)
        self._clock = clock
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, who: Hashable) -> float:
        """Take one from somebody's bucket and return 0, or return the seconds until there is one."""
        if self._per_s is None:
            return 0.0
        now = self._clock()
        left, then = self._left.pop(who, (self._most, now))
        left = min(self._most, left + (now - then) * self._per_s)
        wait_s = 0.0 if left >= 1.0 else (1.0 - left) / self._per_s
        self._left[who] = (left if wait_s else left - 1.0, now)
        if len(self._left) > _MOST_KEPT:
            self._left.popitem(last=False)
        return wait_s

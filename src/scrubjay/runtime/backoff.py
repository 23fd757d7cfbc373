"""Back-off: wait longer after each failure in a row."""

from __future__ import annotations

import time


def delay_after(failures: int, first_s: float, longest_s: float) -> float:
    """Return the seconds to wait after a number of failures in a row: doubled each time, up to a limit."""
    return min(first_s * 2.0 ** min(failures - 1, 10), longest_s)


class Backoff:
    """When something that failed may be tried again."""

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._failures = 0
        self._next_try = 0.0

    @property
    def left_s(self) -> float:
        """Seconds until the next try; 0 when it may be tried now."""
        return max(self._next_try - time.monotonic(), 0.0)

    def failed(self, at_least_s: float = 0.0) -> None:
        """Count a failure; `at_least_s` is how long the other side asks to wait."""
        self._failures += 1
        delay_s = max(delay_after(self._failures, self._first_s, self._longest_s), at_least_s)
        self._next_try = time.monotonic() + delay_s

    def succeeded(self) -> None:
        self._failures, self._next_try = 0, 0.0

    def try_now(self) -> None:
        """Allow a try at once; another failure is still counted as one more in a row."""
        self._next_try = 0.0

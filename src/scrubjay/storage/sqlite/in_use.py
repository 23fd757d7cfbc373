"""Who is reading from a file right now, so that nobody closes it under their hands."""

from __future__ import annotations

import threading


class InUse:
    """Counts who is reading, each thread for itself."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._count = 0
        self._changed = threading.Condition(threading.Lock())

    def __enter__(self) -> None:
        with self._changed:
            self._count += 1
        self._mine.count = getattr(self._mine, "count", 0) + 1

    def __exit__(self, *_: object) -> None:
        self._mine.count -= 1
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def ended(self, wait_s: float) -> bool:
        """Wait until no other thread reads; False where one still does after so long."""
        mine = getattr(self._mine, "count", 0)
        with self._changed:
            return self._changed.wait_for(lambda: self._count <= mine, wait_s)

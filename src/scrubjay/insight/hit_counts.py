"""Which tier found what, counted: gathered in memory, written now and then by a thread of its own.

A search must neither wait for that nor fail by it: a store that is busy or cannot be written loses counts,
and nothing else.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError
from scrubjay.runtime.worker import Worker
from scrubjay.storage.sql.overview import HOUR_US, SEARCHES, SqlHitCounts
from scrubjay.times import micros, moment
from scrubjay.types.reports import Hits, HitsOfHour

if TYPE_CHECKING:
    from scrubjay.storage.database import Database

# Each write lets every cache look again whether anything has changed; so there are few of them.
_EVERY_S = 60.0
_BUSY_S = 0.2


class HitCounts:
    """The counts of one store."""

    def __init__(self, db: Database, clock: Callable[[], datetime]) -> None:
        self._db = db
        self._table = SqlHitCounts(db)
        self._clock = clock
        self._counted: Counter[tuple[int, str]] = Counter()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._worker = Worker("hits", self._step, delay_s=_EVERY_S)

    def note(self, hits: Mapping[str, int]) -> None:
        """Count one search, and how many of its results each tier found."""
        now_us = micros(self._clock())
        hour = now_us - now_us % HOUR_US
        with self._lock:
            self._counted[hour, SEARCHES] += 1
            for tier, count in hits.items():
                self._counted[hour, tier] += count
        if not self._db.frozen:
            self._worker.wake()

    def report(self, since: datetime | None = None) -> Hits:
        """Return what was counted, with what is not written yet, in the hours from a moment on."""
        since_us = 0 if since is None else micros(since)
        first = since_us - since_us % HOUR_US
        with self._writing, self._lock:
            found = Counter({at: n for at, n in self._counted.items() if at[0] >= first})
            found.update(self._table.since(first))
        hours: dict[int, dict[str, int]] = {}
        for (hour, tier), count in sorted(found.items()):
            hours.setdefault(hour, {})[tier] = count
        totals: Counter[str] = Counter()
        for counts in hours.values():
            totals.update(counts)
        return Hits(
            totals.pop(SEARCHES, 0),
            dict(totals),
            tuple(
                HitsOfHour(at, counts.pop(SEARCHES, 0), counts)
                for hour, counts in hours.items()
                if (at := moment(hour)) is not None
            ),
        )

    def stop(self) -> None:
        """Write what is left, unless the store is busy, and stop."""
        self._worker.stop(0.0)
        self._write()

    def _step(self) -> float | None:
        self._write()
        return 0.0 if self._counted else None  # without searches the thread ends

    def _write(self) -> None:
        """Write what was counted; what cannot be written now is kept for the next time."""
        with self._writing:
            with self._lock:  # never for long: a search may want to count
                taken, self._counted = self._counted, Counter()
            try:
                if taken and not self._db.frozen:
                    self._table.add(taken, _BUSY_S)
            except StoreError:
                with self._lock:
                    self._counted.update(taken)

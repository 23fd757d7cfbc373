"""Hit counts: results of each tier by the hour, counted in memory and written by a worker.

A search neither waits for that nor fails by it: a database that is locked or read-only loses counts only.
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

# Each commit invalidates every cache, so counts are written rarely.
_EVERY_S = 60.0
_BUSY_S = 0.2


class HitCounts:
    """The hit counts of one store."""

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
        """Return the counts from the hour of `since` on, including those not written yet."""
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
        by_hour = tuple(
            HitsOfHour(at, counts.pop(SEARCHES, 0), counts)
            for hour, counts in hours.items()
            if (at := moment(hour)) is not None
        )
        return Hits(totals.pop(SEARCHES, 0), dict(totals), by_hour)

    def stop(self) -> None:
        """Stop the worker and write the last counts, unless the database is locked."""
        self._worker.stop(0.0)
        self._write()

    def _step(self) -> float | None:
        self._write()
        return 0.0 if self._counted else None  # without searches the thread ends

    def _write(self) -> None:
        """Write the counts; if the database is locked, they are written the next time."""
        with self._writing:
            with self._lock:  # never for long: a search may be counting
                taken, self._counted = self._counted, Counter()
            try:
                if taken and not self._db.frozen:
                    self._table.add(taken, _BUSY_S)
            except StoreError:
                with self._lock:
                    self._counted.update(taken)

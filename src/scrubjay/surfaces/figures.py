"""How searches have gone lately, kept in memory: times of each stage, and how many an hour.

Small enough for every server to have; `/metrics` counts the same searches for Prometheus.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.types import NOTHING

if TYPE_CHECKING:
    from scrubjay.types import Results, Step

_HOUR_S = 3600
WHOLE = "search"  # the name under which the time of a whole search stands
# What has no name, or one too many; what a search was without, where no stage says it.
OTHER = "other"


class StageTimes(NamedTuple):
    """How long a stage took in the last searches that had it: half of them at most p50, 95 of 100 p95."""

    stage: str
    searches: int
    p50_ms: float
    p95_ms: float


class Hour(NamedTuple):
    """How many searches there were in an hour, which began so many seconds after 1970.

    `without` counts those that were degraded by the stage at which something was lost: never by what was
    asked, which a reason may hold.
    """

    began_s: int
    searches: int
    degraded: int
    without: Mapping[str, int] = NOTHING


class Report(NamedTuple):
    """What was seen: all searches since it began, the times of the last ones, the latest hours."""

    since_s: int
    searches: int
    degraded: int
    stages: tuple[StageTimes, ...]
    hours: tuple[Hour, ...]


class Figures:
    """The last searches of one process. Safe to share between threads."""

    def __init__(
        self,
        most_searches: int = 1000,
        most_hours: int = 48,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._most_hours = most_hours
        self._since_s = int(clock())
        self._lock = threading.Lock()
        self._last: deque[dict[str, float]] = deque(maxlen=most_searches)
        self._searches: Counter[int] = Counter()
        self._degraded: Counter[int] = Counter()
        self._without: dict[int, Counter[str]] = {}
        self._totals = (0, 0)

    def searched(self, found: Results) -> None:
        """Take in one search."""
        times = {WHOLE: found.took_ms}
        for step in every_step(found.trace):
            times[step.stage] = times.get(step.stage, 0.0) + step.took_ms
        hour = int(self._clock()) // _HOUR_S * _HOUR_S
        with self._lock:
            self._last.append(times)
            self._searches[hour] += 1
            self._degraded[hour] += bool(found.degraded)
            self._without.setdefault(hour, Counter()).update(lost_at(found))
            self._totals = (self._totals[0] + 1, self._totals[1] + bool(found.degraded))
            for counted in (self._searches, self._degraded, self._without):
                for old in [one for one in counted if one <= hour - self._most_hours * _HOUR_S]:
                    del counted[old]

    def report(self) -> Report:
        """Return what was seen so far, as plain data."""
        with self._lock:
            last, totals = list(self._last), self._totals
            hours = tuple(
                Hour(hour, count, self._degraded[hour], dict(self._without[hour]))
                for hour, count in sorted(self._searches.items())
            )
        names = dict.fromkeys(name for times in last for name in times)
        stages = tuple(
            _times(name, sorted(times[name] for times in last if name in times)) for name in names
        )
        return Report(self._since_s, *totals, stages, hours)


def every_step(steps: Sequence[Step]) -> Iterator[Step]:
    """Give each step of a trace, and then those inside it."""
    for step in steps:
        yield step
        yield from every_step(step.branches)


def lost_at(found: Results) -> set[str]:
    """Return the stages at which a search had to do without something."""
    if not found.degraded:
        return set()
    steps = every_step(found.trace)
    return {one.stage for one in steps if one.lost or "warning" in one.notes} or {OTHER}


def _times(stage: str, took_ms: Sequence[float]) -> StageTimes:
    return StageTimes(stage, len(took_ms), _at(took_ms, 50), _at(took_ms, 95))


def _at(ordered: Sequence[float], percent: int) -> float:
    """Return the smallest value that so many of a hundred do not exceed."""
    return round(ordered[-(-len(ordered) * percent // 100) - 1], 3)

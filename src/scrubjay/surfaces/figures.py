"""Search times and counts of one process, in memory: percentiles of each stage, searches an hour.
Small enough for every server; `/metrics` counts the same searches for Prometheus."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from scrubjay.types import NOTHING, Results, Step

_HOUR_S = 3600
WHOLE = "search"  # the name for the time of a whole search
OTHER = "other"  # label for names beyond a limit, and for what was lost outside of any stage


class StageTimes(NamedTuple):
    """Median and 95th percentile of a stage's time in the last searches that had it."""

    stage: str
    searches: int
    p50_ms: float
    p95_ms: float


class Hour(NamedTuple):
    """Searches in the hour that began at `began_s` (Unix time).
    `without` counts degraded searches by the stage that lost something. The reason is not stored: it may
    quote the query."""

    began_s: int
    searches: int
    degraded: int
    without: Mapping[str, int] = NOTHING


class Report(NamedTuple):
    """Totals since the start, times of the last searches, counts of the last hours."""

    since_s: int
    searches: int
    degraded: int
    stages: tuple[StageTimes, ...]
    hours: tuple[Hour, ...]


class Figures:
    """Figures of the last searches. Safe to share between threads."""

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
        self._hours: dict[int, Hour] = {}
        self._searches = self._degraded = 0

    def searched(self, results: Results) -> None:
        times = {WHOLE: results.took_ms}
        for step in every_step(results.trace):
            times[step.stage] = times.get(step.stage, 0.0) + step.took_ms
        began_s = int(self._clock()) // _HOUR_S * _HOUR_S
        degraded = bool(results.degraded)
        with self._lock:
            self._last.append(times)
            self._searches += 1
            self._degraded += degraded
            hour = self._hours.get(began_s) or Hour(began_s, 0, 0)
            without = Counter(hour.without) + Counter(lost_at(results))
            self._hours[began_s] = Hour(
                began_s, hour.searches + 1, hour.degraded + degraded, dict(without)
            )
            for old in [at for at in self._hours if at <= began_s - self._most_hours * _HOUR_S]:
                del self._hours[old]

    def report(self) -> Report:
        with self._lock:
            last, totals = list(self._last), (self._searches, self._degraded)
            hours = tuple(self._hours[began_s] for began_s in sorted(self._hours))
        names = dict.fromkeys(name for times in last for name in times)
        stages = []
        for name in names:
            took_ms = sorted(times[name] for times in last if name in times)
            p50, p95 = _percentile(took_ms, 50), _percentile(took_ms, 95)
            stages.append(StageTimes(name, len(took_ms), p50, p95))
        return Report(self._since_s, *totals, tuple(stages), hours)


def every_step(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from every_step(step.branches)


def lost_at(results: Results) -> set[str]:
    if not results.degraded:
        return set()
    steps = every_step(results.trace)
    return {step.stage for step in steps if step.lost or "warning" in step.notes} or {OTHER}


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return round(ordered[-(-len(ordered) * percent // 100) - 1], 3)

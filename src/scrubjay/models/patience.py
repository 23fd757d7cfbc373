"""How long a slow model is waited for, and how long a failed one is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from scrubjay.errors import Unavailable
from scrubjay.runtime.backoff import delay_after
from scrubjay.times import micros

if TYPE_CHECKING:
    from datetime import datetime

T = TypeVar("T")

_FIRST_REST_S = 30.0
_LONGEST_REST_S = 600.0
_REFUSALS = (0, 400, 413, 422)  # 0: it was not even asked
_US = 1_000_000


class Notes(Protocol):
    """Small texts by kind and key: in the store for models that others share, else in memory."""

    def get(self, kind: str, key: str) -> str | None:
        """Return what was kept, or None."""
        ...

    def put(self, kind: str, key: str, value: str, at_us: int) -> None:
        """Keep a text."""
        ...

    def drop(self, kind: str, key: str) -> None:
        """Forget a text."""
        ...


class InMemory:
    """Notes that end with the process."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    def get(self, kind: str, key: str) -> str | None:
        """Return what was kept, or None."""
        return self._kept.get((kind, key))

    def put(self, kind: str, key: str, value: str, at_us: int) -> None:
        """Keep a text."""
        self._kept[kind, key] = value

    def drop(self, kind: str, key: str) -> None:
        """Forget a text."""
        self._kept.pop((kind, key), None)


class _Outage(NamedTuple):
    """A failure: how many in a row, until when the model is left alone, and what it said."""

    failures: int
    until_us: int
    reason: str


class Breaker:
    """Keeps searches from waiting again and again for a model that has just failed.

    After a failure the model rests for half a minute, after the next for twice as long, up to ten
    minutes; the first success ends it. The times are those of the store's clock.
    """

    def __init__(self, name: str, key: str, notes: Notes, clock: Callable[[], datetime]) -> None:
        self._name = name
        self._key = key
        self._notes = notes
        self._clock = clock

    def through(self, call: Callable[[], T]) -> T:
        """Make the call, unless the model rests; a failure lets it rest."""
        outage = self._outage()
        left_us = _left_us(outage, micros(self._clock())) if outage else 0
        if outage and left_us:
            left_s = -(-left_us // _US)
            raise Unavailable(
                f"{self._name} is left alone for another {left_s} s, since it failed: {outage.reason}"
            )
        try:
            answer = call()
        except Unavailable as gone:
            # A server that refuses this one request is well.
            if getattr(gone, "status", None) not in _REFUSALS:
                self._fail(outage.failures + 1 if outage else 1, str(gone))
            raise
        if outage:
            self._notes.drop("outage", self._key)
        return answer

    def reset(self) -> None:
        """Give the model another chance at once."""
        self._notes.drop("outage", self._key)

    def _outage(self) -> _Outage | None:
        kept = self._notes.get("outage", self._key)
        return _Outage(*json.loads(kept)) if kept else None

    def _fail(self, failures: int, reason: str) -> None:
        rest_s = delay_after(failures, _FIRST_REST_S, _LONGEST_REST_S)
        now_us = micros(self._clock())
        outage = _Outage(failures, now_us + int(rest_s * _US), reason)
        self._notes.put("outage", self._key, json.dumps(outage), now_us)


def _left_us(outage: _Outage, now_us: int) -> int:
    left_us = outage.until_us - now_us
    # A rest longer than any was noted while somebody's clock was wrong.
    return left_us if 0 < left_us <= _LONGEST_REST_S * _US else 0


def resting_s(kept: str, now_s: float) -> float:
    """Return how much longer a model rests, by the note that its failure left."""
    return _left_us(_Outage(*json.loads(kept)), int(now_s * _US)) / _US

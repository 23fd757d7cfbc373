"""Circuit breaker: a model that failed is not called again until its back-off is over."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from scrubjay.errors import Unavailable
from scrubjay.runtime.backoff import delay_after
from scrubjay.times import micros

T = TypeVar("T")

_FIRST_S, _LONGEST_S = 30.0, 600.0
_REFUSALS = (0, 400, 413, 422)  # 0: no request was sent
_US = 1_000_000


class Notes(Protocol):
    """Small texts by kind and key: in the database for models that processes share, else in memory."""

    def get(self, kind: str, key: str) -> str | None: ...

    def put(self, kind: str, key: str, value: str, at_us: int) -> None: ...

    def drop(self, kind: str, key: str) -> None: ...


class MemoryNotes:
    """Notes that end with the process."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], str] = {}

    def get(self, kind: str, key: str) -> str | None:
        return self._texts.get((kind, key))

    def put(self, kind: str, key: str, value: str, at_us: int) -> None:
        self._texts[kind, key] = value

    def drop(self, kind: str, key: str) -> None:
        self._texts.pop((kind, key), None)


class _Outage(NamedTuple):
    """How many failures in a row, until when the model is not called, and the last reason."""

    failures: int
    until_us: int
    reason: str

    def left_us(self, now_us: int) -> int:
        left_us = self.until_us - now_us
        # A pause longer than any was stored while a clock was wrong.
        return left_us if 0 < left_us <= _LONGEST_S * _US else 0


class Breaker:
    """Calls a model unless it has just failed.
    After a failure the model is not called for half a minute, after the next for twice as long, up
    to ten minutes; the first success ends it. The times are those of the store's clock."""

    def __init__(self, name: str, key: str, notes: Notes, clock: Callable[[], datetime]) -> None:
        self._name = name
        self._key = key
        self._notes = notes
        self._clock = clock

    def call(self, function: Callable[[], T]) -> T:
        """Return what the function returns; raises Unavailable when it does, or during a pause."""
        stored = self._notes.get("outage", self._key)
        outage = _Outage(*json.loads(stored)) if stored else None
        left_us = outage.left_us(micros(self._clock())) if outage else 0
        if outage and left_us:
            left_s = -(-left_us // _US)
            raise Unavailable(
                f"{self._name} is paused for another {left_s} s after a failure: {outage.reason}"
            )
        try:
            answer = function()
        except Unavailable as failure:
            # A server that refuses this one request works.
            if getattr(failure, "status", None) not in _REFUSALS:
                self._note_failure(outage.failures + 1 if outage else 1, str(failure))
            raise
        if outage:
            self.reset()
        return answer

    def reset(self) -> None:
        self._notes.drop("outage", self._key)

    def _note_failure(self, failures: int, reason: str) -> None:
        now_us = micros(self._clock())
        pause_us = int(delay_after(failures, _FIRST_S, _LONGEST_S) * _US)
        outage = _Outage(failures, now_us + pause_us, reason)
        self._notes.put("outage", self._key, json.dumps(outage), now_us)


def paused_s(stored: str, now_s: float) -> float:
    """Return for how much longer a model is not called, by the note that its failure left."""
    return _Outage(*json.loads(stored)).left_us(int(now_s * _US)) / _US

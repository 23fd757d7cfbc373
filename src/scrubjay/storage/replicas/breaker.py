"""Circuit breaker: stop calling a replica that fails until it answers a ping."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from scrubjay.errors import MissingExtra, ScrubjayError, Unavailable
from scrubjay.runtime.backoff import delay_after
from scrubjay.runtime.worker import Worker

T = TypeVar("T")


class Breaker:
    """Guards the calls to one server, by any threads; `ping` raises Unavailable while it is down."""

    def __init__(
        self, name: str, ping: Callable[[], object], rest_s: float = 1.0, max_rest_s: float = 30.0
    ) -> None:
        self._ping = ping
        self._rest_s = rest_s
        self._max_rest_s = max_rest_s
        self._lock = threading.Lock()
        self._worker = Worker(f"ping-{name}", self._ping_once)
        self.reason = ""  # why the server is not called now
        self._outages = 0  # since a call succeeded
        self._pings = 0  # in this outage
        self.on_back: Callable[[], None] = lambda: None  # called when the server answers again

    def call(self, function: Callable[[], T]) -> T:
        """Run the call, or raise Unavailable at once while the server does not answer."""
        if reason := self.reason:
            raise Unavailable(f"{reason}; it is used again once it answers")
        try:
            answer = function()
        except MissingExtra:
            raise  # no ping will install it
        except Unavailable as error:
            self._open(str(error))
            raise
        self._outages = 0
        return answer

    def close(self) -> None:
        """Stop pinging; waits for the ping under way. It may be called twice."""
        self._worker.stop(None)
        self.reason = ""

    def _open(self, reason: str) -> None:
        with self._lock:
            if not self.reason and not self._worker.stopping.is_set():
                self._pings = 0
                self._worker.wake()
                self.reason = reason

    def _ping_once(self) -> float | None:
        """Ping after a pause; return the next pause, or None when the server has answered."""
        if self._pings:
            answered = True  # whatever else a ping raises, the next call finds out
            try:
                self._ping()
            except Unavailable:
                answered = False
            except ScrubjayError:
                pass  # it answers, but refuses us: the next call says why
            finally:
                if answered:
                    self._outages += 1
                    with self._lock:
                        self.reason = ""
            if answered:
                if not self._worker.stopping.is_set():
                    self.on_back()
                return None
        self._pings += 1
        # A server that answers pings and fails everything else is tried less and less often, too.
        return delay_after(self._outages + self._pings, self._rest_s, self._max_rest_s)

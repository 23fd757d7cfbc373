"""A server that does not answer is asked once, and then not again until it answers a ping."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from scrubjay.errors import MissingExtra, ScrubjayError, Unavailable

T = TypeVar("T")


class Breaker:
    """Stands before the calls to one server. Any number of threads may call.

    `ping` asks the server for next to nothing, and raises Unavailable while it does not answer.
    """

    def __init__(
        self,
        name: str,
        ping: Callable[[], object],
        rest_s: float = 1.0,
        most_rest_s: float = 30.0,
    ) -> None:
        self.name = name
        self._ping = ping
        self._rest_s = rest_s
        self._most_rest_s = most_rest_s
        self._changing = threading.Lock()
        self._closing = threading.Event()
        self._reason = ""
        self._pinging: threading.Thread | None = None
        self._outages = 0  # since a call succeeded
        self.on_back: Callable[[], None] = lambda: None  # when the server answers again

    @property
    def reason(self) -> str:
        """Why the server is not asked now; nothing while it is."""
        return self._reason

    def call(self, function: Callable[[], T]) -> T:
        """Run it, or say at once why the server is not asked."""
        if reason := self._reason:
            raise Unavailable(f"{reason}; asked again once it answers")
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
        """Ask no more; the thread has ended when this returns, after one ping at most. Twice is fine."""
        self._closing.set()
        with self._changing:
            pinging = self._pinging
        if pinging is not None:
            pinging.join()

    def _open(self, reason: str) -> None:
        with self._changing:
            if self._reason or self._closing.is_set():
                return
            # A daemon: a process that ends does not wait for a server that is gone.
            thread = threading.Thread(
                target=self._until_it_answers,
                args=(self._pinging,),
                name=f"ping {self.name}",
                daemon=True,
            )
            thread.start()
            self._pinging, self._reason = thread, reason

    def _until_it_answers(self, before: threading.Thread | None) -> None:
        # One that answers pings and fails all else is asked less and less often, too.
        rest_s = min(self._rest_s * 2 ** min(self._outages, 10), self._most_rest_s)
        try:
            if before is not None:
                before.join()  # it may still tell that the server was back
            while not self._closing.wait(rest_s):
                try:
                    self._ping()
                except Unavailable:
                    rest_s = min(2 * rest_s, self._most_rest_s)
                except ScrubjayError:
                    break  # it answers, but will not do: the next call says why
                else:
                    break
        finally:
            self._outages += 1
            with self._changing:  # whatever ended this thread, the next failure begins another
                self._reason = ""
        if not self._closing.is_set():
            self.on_back()

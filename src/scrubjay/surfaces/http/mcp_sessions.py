"""The sessions of MCP clients that begin with a handshake: how many there are, and whose.

The SDK counts all of them together, so that one token could have them all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.surfaces.http.problems import Problem, retry

if TYPE_CHECKING:
    from scrubjay.surfaces.callers import Principal

IDLE_S = 600.0  # after that a session ends by itself; a client then begins another
MOST_SESSIONS = 1000
MOST_OF_ONE = 100


class _Session:
    def __init__(self, whose: Principal) -> None:
        self.whose = whose
        self.under_way = 0
        self.idle_since_s = 0.0


class Sessions:
    """Sees each request of a session, as that is how the SDK tells when one ends."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, _Session] = {}
        self._beginning: Counter[Principal] = Counter()

    @contextmanager
    def begun(self, who: Principal) -> Iterator[Callable[[str], None]]:
        """Let somebody begin a session, and be told its id; a Problem where they have too many."""
        self._forget_idle()
        own = sum(one.whose == who for one in self._open.values()) + self._beginning[who]
        if own >= MOST_OF_ONE:
            raise _too_many(f"you have {own} sessions open")
        if len(self._open) + self._beginning.total() >= MOST_SESSIONS:
            raise _too_many("too many sessions are open")
        self._beginning[who] += 1

        def told(session_id: str) -> None:
            self._open[session_id] = made = _Session(who)
            made.idle_since_s = self._clock()

        try:
            yield told
        finally:
            self._beginning[who] -= 1
            if not self._beginning[who]:
                del self._beginning[who]

    @contextmanager
    def used(self, session_id: str) -> Iterator[None]:
        """See a request of a session, from its beginning to its end."""
        session = self._open.get(session_id)
        if session is None:
            yield
            return
        session.under_way += 1
        try:
            yield
        finally:
            session.under_way -= 1
            session.idle_since_s = self._clock()

    def ended(self, session_id: str) -> None:
        """Forget a session."""
        self._open.pop(session_id, None)

    def _forget_idle(self) -> None:
        before_s = self._clock() - IDLE_S
        for session_id, one in list(self._open.items()):
            if not one.under_way and one.idle_since_s < before_s:
                del self._open[session_id]


def _too_many(why: str) -> Problem:
    said = (
        f"{why}; end those that are done, or wait: after {IDLE_S / 60:g} minutes unused they end"
    )
    return Problem("busy", said, retry(60))

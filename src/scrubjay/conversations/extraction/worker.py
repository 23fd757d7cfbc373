"""Extract facts in the background: by one thread, once messages have settled, while a store is open."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from scrubjay.conversations.extraction.run import Extraction
from scrubjay.errors import ScrubjayError
from scrubjay.runtime.worker import Worker

log = logging.getLogger(__name__)

FIRST_S = 1.0  # a command that writes one message has ended by then, and calls no model
_AGAIN_S = 60.0  # after an outage, or while another process reads
_LEAST_S = 0.2


class ExtractionWorker:
    """Has one store's model read messages once they have settled."""

    def __init__(self, extraction: Extraction, clock: Callable[[], datetime]) -> None:
        self._extraction = extraction
        self._clock = clock
        self.thread = Worker("extract", self._step, delay_s=FIRST_S, owner=self)

    def wake(self) -> None:
        self.thread.wake()

    def stop(self, wait_s: float | None = None) -> None:
        """Finish the messages under way and stop; those that a slow model still reads are released."""
        if not self.thread.stop(wait_s):
            self._extraction.release()

    def _step(self) -> float | None:
        """Extract what has settled; return how long to wait for more, None when none is left."""
        try:
            done = self._extraction.run(settled=True, stopping=self.thread.stopping.is_set)
            if done.outage or done.failed:
                return _AGAIN_S
            due = self._extraction.next_due()
        except ScrubjayError as error:  # closed, full or forked; unread messages stay in the queue
            if not self.thread.stopping.is_set():
                log.warning("facts are no longer extracted: %s", error)
            return None
        if due is None:
            return None
        left_s = (due - self._clock()).total_seconds()
        # What is due and was not read is being read by another process.
        return min(max(left_s, _LEAST_S), _AGAIN_S) if left_s > 0 else _AGAIN_S

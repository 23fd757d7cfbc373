"""Facts drawn in the background: by one thread, some time after turns were said, while a store is open."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay.errors import ScrubjayError
from scrubjay.runtime.at_exit import stop_at_exit
from scrubjay.write.embed_worker import STOP_S

if TYPE_CHECKING:
    from scrubjay.conversations.extraction.run import Extraction

log = logging.getLogger(__name__)

FIRST_S = 1.0  # a command that writes one turn is over by then, and asks nobody
_AGAIN_S = 60.0  # after an outage, or where somebody else reads
_LEAST_S = 0.2


class Extracting:
    """The thread that lets one store's model read turns once they have settled."""

    def __init__(self, extraction: Extraction, clock: Callable[[], datetime]) -> None:
        self._extraction = extraction
        self._clock = clock
        self._starting = threading.Lock()
        self._stopping = threading.Event()
        self._wished = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Start the thread, or let it look again."""
        with self._starting:
            self._wished.set()
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(
                    target=self._in_background, name="scrubjay-extracting", daemon=True
                )
                self._thread.start()
                stop_at_exit(self)

    def stop(self, wait_s: float | None = None) -> None:
        """Finish the turns at hand and stop; what a slow model still reads is left to others."""
        self._stopping.set()
        self._wished.set()
        thread = self._thread
        if thread is not None:
            thread.join(STOP_S if wait_s is None else wait_s)
            if thread.is_alive():
                self._extraction.release()

    def _in_background(self) -> None:
        try:
            while not self._stopping.wait(FIRST_S):
                self._wished.clear()
                done = self._extraction.run(settled=True, stopping=self._stopping.is_set)
                pause_s = _AGAIN_S if done.outage or done.failed else self._until_due()
                with self._starting:
                    if pause_s is None and not self._wished.is_set():
                        self._thread = None
                        return
                self._wished.wait(pause_s)
        except ScrubjayError as error:  # closed, full or forked; what waits stays written down
            if not self._stopping.is_set():
                log.warning("no facts are drawn any more: %s", error)
        finally:
            with self._starting:  # whatever ended this thread, the next wish must find another
                if self._thread is threading.current_thread():
                    self._thread = None

    def _until_due(self) -> float | None:
        """Return how long the oldest turn that waits takes to settle; None where none waits."""
        due = self._extraction.next_due()
        if due is None:
            return None
        left_s = (due - self._clock()).total_seconds()
        # What is due and was not read is being read by somebody else.
        return min(max(left_s, _LEAST_S), _AGAIN_S) if left_s > 0 else _AGAIN_S

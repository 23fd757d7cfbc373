"""A model that is loaded in the background: no search through a server waits for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar
from weakref import WeakMethod

from scrubjay.config import offline
from scrubjay.errors import Unavailable
from scrubjay.models.registry import is_ready
from scrubjay.runtime.at_exit import stop_at_exit

if TYPE_CHECKING:
    from scrubjay.runtime.progress import Progress

log = logging.getLogger(__name__)
FIRST_REST_S = 30.0
LONGEST_REST_S = 600.0
STOP_S = 10.0


class Named(Protocol):
    """Any model."""

    name: str


M = TypeVar("M", bound=Named)


class _Stopped(Exception):
    """The process ends: a download is left where it is."""


class Warming(Generic[M]):
    """One model, and how far it is: being fetched, being loaded, ready, or why it is not.

    A model with a method `load` is loaded by a thread, once somebody asks for that; any other is
    ready when it says so. After a failure it is left alone for half a minute, after the next for twice
    as long, up to ten minutes; then whoever asks next begins anew. Its files need no rest: they are
    used as soon as they are here.
    """

    def __init__(self, make: Callable[[Progress], M]) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiting: list[WeakMethod[Callable[[], None]]] = []
        self._stopping = False
        self._done = False
        self._fetching = False
        self._share: float | None = None
        self._failures = 0
        self._failure = ""
        self._again_at_s = 0.0
        self._failed_without_files = False
        self._told = False
        self.model = make(self._heard)
        self._load: Callable[[], None] | None = getattr(self.model, "load", None)

    def ready(self) -> bool:
        """True when the model answers at once."""
        return self._done if self._load is not None else is_ready(self.model)

    def begin(self) -> None:
        """Load the model in the background, unless it is loaded, rests, or may not be fetched."""
        with self._lock:
            idle = not (self._done or self._thread or self._stopping)
            if self._load is not None and idle and self._forbidden():
                self._tell_once("it is not here, and SCRUBJAY_OFFLINE forbids fetching it")
            if self._load is None or not idle or not self._may_begin():
                return
            self._fetching, self._share = not is_ready(self.model), None
            self._thread = threading.Thread(
                target=self._work, name="scrubjay-warming", daemon=True
            )
            self._thread.start()
        stop_at_exit(self)

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call a method once the model is loaded, or at once where nothing will be.

        The method's object is not kept alive for that: it may be of a store that is closed meanwhile.
        """
        self.begin()
        with self._lock:
            later = not (self._load is None or self._done or self._forbidden())
            if later:
                self._waiting.append(WeakMethod(call))
        if not later:
            call()

    def wait(self, timeout_s: float | None = None) -> None:
        """Begin, and wait for what comes of it, but no longer than that."""
        self.begin()
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def why_not(self, *, fetch: str, instead: str) -> str:
        """Say how far the model is; nothing where that is no matter of loading.

        `fetch` says how one fetches it oneself, `instead` what is done without it.
        """
        with self._lock:
            if self._load is None or self._forbidden():
                return ""
            name, failure, left_s = self.model.name, self._failure, self._rest_s()
            if self._thread is None and failure:
                by_hand = "" if is_ready(self.model) else fetch
                again = f"it is tried again in {left_s:.0f} s" if left_s else "it is tried again"
                return f"{name} cannot be loaded: {failure}; {again}{by_hand}; {instead}"
            if self._fetching and self._share == 1:  # of one file: it is checked before the next
                return f"{name} is being fetched and checked; {instead}"
            doing = "fetched" if self._fetching else "loaded"
            # Of a file that is nearly here, no more than 99% are.
            far = f" ({int(self._share * 100)}% is here)" if self._fetching and self._share else ""
            return f"{name} is being {doing}{far}; {instead}"

    def lost(self) -> bool:
        """True when the model cannot come, as far as one knows; not while it is fetched or loaded."""
        with self._lock:
            waits = self._thread is None and bool(self._failure)
            return self._load is not None and not self._done and (waits or self._forbidden())

    def stop(self, wait_s: float | None = None) -> None:
        """Leave a download where it is; a model that is being read is waited for, but not for ever."""
        with self._lock:
            self._stopping = True
            thread = None if self._fetching else self._thread
        if thread is not None:
            thread.join(STOP_S if wait_s is None else wait_s)

    def _forbidden(self) -> bool:
        return offline() and not self._done and not is_ready(self.model)

    def _may_begin(self) -> bool:
        if self._forbidden():
            return False
        came = self._failed_without_files and is_ready(self.model)
        return came or not self._rest_s()

    def _tell_once(self, reason: str) -> None:
        if not self._told:
            self._told = True
            said = " ".join(reason.split())
            log.warning("searches go on without %s: %s", self.model.name, said)

    def _rest_s(self) -> float:
        return max(self._again_at_s - time.monotonic(), 0.0)

    def _work(self) -> None:
        try:
            self._get()
        except _Stopped:
            return
        except Unavailable as gone:
            self._fail(str(gone))
            return
        with self._lock:
            self._done, self._thread, self._failure = True, None, ""
            waiting, self._waiting = self._waiting, []
        for one in waiting:
            call = one()
            if call is not None:
                call()

    def _get(self) -> None:
        """Fetch what is not here, then load; foreign code may raise anything, and that is Unavailable."""
        fetch: Callable[[], None] | None = getattr(self.model, "fetch", None)
        try:
            if self._fetching and fetch is not None:
                fetch()
            with self._lock:
                # Nothing is begun in C++ once the process ends: it would come back to nobody.
                if self._stopping:
                    raise _Stopped
                self._fetching = False
            assert self._load is not None
            self._load()
        except (Unavailable, _Stopped):
            raise
        except (
            Exception
        ) as error:  # of foreign code: one that is let go would end the thread unsaid
            raise Unavailable(f"{type(error).__name__}: {error}") from error

    def _fail(self, reason: str) -> None:
        with self._lock:
            self._failures += 1
            rest_s = min(FIRST_REST_S * 2.0 ** min(self._failures - 1, 10), LONGEST_REST_S)
            self._failure, self._thread = reason, None
            self._tell_once(reason)
            self._failed_without_files = not is_ready(self.model)
            self._again_at_s = time.monotonic() + rest_s

    def _heard(self, done: int, total: int) -> None:
        """Take note of how much of a file is here; there is no terminal to show it on."""
        if self._stopping:
            raise _Stopped
        self._share = done / total if total else None

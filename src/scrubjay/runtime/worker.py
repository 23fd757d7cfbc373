"""Background threads: workers that run on demand, thread pools, and calls with a time limit."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakSet

from scrubjay.errors import Unavailable

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")

STOP_S = 10.0  # a model or server that hangs must not keep its user from leaving
_MAX_IDLE_THREADS = 8


class Stoppable(Protocol):
    """An object that owns a worker."""

    def stop(self, wait_s: float = ...) -> None:
        """Finish the step under way and stop, waiting no longer than `wait_s`."""


class Worker:
    """A thread that calls `step` while there is work, and starts again on the next `wake`.

    `step` returns the seconds to pause before its next call (0: at once), or None when there is
    nothing left to do; then the thread ends, unless `wake` was called during that step. `wake` ends a
    pause. `step` handles its own errors.

    `delay_s` is a pause before each step that only `stop` ends; with steps that return 0 it is an
    interval. `owner.stop` is called before the process ends; without an owner, the thread is cut off.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float | None],
        *,
        delay_s: float = 0.0,
        owner: Stoppable | None = None,
    ) -> None:
        self.name = name
        self.stopping = threading.Event()
        self._step = step
        self._delay_s = delay_s
        self._owner = owner
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return self._thread is not None

    def wake(self) -> None:
        """Start the thread, or have it take another step at once. Does nothing after `stop`."""
        with self._lock:
            self._woken.set()
            if self._thread is not None or self.stopping.is_set():
                return
            thread = threading.Thread(target=self._run, name=f"scrubjay-{self.name}", daemon=True)
            thread.start()
            self._thread = thread
        if self._owner is not None:
            _stop_at_exit(self._owner)

    def join(self, timeout_s: float | None = None) -> bool:
        thread = self._thread
        if thread is None:
            return True
        if thread is not threading.current_thread():
            thread.join(timeout_s)
        return not thread.is_alive()

    def stop(self, wait_s: float | None = None) -> bool:
        """Stop after the step under way; True when the thread has ended. Calling it again is fine."""
        self.stopping.set()
        self._woken.set()
        return self.join(STOP_S if wait_s is None else wait_s)

    def _run(self) -> None:
        try:
            while not self.stopping.wait(self._delay_s):
                self._woken.clear()
                pause_s = self._step()
                with self._lock:
                    # What was asked for during the last step is looked for again.
                    if pause_s is None and not self._woken.is_set():
                        self._thread = None
                        return
                if pause_s:
                    self._woken.wait(pause_s)
        finally:
            with self._lock:  # whatever ended this thread, the next wake must start another
                if self._thread is threading.current_thread():
                    self._thread = None


# A thread that returns from a model while the interpreter is being taken down aborts the whole
# process with SIGABRT: it is unwound through C++ code that does not expect that.
_owners: WeakSet[Stoppable] = WeakSet()


def _stop_at_exit(owner: Stoppable) -> None:
    if not _owners:
        atexit.unregister(_stop_all)
        atexit.register(_stop_all)
    _owners.add(owner)


def _stop_all() -> None:
    deadline = time.monotonic() + STOP_S  # for all of them together
    for owner in list(_owners):
        owner.stop(max(deadline - time.monotonic(), 0.0))


@cache
def thread_pool(kind: str) -> ThreadPoolExecutor:
    """Return this process's pool for the sources of a search, "recall", or for its tiers, "tier".
    Sources never wait for each other, so a small shared pool cannot deadlock. A tier waits for its
    sources, so tiers need a pool of their own."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=8, thread_name_prefix=f"scrubjay-{kind}")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork: a child makes its own pools
    os.register_at_fork(after_in_child=thread_pool.cache_clear)


def call_within(seconds: float, call: Callable[[], T], name: str) -> T:
    """Return what `call` returns, or raise Unavailable when it takes longer than `seconds`.

    The call goes on in its thread, since no call can be stopped from outside; its result is dropped.
    The thread does not keep the process from ending.
    """
    done = threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits
            errors.append(error)

    idle = _idle_threads(os.getpid())
    try:
        thread = idle.pop()
    except IndexError:
        thread = _CallThread(idle)
    thread.tasks.put((work, done))
    if not done.wait(seconds):
        raise Unavailable(f"{name} did not answer within {seconds:g} s")
    if errors and not isinstance(errors[0], Exception):
        # A panic in Rust or `sys.exit` in a plug-in is a failure of the model.
        raise Unavailable(f"{name} failed: {type(errors[0]).__name__}: {errors[0]}")
    if errors:
        raise errors[0]
    return results[0]


class _CallThread:
    """A thread for calls that may never end, reused when they do.

    torch sets up its libraries once a thread: a new thread for each call took 65 ms of every search
    where the model itself took 10.
    """

    def __init__(self, idle: list[_CallThread]) -> None:
        from queue import SimpleQueue

        self.tasks: SimpleQueue[tuple[Callable[[], None], threading.Event]] = SimpleQueue()
        self._idle = idle
        threading.Thread(target=self._run, name="scrubjay-call", daemon=True).start()

    def _run(self) -> None:
        while True:
            task, done = self.tasks.get()
            task()
            stays = len(self._idle) < _MAX_IDLE_THREADS
            if stays:
                # Before `done` is set, so that the caller's next call gets this thread again.
                self._idle.append(self)
            done.set()
            del task, done  # an idle thread must not hold the last call's objects
            if not stays:
                return


@lru_cache(maxsize=1)
def _idle_threads(process: int) -> list[_CallThread]:
    return []

"""Thread pool with a bounded queue: one tenant gets a share of the threads, callers take turns.
A tenant whose database is locked therefore does not block the others."""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypeVar

from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http.problems import Problem, retry_after

T = TypeVar("T")


class _Call(NamedTuple):
    function: Callable[[], Any]
    answer: asyncio.Future[Any]


class Workers:
    """Runs calls in threads.
    One tenant gets at most `share` of the threads, one caller at most half of the queue. A call
    that has started runs to its end, even when its client has disconnected."""

    def __init__(self, threads: int, max_queued: int, name: str, share: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"scrubjay-{name}")
        self._threads = threads
        self._max_queued = max_queued
        self._share = share or threads
        # Used by the thread of the event loop only.
        self._queues: OrderedDict[Principal | None, deque[_Call]] = OrderedDict()
        self._queued = 0
        self._running: Counter[str | None] = Counter()
        self._started: set[Future[Any]] = set()
        self._closed = False

    @property
    def busy(self) -> int:
        return len(self._started) + self._queued

    async def do(self, call: Callable[[], T], caller: Principal | None = None) -> T:
        """Run a call in a thread and return its result; a Problem when the queue is full."""
        if self._must_wait(caller):
            if self._queued >= self._max_queued:
                raise _busy(f"{self.busy} requests are in progress")
            if len(self._queues.get(caller, ())) >= max(1, self._max_queued // 2):
                raise _busy("too many of your own requests are in progress")
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        answer: asyncio.Future[T] = loop.create_future()
        self._queues.setdefault(caller, deque()).append(_Call(lambda: context.run(call), answer))
        self._queued += 1
        self._start_next(loop)
        return await answer

    def close(self, wait_s: float) -> bool:
        """Start nothing more and wait for running calls; False if some still run after `wait_s`."""
        self._closed = True
        for queue in self._queues.values():
            for call in queue:
                call.answer.cancel()  # no effect once the loop has ended: it cancelled them all
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not wait(list(self._started), wait_s).not_done

    def _must_wait(self, caller: Principal | None) -> bool:
        in_share = self._running[_tenant(caller)] < self._share
        return len(self._started) >= self._threads or not in_share

    def _start_next(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start every call that may start, the next of each caller in turn."""
        if self._closed:
            return
        for caller in [*self._queues]:
            queue = self._queues[caller]
            while queue and queue[0].answer.cancelled():  # the client disconnected
                queue.popleft()
                self._queued -= 1
            if queue and not self._must_wait(caller):
                self._queued -= 1
                self._queues.move_to_end(caller)
                self._run(loop, caller, queue.popleft())
            if not queue:
                del self._queues[caller]

    def _run(self, loop: asyncio.AbstractEventLoop, caller: Principal | None, call: _Call) -> None:
        tenant = _tenant(caller)
        self._running[tenant] += 1
        running: Future[Any] = self._pool.submit(call.function)
        self._started.add(running)

        def finish() -> None:
            self._started.discard(running)
            self._running -= Counter((tenant,))  # forgets a tenant at zero
            _copy_result(running, call.answer)
            self._start_next(loop)

        def done(_: Future[Any]) -> None:
            # Wakes the loop once a call: each wake-up competes with the working threads for the GIL.
            try:
                loop.call_soon_threadsafe(finish)
            except RuntimeError:  # the loop is closed
                self._started.discard(running)

        running.add_done_callback(done)


def _copy_result(done: Future[Any], answer: asyncio.Future[Any]) -> None:
    if answer.done():
        return
    if done.cancelled():  # the pool was closed before a thread took it
        answer.cancel()
    elif (error := done.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(done.result())


def _tenant(caller: Principal | None) -> str | None:
    return None if caller is None else caller.tenant


def _busy(why: str) -> Problem:
    return Problem("busy", f"{why}; try again in a moment", retry_after())

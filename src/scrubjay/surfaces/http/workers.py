"""Threads that ask the store, so that the server answers meanwhile.

Nobody has all of them: the calls of one tenant, whose store may be locked, take a share at most, and those
who ask in one store take turns.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from scrubjay.surfaces.http.problems import Problem, retry

if TYPE_CHECKING:
    from scrubjay.surfaces.callers import Principal

T = TypeVar("T")


class _Call(NamedTuple):
    made: Callable[[], Any]
    answer: asyncio.Future[Any]


class Workers:
    """A few threads, and a line before them that is not endless.

    Of the threads, one tenant has at most `share`, and of the line, one caller at most half. What was begun
    is finished, also when nobody waits for it any more.
    """

    def __init__(
        self, threads: int, most_waiting: int, name: str, share: int | None = None
    ) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"scrubjay-{name}")
        self._threads = threads
        self._most_waiting = most_waiting
        self._share = share or threads
        # Only the thread of the loop looks at these.
        self._lines: OrderedDict[Principal | None, deque[_Call]] = OrderedDict()
        self._waiting = 0
        self._running: Counter[str | None] = Counter()
        self._begun: set[Future[Any]] = set()
        self._closed = False

    @property
    def busy(self) -> int:
        """How many calls run or wait."""
        return len(self._begun) + self._waiting

    async def do(self, call: Callable[[], T], who: Principal | None = None) -> T:
        """Call something in a thread; a Problem where too much waits already."""
        if self._full(who):
            if self._waiting >= self._most_waiting:
                raise _busy(f"{self.busy} requests are under way")
            if len(self._lines.get(who, ())) >= max(1, self._most_waiting // 2):
                raise _busy("too many of your own requests are under way")
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        answer: asyncio.Future[T] = loop.create_future()
        self._lines.setdefault(who, deque()).append(_Call(lambda: context.run(call), answer))
        self._waiting += 1
        self._begin(loop)
        return await answer

    def close(self, wait_s: float) -> bool:
        """Begin nothing more and wait for what runs; False where that takes longer."""
        self._closed = True
        for line in self._lines.values():
            for one in line:
                one.answer.cancel()  # after the end of the loop, all are
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not wait(list(self._begun), wait_s).not_done

    def _full(self, who: Principal | None) -> bool:
        """True where a call could not begin at once."""
        return len(self._begun) >= self._threads or self._running[_tenant(who)] >= self._share

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin what can begin, the next of each caller in turn."""
        if self._closed:
            return
        for who in [*self._lines]:
            line = self._lines[who]
            while line and line[0].answer.cancelled():  # nobody waits for it any more
                line.popleft()
                self._waiting -= 1
            if line and not self._full(who):
                self._waiting -= 1
                self._lines.move_to_end(who)
                self._run(loop, who, line.popleft())
            if not line:
                del self._lines[who]

    def _run(self, loop: asyncio.AbstractEventLoop, who: Principal | None, call: _Call) -> None:
        self._running[_tenant(who)] += 1
        running: Future[Any] = self._pool.submit(call.made)
        self._begun.add(running)

        def ended() -> None:
            self._begun.discard(running)
            self._running[_tenant(who)] -= 1
            if not self._running[_tenant(who)]:
                del self._running[_tenant(who)]
            _pass_on(running, call.answer)
            self._begin(loop)

        def tell(_: Future[Any]) -> None:
            # The loop is woken once: each time takes its turn with the threads that work.
            try:
                loop.call_soon_threadsafe(ended)
            except RuntimeError:  # it is closed, and nobody counts any more
                self._begun.discard(running)

        running.add_done_callback(tell)


def _pass_on(done: Future[Any], answer: asyncio.Future[Any]) -> None:
    """Let whoever still waits for an answer have what a thread has done."""
    if answer.done():
        return
    if done.cancelled():  # the threads were closed before one took it
        answer.cancel()
    elif (error := done.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(done.result())


def _tenant(who: Principal | None) -> str | None:
    return None if who is None else who.tenant


def _busy(why: str) -> Problem:
    return Problem("busy", f"{why}; come again in a moment", retry())

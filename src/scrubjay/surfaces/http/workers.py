"""Threads that ask the store, so that the server answers meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from scrubjay.surfaces.http.problems import Problem, retry

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


class Workers:
    """A few threads, and a line before them that is not endless.

    What was begun is finished, also when nobody waits for it any more.
    """

    def __init__(self, threads: int, most_waiting: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"scrubjay-{name}")
        self._most = threads + most_waiting
        self._busy: set[Future[object]] = set()

    @property
    def busy(self) -> int:
        """How many calls run or wait."""
        return len(self._busy)

    async def do(self, call: Callable[[], T]) -> T:
        """Call something in a thread; a Problem where too much waits already."""
        if len(self._busy) >= self._most:
            raise Problem(
                "busy", f"{self._most} requests are under way; come again in a moment", retry()
            )
        future = self._pool.submit(call)
        self._busy.add(future)  # type: ignore[arg-type]  # of whatever type
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda done: _forget(loop, self._busy, done))  # type: ignore[arg-type]
        return await asyncio.wrap_future(future)

    def close(self, wait_s: float) -> bool:
        """Begin nothing more and wait for what runs; False where that takes longer."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not wait(list(self._busy), wait_s).not_done


def _forget(
    loop: asyncio.AbstractEventLoop, busy: set[Future[object]], done: Future[object]
) -> None:
    """Forget a call in the thread of the loop, which alone counts them."""
    if loop.is_closed():
        busy.discard(done)
    else:
        loop.call_soon_threadsafe(busy.discard, done)

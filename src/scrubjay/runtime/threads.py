"""Threads that wait for work: the pools of recall and of tiers, and workers for calls that may never end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from queue import SimpleQueue

_MOST_IDLE = 8


def pool() -> ThreadPoolExecutor:
    """Return this process's pool: threads do not survive a fork, so a child needs its own."""
    return _pool_of(os.getpid())


@lru_cache(maxsize=1)
def _pool_of(process: int) -> ThreadPoolExecutor:
    # Recall never nests, so a small shared pool cannot wait for itself.
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="scrubjay-recall")


def tier_pool() -> ThreadPoolExecutor:
    """Return this process's pool for tiers: each waits for its recall, so it cannot be the same pool."""
    return _tier_pool_of(os.getpid())


@lru_cache(maxsize=1)
def _tier_pool_of(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="scrubjay-tier")


class Worker:
    """A thread that does one thing at a time and then waits for the next.

    It is kept because a thread may be dear to a model: torch sets up its libraries anew in each, which
    took 65 ms of every search where the reading itself took 10.
    """

    def __init__(self, idle: list[Worker]) -> None:
        self._idle = idle
        self._tasks: SimpleQueue[tuple[Callable[[], None], threading.Event]] = SimpleQueue()
        threading.Thread(target=self._work, name="scrubjay-waiting", daemon=True).start()

    def do(self, task: Callable[[], None], done: threading.Event) -> None:
        """Begin a task, which must not raise; `done` is set at its end."""
        self._tasks.put((task, done))

    def _work(self) -> None:
        while True:
            task, done = self._tasks.get()
            task()
            stays = len(self._idle) < _MOST_IDLE
            if stays:
                # Before the end is told, so that whoever waited for it finds this one again.
                self._idle.append(self)
            done.set()
            # Nothing of the task is kept while nothing is done.
            del task, done
            if not stays:
                return


def lend() -> Worker:
    """Return a worker that has nothing to do, the last one that was busy if there is one."""
    idle = _idle_of(os.getpid())
    try:
        return idle.pop()
    except IndexError:
        return Worker(idle)


@lru_cache(maxsize=1)
def _idle_of(process: int) -> list[Worker]:
    return []

"""Threads of stores that nobody closed, stopped before a process ends.

A thread that comes back from a model while the interpreter is being taken down ends the whole process
with SIGABRT: it is unwound through code in C++ that cannot bear that.
"""

from __future__ import annotations

import atexit
import time
from typing import Protocol
from weakref import WeakSet

WAIT_S = 10.0  # for all of them together: a model that hangs must not keep its user from leaving


class Stops(Protocol):
    """Something with a thread."""

    def stop(self, wait_s: float = ...) -> None:
        """Finish what is at hand and stop, but wait no longer than this."""


_at_work: WeakSet[Stops] = WeakSet()


def stop_at_exit(one: Stops) -> None:
    """Stop something when the process ends, if it is still there."""
    if not _at_work:
        atexit.unregister(_stop_all)
        atexit.register(_stop_all)
    _at_work.add(one)


def _stop_all() -> None:
    deadline = time.monotonic() + WAIT_S
    for one in list(_at_work):
        one.stop(max(deadline - time.monotonic(), 0.0))

"""Another process that feeds a FalkorDB and is killed at some point: `python feeder.py PATH URL POINT`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parent))

from backends import SqliteWithFalkor

from scrubjay.storage.replicas import worker as replica_worker


def die(*_: object) -> NoReturn:
    """End as in a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives that")


def main(path: str, url: str, point: str) -> None:
    """Feed batch after batch, and die when a certain thing is about to be done for the third time."""
    replica_worker.BATCH = 7
    replica_worker.LEASE_S = 0.2
    store = SqliteWithFalkor(path, url, who=f"feeder {os.getpid()}")
    of = store.outbox if point == "done" else store.replica
    calls = []
    real = getattr(of, point)

    def counted(*arguments: object) -> object:
        calls.append(point)
        return die() if len(calls) == 3 else real(*arguments)

    setattr(of, point, counted)
    store.worker.wait()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

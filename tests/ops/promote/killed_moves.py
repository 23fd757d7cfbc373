"""Moves that are killed before a given step: `python killed_moves.py`, then one move a line.

A line is `JOB SOURCE TARGET TENANT STEP`; with `list` as the step, it prints the names of all steps. A
step is what others can see: the commit of a write, or a file that is linked, replaced, renamed or removed.
Each move runs in a fork, so that Python starts only once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scrubjay.errors import ScrubjayError
from scrubjay.ops.promote import run as promoting
from scrubjay.storage.database import Database
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.sqlite.connection import SqliteDatabase

FILE_CALLS = ("link", "replace", "rename", "unlink")


class Steps:
    """Counts the steps of this process, and kills it before one of them."""

    def __init__(self, last: int | None) -> None:
        self.names: list[str] = []
        self._last = last

    def take(self, name: str) -> None:
        if len(self.names) == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.names.append(name)

    def watch(self) -> None:
        for call in FILE_CALLS:
            setattr(os, call, self._watched_call(call, getattr(os, call)))
        for kind in (SqliteDatabase, PostgresDatabase):
            kind.write = self._watched_write(kind.write)  # type: ignore[method-assign,assignment]

    def _watched_call(self, name: str, call: Callable[..., None]) -> Callable[..., None]:
        def watched(*paths: Any) -> None:
            # The empty copy of a move gets its name by a link: without it the move has not begun.
            if name == "replace" or not paths[0].endswith(".part"):
                self.take(f"{name} {' '.join(map(os.path.basename, paths))}")
            call(*paths)

        return watched

    def _watched_write(self, write: Callable[..., Any]) -> Callable[..., Any]:
        steps = self

        @contextmanager
        def watched(db: Database, wait_s: float | None = None) -> Iterator[Any]:
            outermost = not db.in_write
            with write(db, wait_s) as connection:
                yield connection
                if outermost:
                    steps.take(f"commit {os.path.basename(db.path)}")

        return watched


def move(job: str, source: str, target: str, tenant: str, step: str) -> None:
    steps = Steps(None if step == "list" else int(step))
    steps.watch()
    promoting.QUERIES = 1
    (promoting.promote if job == "promote" else promoting.demote)(source, target, tenant=tenant)
    if step == "list":
        sys.stdout.write("".join(f"{name} | " for name in steps.names))
        sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                move(*line.rstrip("\n").split("\t"))
            except ScrubjayError as error:
                sys.stdout.write(f"{error} | ")
                sys.stdout.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{'killed' if os.WIFSIGNALED(status) else 'done'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Vectors made after the fact: in batches, by one thread, resumed by whoever opens the store next.

The text is safe before this begins. A model that does not answer stops the work with a reason; a
single text that breaks the model is set aside after three tries and counted as failed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError, Unavailable
from scrubjay.write.chunks import embedding_text

if TYPE_CHECKING:
    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.stores.sqlite_backlog import SqliteBacklog, Wanted
    from scrubjay.stores.sqlite_vector import SqliteVector

Progress = Callable[[int, int], None]

BATCH = 100
LEASE_S = 15.0  # renewed with every batch; after a crash others wait no longer than this


class Backlog:
    """Feeds one store's chunks to one model."""

    def __init__(
        self, queue: SqliteBacklog, vectors: SqliteVector, embedder: GuardedEmbedder
    ) -> None:
        self._queue = queue
        self._vectors = vectors
        self._embedder = embedder
        self._working = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.outage: str | None = None

    def wake(self) -> None:
        """Start the thread that makes vectors, unless it is at work; the model gets a new chance."""
        self.outage = None
        with self._starting:
            if self._stopping.is_set() or (self._thread and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._in_background, name="scrubjay-backlog", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Finish the batch at hand and stop."""
        self._stopping.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()

    def left(self) -> int:
        """Return how many chunks still want a vector."""
        return self._queue.left(self._embedder.name)[0]

    def wait(
        self,
        timeout_s: float | None = None,
        progress: Progress | None = None,
        *,
        for_others: bool = True,
    ) -> int:
        """Make vectors until none is wanted, the model is out, or time is up; return how many are left.

        What another process has claimed is waited for only `for_others`: it may have been killed.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        total = self.left()
        self.outage = None

        def late() -> bool:
            return self._stopping.is_set() or (
                deadline is not None and time.monotonic() > deadline
            )

        while not late():
            left, failed = self._queue.left(self._embedder.name)
            if progress:
                progress(max(total - left, 0), total)
            if left <= failed or self.outage:
                return left
            # Another thread may be at it already: then this one only watches.
            if not self._working.acquire(timeout=0.05):
                continue
            try:
                made = self._one_batch()
            finally:
                self._working.release()
            if not made and not self.outage:  # another process holds the lease
                if not for_others:
                    break
                time.sleep(0.02)
        return self.left()

    def _in_background(self) -> None:
        try:
            while not self._stopping.is_set():
                with self._working:
                    if not self._one_batch():
                        return
        except StoreError:
            # The store was closed or its disk filled up; what is wanted stays written down.
            return

    def _one_batch(self) -> bool:
        """Claim a batch and embed it; False when there was none to be had, or the model is out."""
        wanted = self._queue.claim(self._embedder.name, BATCH, LEASE_S)
        if not wanted:
            return False
        try:
            matrix = self._embedder.embed([_read_as(one) for one in wanted])
        except Unavailable as gone:
            return self._one_by_one(wanted) if self._answers() else self._give_back(wanted, gone)
        self._vectors.add(
            self._embedder.name,
            [(one.chunk, row) for one, row in zip(wanted, matrix, strict=True)],
        )
        self.outage = None
        return True

    def _answers(self) -> bool:
        """True when the model reads at least a plain word: then it was a text that broke it."""
        try:
            self._embedder.embed(["memory"])
        except Unavailable:
            return False
        return True

    def _give_back(self, wanted: list[Wanted], gone: Unavailable) -> bool:
        self.outage = str(gone)
        chunks = [one.chunk for one in wanted]
        self._queue.release(self._embedder.name, chunks, self.outage, tried=False)
        return False

    def _one_by_one(self, wanted: list[Wanted]) -> bool:
        """Embed each text alone, and set aside the ones that break the model."""
        for one in wanted:
            try:
                row = self._embedder.embed([_read_as(one)])[0]
            except Unavailable as gone:
                self._queue.release(self._embedder.name, [one.chunk], str(gone), tried=True)
            else:
                self._vectors.add(self._embedder.name, [(one.chunk, row)])
        return True


def _read_as(one: Wanted) -> str:
    return embedding_text(one.title, one.heading, one.context, one.passage)

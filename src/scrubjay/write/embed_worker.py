"""Embed chunks in the background: in batches, by one thread, resumed by the next process.

The text is stored before this begins. A model that does not answer stops the work with a reason; a text
that breaks the model is set aside after three tries and counted as failed. Once a memory has its vector,
it is linked to near duplicates, and to its nearest where a search walks links. When there are many more
vectors than before, the rotation that shortens them is fitted again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError, Unavailable
from scrubjay.runtime.progress import Progress
from scrubjay.runtime.worker import Worker
from scrubjay.write.encoding import encode

if TYPE_CHECKING:
    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.sql.near_duplicates import SqlNearDuplicates
    from scrubjay.storage.sql.vectors import (
        QueuedChunk,
        SqlEmbeddingQueue,
        SqlTokenVectors,
        SqlVectors,
    )
    from scrubjay.write.auto_links import AutoLinks
    from scrubjay.write.static_vectors import StaticVectors

BATCH = 100
REST_S = 1.0  # before a rotation is fitted: a command that ends at once should not wait for it
LEASE_S = 15.0  # renewed with every batch; after a crash other processes wait no longer than this


class EmbedWorker:
    """Embeds the chunks of one store with one model."""

    def __init__(
        self,
        queue: SqlEmbeddingQueue,
        vectors: SqlVectors,
        tokens: SqlTokenVectors,
        near: SqlNearDuplicates,
        links: AutoLinks | None,
        embedder: GuardedEmbedder,
        static: StaticVectors | None = None,
        is_ready: Callable[[], bool] = lambda: True,
        on_idle: Callable[[], float | None] | None = None,
    ) -> None:
        """`links` is None for a model whose vectors link no memories. `on_idle` is called when nothing
        is left to do; it may return the seconds until the next step."""
        self._queue = queue
        self._vectors = vectors
        self._tokens = tokens
        self._near = near
        self._links = links
        self._embedder = embedder
        self._static = static
        self._is_ready = is_ready
        self._on_idle = on_idle
        # Between two calls of the model, work can be stopped and progress is seen.
        self._texts_at_once = min(embedder.texts_at_once or BATCH, BATCH)
        self._working = threading.Lock()
        self._fitting = threading.Lock()
        self._resting = False  # before `on_idle`; new work ends the rest
        self.thread = Worker("embed", self._step, owner=self)
        self.outage: str | None = None

    def stop(self, wait_s: float | None = None) -> None:
        """Finish the batch under way and stop. A lease that is left runs out."""
        self.thread.stop(wait_s)

    def settle(self, timeout_s: float) -> None:
        """Wait while the thread works, but not for long: it may itself wait for another writer."""
        deadline, rested = time.monotonic() + timeout_s, False
        self._resting = (
            False  # of the rest before this work; on a busy machine it may not have ended yet
        )
        while time.monotonic() < deadline and self.thread.running:
            left, failed = self._queue.left(self._embedder.name)
            if left <= failed and not (self._links and self._links.left()):
                return
            if rested and self._resting:
                return  # what is left has to wait for something else
            rested = self._resting
            self.thread.join(0.01)

    def wait(self, timeout_s: float | None = None, progress: Progress | None = None) -> int:
        """Embed until the queue is empty, the model fails, or time is up; return how many are left."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        total = self._queue.left(self._embedder.name)[0]
        self.outage = None

        def late() -> bool:
            return self.thread.stopping.is_set() or (
                deadline is not None and time.monotonic() > deadline
            )

        while not late():
            if self._static is not None and self._static.embed_queued():
                continue
            left, failed = self._queue.left(self._embedder.name)
            if progress:
                progress(max(total - left, 0), total)
            if left <= failed or self.outage:
                # Linking stored vectors needs no model.
                while not late() and (self._near.link_next(BATCH) or self._link()):
                    pass
                self._fit(late)
                return left
            # Where another thread works already, this one only watches.
            if not self._working.acquire(timeout=0.05):
                continue
            try:
                embedded = self._embed_batch(min(2 * self._texts_at_once, BATCH))
            finally:
                self._working.release()
            if not embedded and not self.outage:
                time.sleep(0.02)  # another process holds the lease
        return self._queue.left(self._embedder.name)[0]

    def fit_is_due(self) -> bool:
        return self._vectors.fit_is_due(self._embedder.name, self._embedder.matryoshka)

    def _step(self) -> float | None:
        """Embed or link one batch in the background; None when there is nothing left to do."""
        rested, self._resting = self._resting, False
        try:
            if self._static is not None and self._static.embed_queued():
                return 0.0
            with self._working:
                embedded = self._is_ready() and not self.outage and self._embed_batch(BATCH)
                worked = embedded or self._near.link_next(BATCH) > 0 or self._link() > 0
            if not worked and self.fit_is_due() and not self.thread.stopping.wait(REST_S):
                self._fit(self.thread.stopping.is_set)
            if not worked and self._on_idle and rested:
                return self._on_idle()
            if not worked and self._on_idle:
                self._resting = True
                return REST_S
        except StoreError:
            return None  # the store was closed or its disk is full; the queue stays stored
        return 0.0 if worked else None

    def _link(self) -> int:
        """Link the next few memories to their nearest; an index that does not answer is tried later."""
        if self._links is None:
            return 0
        try:
            return self._links.link_next(BATCH, self.thread.stopping.is_set)
        except Unavailable:
            return 0

    def _fit(self, stopped: Callable[[], bool]) -> None:
        with self._fitting:
            self._vectors.fit(self._embedder.name, self._embedder.matryoshka, stopped)

    def _embed_batch(self, limit: int) -> bool:
        """Claim a batch and embed it; False when there was none to claim, or the model fails."""
        wanted = self._queue.claim(self._embedder.name, limit, LEASE_S)
        for start in range(0, len(wanted), self._texts_at_once):
            rest = wanted[start:]
            if self.thread.stopping.is_set():
                self._give_back(rest, None)
                return False
            few = rest[: self._texts_at_once]
            try:
                self._embed(few)
            except Unavailable as failure:
                if not self._reads_a_plain_word():
                    self.outage = str(failure)
                    self._give_back(rest, self.outage)
                    return False
                self._embed_one_by_one(few)
            except KeyboardInterrupt:
                self._give_back(rest, None)  # the next process need not wait for the lease
                raise
            else:
                self.outage = None
        return bool(wanted)

    def _embed(self, wanted: list[QueuedChunk]) -> None:
        """Embed a few chunks, store their vectors and link near duplicates, in one transaction."""
        vectors, tokens = encode(self._embedder, wanted)
        asked = {chunk.chunk: chunk.request for chunk in wanted}
        with self._queue.transaction():
            self._tokens.add(self._embedder.name, tokens)
            self._vectors.add(self._embedder.name, vectors, asked)
            self._near.link_next(len(wanted), newest=True)

    def _reads_a_plain_word(self) -> bool:
        """True when the model itself works: then it was a text that broke it."""
        try:
            self._embedder.embed(["memory"])
        except Unavailable:
            return False
        return True

    def _give_back(self, wanted: list[QueuedChunk], reason: str | None) -> None:
        chunks = [chunk.chunk for chunk in wanted]
        self._queue.release(self._embedder.name, chunks, reason, tried=False)

    def _embed_one_by_one(self, wanted: list[QueuedChunk]) -> None:
        """Embed each text alone, and set aside those that break the model."""
        for chunk in wanted:
            try:
                self._embed([chunk])
            except Unavailable as failure:
                self._queue.release(self._embedder.name, [chunk.chunk], str(failure), tried=True)

"""Vectors made after the fact: in batches, by one thread, resumed by whoever opens the store next.

The text is safe before this begins. A model that does not answer stops the work with a reason; a
single text that breaks the model is set aside after three tries and counted as failed. With its
vector, a memory is linked to those that say nearly the same, and to its nearest where a search walks
links; and when there are many more vectors than before, what makes them short is fitted anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError, Unavailable
from scrubjay.runtime.at_exit import stop_at_exit
from scrubjay.text.snippets import embedding_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.sql.backlog import SqlBacklog, Wanted
    from scrubjay.storage.sql.near_duplicates import SqlNear
    from scrubjay.storage.sql.token_vectors import SqlTokens
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.write.auto_links import AutoLinks

    Made = tuple[int, NDArray[np.float32]]  # of a chunk

Progress = Callable[[int, int], None]

BATCH = 100
STOP_S = 10.0  # a model that hangs must not keep its user from leaving; the lease runs out
REST_S = 1.0  # before a rotation is fitted: a command that ends at once should not wait for it
LEASE_S = 15.0  # renewed with every batch; after a crash others wait no longer than this


class Backlog:
    """Feeds one store's chunks to one model."""

    def __init__(
        self,
        queue: SqlBacklog,
        vectors: SqlVectors,
        tokens: SqlTokens,
        near: SqlNear,
        links: AutoLinks,
        embedder: GuardedEmbedder,
    ) -> None:
        self._queue = queue
        self._vectors = vectors
        self._tokens = tokens
        self._near = near
        self._links = links
        self._embedder = embedder
        # Between two calls of a model the work can be stopped, and progress is seen.
        self._at_once = min(embedder.texts_at_once or BATCH, BATCH)
        self._working = threading.Lock()
        self._stopping = threading.Event()
        self._wished = False
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._fitting = threading.Lock()
        self.outage: str | None = None

    def wake(self) -> None:
        """Start the thread that makes vectors, or let it look again; the model gets a new chance."""
        self.outage = None
        with self._starting:
            self._wished = True
            if self._thread is None and not self._stopping.is_set():
                thread = threading.Thread(
                    target=self._in_background, name="scrubjay-backlog", daemon=True
                )
                thread.start()
                self._thread = thread
                stop_at_exit(self)

    def stop(self, wait_s: float | None = None) -> None:
        """Finish the batch at hand and stop."""
        self._stopping.set()
        thread = self._thread
        if thread is not None:
            thread.join(STOP_S if wait_s is None else wait_s)

    def left(self) -> int:
        """Return how many chunks still want a vector."""
        return self._queue.left(self._embedder.name)[0]

    def watch(self, timeout_s: float) -> None:
        """Wait while the thread is at work, but not for long: it may itself wait for another writer."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            left, failed = self._queue.left(self._embedder.name)
            thread = self._thread
            if (left <= failed and not self._links.left()) or thread is None:
                return
            thread.join(0.01)

    def wait(self, timeout_s: float | None = None, progress: Progress | None = None) -> int:
        """Make vectors until none is wanted, the model is out, or time is up; return how many are left."""
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
                # What is stored already is compared without any model.
                while not late() and (self._near.link_next(BATCH) or self._link()):
                    pass
                self._fit(late)
                return left
            # Another thread may be at it already: then this one only watches.
            if not self._working.acquire(timeout=0.05):
                continue
            try:
                made = self._one_batch(min(2 * self._at_once, BATCH))
            finally:
                self._working.release()
            if not made and not self.outage:
                time.sleep(0.02)  # another process holds the lease
        return self.left()

    def _in_background(self) -> None:
        try:
            while True:
                self._wished = False
                with self._working:
                    embedded = not self.outage and self._one_batch(BATCH)
                    made = embedded or self._near.link_next(BATCH) > 0 or self._link() > 0
                if not made and self.fit_is_due() and not self._stopping.wait(REST_S):
                    self._fit(self._stopping.is_set)
                with self._starting:
                    # What was wished for during the last look is looked for again.
                    if self._stopping.is_set() or not (made or self._wished):
                        self._thread = None
                        return
        except StoreError:
            return  # the store was closed or its disk filled up; what is wanted stays written down
        finally:
            with self._starting:  # whatever ended this thread, the next wish must find another
                if self._thread is threading.current_thread():
                    self._thread = None

    def _link(self) -> int:
        """Link the next few memories to their nearest; an index that does not answer is asked later."""
        try:
            return self._links.link_next(BATCH, self._stopping.is_set)
        except Unavailable:
            return 0

    def fit_is_due(self) -> bool:
        """True when there are many more vectors than a rotation was fitted on."""
        return self._vectors.fit_is_due(self._embedder.name, self._embedder.matryoshka)

    def _fit(self, stopped: Callable[[], bool]) -> None:
        """Fit what makes vectors short, if that is due and nobody else is at it."""
        with self._fitting:
            self._vectors.fit(self._embedder.name, self._embedder.matryoshka, stopped)

    def _one_batch(self, most: int) -> bool:
        """Claim a batch and embed it; False when there was none to be had, or the model is out."""
        wanted = self._queue.claim(self._embedder.name, most, LEASE_S)
        if not wanted:
            return False
        for start in range(0, len(wanted), self._at_once):
            if self._stopping.is_set():
                left = [one.chunk for one in wanted[start:]]
                self._queue.release(self._embedder.name, left, None, tried=False)
                return False
            if not self._embed(wanted[start : start + self._at_once], rest=wanted[start:]):
                return False
        return True

    def _embed(self, wanted: list[Wanted], rest: list[Wanted]) -> bool:
        """Make and store a few vectors; False when the model is out, and then the rest is given back."""
        try:
            self._make(wanted)
        except Unavailable as gone:
            return self._one_by_one(wanted) if self._answers() else self._give_back(rest, gone)
        self.outage = None
        return True

    def _make(self, wanted: list[Wanted]) -> None:
        """Embed a few chunks, store what the model gave and link what is alike, in one transaction."""
        vectors, tokens = self._encoded(wanted)
        asked = {one.chunk: one.asked for one in wanted}
        with self._queue.together():
            self._tokens.add(self._embedder.name, tokens)
            self._vectors.add(self._embedder.name, vectors, asked)
            self._near.link_next(len(wanted), newest=True)

    def _encoded(self, wanted: list[Wanted]) -> tuple[list[Made], list[Made]]:
        """Return the vectors of a few chunks, and their tokens where the model gives any.

        A short turn is read twice, alone and with the turns around it, and its vector lies between the
        two: alone it says too little, and "noted" would have the vector of what it answers. Its tokens
        are its own.
        """
        vectors, tokens = self._embedder.encode([_read_as(one) for one in wanted])
        around = [place for place, one in enumerate(wanted) if one.around]
        if around:
            read = self._embedder.embed([_read_as(wanted[at], around=True) for at in around])
            vectors[around] = _between(vectors[around], read)
        chunks = [one.chunk for one in wanted]
        made = [] if tokens is None else list(zip(chunks, tokens, strict=True))
        return list(zip(chunks, vectors, strict=True)), made

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
                self._make([one])
            except Unavailable as gone:
                self._queue.release(self._embedder.name, [one.chunk], str(gone), tried=True)
        return True


def _read_as(one: Wanted, *, around: bool = False) -> str:
    context = "\n".join(filter(None, (one.context, one.around if around else "")))
    return embedding_text(one.title, one.heading, context, one.passage)


def _between(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the directions half-way between pairs of vectors; of opposite ones, the first."""
    import numpy as np

    sums = some + others
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 1e-6, sums / np.maximum(lengths, 1e-6), some).astype(np.float32)

"""The index of the model that a store changes to: built in the background while the old one answers.

Every process that has the store open helps: the queue has leases. The process that finds it complete lets
it take over, in one transaction; a killed process leaves at most one lease behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.models.guard import is_ready
from scrubjay.runtime.backoff import Backoff
from scrubjay.storage.sql.near_duplicates import SqlNearDuplicates
from scrubjay.storage.sql.vectors import SqlTokenVectors
from scrubjay.write.embed_worker import EmbedWorker
from scrubjay.write.model_width import remember_width

if TYPE_CHECKING:
    from scrubjay.runtime.progress import Progress
    from scrubjay.storage.database import Database
    from scrubjay.storage.model_switch import SqlModelSwitch
    from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
    from scrubjay.write.model_choice import LoadedModel

_LOOK_S = 2.0  # how often to look whether others have finished, or left a lease


class NextIndex:
    """The next model of a store, and the worker that embeds with it."""

    def __init__(
        self,
        db: Database,
        queue: SqlEmbeddingQueue,
        switch: SqlModelSwitch,
        model: LoadedModel,
        on_done: Callable[[], None],
    ) -> None:
        self.model = model
        self.name = model.embedder.name
        self._queue = queue
        self._switch = switch
        self._on_done = on_done
        self._backoff = Backoff(30.0, 600.0)
        remember_width(db, queue, model.embedder)
        tables = (queue, db.vectors, SqlTokenVectors(db), SqlNearDuplicates(db))
        self._worker = EmbedWorker(
            *tables, None, model.embedder, is_ready=self._is_ready, on_idle=self._idle
        )

    @property
    def outage(self) -> str:
        """Why the model does not answer; empty while it does."""
        return self._worker.outage or ""

    def go_on(self) -> None:
        """Build in the background, if the model is here; one that failed is left alone for a while."""
        if self.model.loader is not None:
            self.model.loader.begin()
        if self._backoff.left_s or not self._is_ready():
            return
        self._worker.outage = None
        self._worker.thread.wake()

    def wait(self, timeout_s: float | None, progress: Progress | None) -> bool:
        """Build until the index takes over, the model fails, or time is up; True when it took over."""
        if self.model.loader is not None:
            self.model.loader.wait(timeout_s)
        self._queue.retry(self.name)
        self._worker.wait(timeout_s, progress)
        if self._worker.outage:
            self._backoff.failed()
        return self._take_over()

    def stop(self, wait_s: float | None = None) -> None:
        self._worker.stop(wait_s)

    def _idle(self) -> float | None:
        """Let the index take over if it is complete; go on while other processes build it."""
        if self._take_over():
            return None
        if self._worker.outage:
            self._backoff.failed()
            return None
        built = self._switch.progress(self.name)
        waits = built is not None and built.total - built.done > built.failed
        return _LOOK_S if waits and self._is_ready() else None

    def _take_over(self) -> bool:
        if self._switch.take_over(self.name) or self._switch.progress(self.name) is None:
            self._on_done()
            return True
        return False  # otherwise it, or another process, has ended the change

    def _is_ready(self) -> bool:
        loader = self.model.loader
        return loader.ready() if loader is not None else is_ready(self.model.embedder.inner)

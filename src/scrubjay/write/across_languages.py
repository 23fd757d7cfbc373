"""Multilingual vectors: a second vector of every text, so that a question in another language finds it.

They are made in the background, after those of the main model, by a process that stays open, by
`Store.pending`, or when a search needs them. A search never downloads the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.config import load, offline
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.models.guard import GuardedEmbedder, is_ready
from scrubjay.models.registry import NONE, multilingual_embedder, why_not_here
from scrubjay.storage.sql.near_duplicates import SqlNearDuplicates
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.storage.sql.vectors import MULTILINGUAL, SqlTokenVectors
from scrubjay.write.embed_worker import EmbedWorker

if TYPE_CHECKING:
    from scrubjay.models import Embedder
    from scrubjay.models.shared import ModelLoader, SharedModels
    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.vectors import SqlEmbeddingQueue

_SETTLE_MOST = 1000  # a question that needs them waits for this many
_SETTLE_S = 5.0


class MultilingualVectors:
    """The multilingual model of a store, and the worker that embeds with it."""

    def __init__(
        self,
        db: Database,
        queue: SqlEmbeddingQueue,
        embedder: GuardedEmbedder,
        loader: ModelLoader[Embedder] | None,
        supported: tuple[str, ...],
    ) -> None:
        self.embedder = embedder
        self._db = db
        self._supported = supported
        self._queue = queue
        self._loader = loader
        tables = (queue, db.vectors, SqlTokenVectors(db), SqlNearDuplicates(db))
        self._worker = EmbedWorker(*tables, None, embedder)

    def activate(self, wait_s: float | None = None) -> None:
        """Register the model; in an older store, every chunk is queued. A server begins to load it where
        some text is in a language that the main model does not support."""
        self._queue.activate(self.embedder.name, self.embedder.dims, 0, wait_s, MULTILINGUAL)
        held = SqlRecords(self._db).languages() if self._loader is not None else ()
        if self._loader is not None and {*held} - {"", *self._supported}:
            self._loader.when_ready(self.go_on)

    def languages(self) -> tuple[str, ...]:
        """Return the languages that it covers; none while it is not on this machine."""
        return self.embedder.languages if is_ready(self.embedder.inner) else ()

    def ready(self) -> tuple[GuardedEmbedder | None, str]:
        """Return the embedder if it can answer now, else the reason. Embeds the last few texts first."""
        from scrubjay.runtime.command_hints import to_fetch

        if self._loader is not None:
            self._loader.begin()
        if not self._is_ready():
            fetch = to_fetch()
            loading = self._loader and self._loader.why_not(fetch=fetch, instead="left out")
            return None, loading or why_not_here(self.embedder.name, fetch)
        left = self.left()
        if left:
            self._worker.thread.wake()
            if left <= _SETTLE_MOST:
                self._worker.settle(_SETTLE_S)
        return self.embedder, ""

    def go_on(self) -> None:
        """Embed what is queued in the background, if the model is here."""
        if self.left() and self._is_ready():
            self._worker.thread.wake()

    def wait(self, timeout_s: float | None) -> int:
        """Embed until nothing is left or the model fails; fetches the model unless that is forbidden."""
        if not self.left() or (offline() and not self._is_ready()):
            return self.left()
        self._queue.retry(self.embedder.name)
        return self._worker.wait(timeout_s)

    def left(self) -> int:
        """Return how many chunks have no multilingual vector yet."""
        return self._queue.left(self.embedder.name)[0]

    def stop(self, wait_s: float | None = None) -> None:
        self._worker.stop(wait_s)

    def _is_ready(self) -> bool:
        return self._loader.ready() if self._loader is not None else is_ready(self.embedder.inner)


def multilingual_vectors(
    db: Database, queue: SqlEmbeddingQueue, main: GuardedEmbedder, models: SharedModels | None
) -> MultilingualVectors | None:
    """Return the multilingual vectors of a store; None where settings say so, or where the main model
    is not limited to a few languages."""
    name = load().multilingual
    if name == NONE or not main.languages:
        return None
    try:
        if models is None:
            embedder = GuardedEmbedder(multilingual_embedder(name))
            return MultilingualVectors(db, queue, embedder, None, main.languages)
        loader = models.embedder(name)
        embedder = GuardedEmbedder(loader.model)
        return MultilingualVectors(db, queue, embedder, loader, main.languages)
    except NotFound as unknown:
        raise InvalidInput(f"multilingual: {unknown}") from unknown

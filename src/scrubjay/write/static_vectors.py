"""Static vectors: made in the transaction that stores a text, so that a search finds it by meaning at once.

What a store held before it had static vectors is queued, and embedded in the background.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.storage.database import Connection, Gathered
from scrubjay.storage.sql.vectors import STATIC
from scrubjay.write.encoding import encode

if TYPE_CHECKING:
    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.vectors import QueuedChunk, SqlEmbeddingQueue

BATCH = 1000
_LEASE_S = 15.0
_SETTLE_MOST = 2000  # about a quarter of a second
_MORE = 100  # queued chunks that a write embeds beside its own, such as neighbors of a message


class StaticVectors:
    """The static vectors of one store."""

    def __init__(self, db: Database, queue: SqlEmbeddingQueue, embedder: GuardedEmbedder) -> None:
        self._db = db
        self._queue = queue
        self._done_at: int | None = None  # the commit after which nothing was queued
        self.embedder = embedder

    def activate(self, wait_s: float | None = None) -> None:
        """Register the table as a model; in an older store, every chunk is queued."""
        self._queue.activate(self.embedder.name, self.embedder.dims, 0, wait_s, STATIC)

    def note(self, chunks: int) -> None:
        """Note that the write under way stores chunks; they are embedded before it ends."""
        self._db.gathering(_NewChunks).add(self, chunks)

    def embed_newest(self, most: int) -> None:
        """Embed the newest queued chunks, inside a write."""
        self._embed(self._queue.newest(self.embedder.name, most + _MORE))

    def settle(self, commit: int | None) -> bool:
        """Embed what an older version or a store without an embedder left, if it is little, before a
        search; False when there is much, which is left to the background. `commit` is the number of
        the last one."""
        if commit is not None and commit == self._done_at:
            return True  # nothing was written since
        left, failed = self._queue.left(self.embedder.name)
        if left - failed > _SETTLE_MOST:
            return False
        while left > failed and self.embed_queued():
            left, failed = self._queue.left(self.embedder.name)
        self._done_at = commit
        return True

    def embed_queued(self) -> bool:
        """Embed a batch of what is queued; False when there was nothing."""
        if not self._queue.left(self.embedder.name)[0]:
            return False
        claimed = self._queue.claim(self.embedder.name, BATCH, _LEASE_S)
        self._embed(claimed)
        return bool(claimed)

    def _embed(self, wanted: list[QueuedChunk]) -> None:
        if wanted:
            vectors, _ = encode(self.embedder, wanted)
            asked = {chunk.chunk: chunk.request for chunk in wanted}
            self._db.vectors.add(self.embedder.name, vectors, asked)


class _NewChunks(Gathered):
    """The chunks of one write that have no static vectors yet."""

    def __init__(self) -> None:
        self._of: StaticVectors | None = None
        self._chunks = 0

    def add(self, of: StaticVectors, chunks: int) -> None:
        self._of = of
        self._chunks += chunks

    def write(self, db: Connection) -> None:
        """Embed them."""
        if self._of is not None:
            self._of.embed_newest(self._chunks)

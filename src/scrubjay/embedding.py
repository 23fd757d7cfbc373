"""One store's embedder: which it is, whether it is here, and what still waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.config import load
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.registry import is_ready, load_embedder
from scrubjay.stores.sqlite_backlog import SqliteBacklog
from scrubjay.write.backlog import Backlog

if TYPE_CHECKING:
    from scrubjay.models import Embedder
    from scrubjay.stores.sqlite import Database
    from scrubjay.stores.sqlite_vector import SqliteVector

# A search waits for what this process wrote just before, if that is little; it never waits for much.
_SETTLE_MOST = 100
_SETTLE_S = 10.0


class Embedding:
    """The embedder of a store, or the reason why there is none."""

    def __init__(
        self, db: Database, vectors: SqliteVector, chosen: Embedder | str | bool | None
    ) -> None:
        self.queue = SqliteBacklog(db)
        self.embedder = _resolve(chosen)
        self._backlog = (
            Backlog(self.queue, vectors, self.embedder) if self.embedder is not None else None
        )
        self._active = False

    def activate(self) -> None:
        """Make the model known to the file, once."""
        if self.embedder is not None and not self._active:
            self.queue.activate(self.embedder.name, self.embedder.dims)
            self._active = True

    def ready(self) -> tuple[GuardedEmbedder | None, str]:
        """Return the embedder if it can answer now, else the reason; a search never fetches a model."""
        if self.embedder is None or self._backlog is None:
            return None, "there is no embedder: the store was opened with embedder=False"
        if is_ready(self.embedder.inner):
            return self.embedder, ""
        return None, (
            f"{self.embedder.name} is not on this machine yet"
            + (f" ({self._backlog.outage})" if self._backlog.outage else "")
            + "; fetch it with: scrubjay models pull"
        )

    def wake(self) -> None:
        """Begin to make what is wanted, in the background."""
        if self._backlog is not None:
            self._backlog.wake()

    def settle(self) -> None:
        """Wait for the last few vectors, so that one finds by meaning what one just wrote.

        More than a few are begun in the background: a killed process may have left them.
        """
        if self._backlog is None or self.embedder is None or not is_ready(self.embedder.inner):
            return
        left = self.left()
        if not left or self._backlog.outage:
            return
        if left > _SETTLE_MOST:
            self._backlog.wake()
        else:
            self._backlog.wait(_SETTLE_S, for_others=False)

    def wait(self, timeout_s: float | None, progress: Callable[[int, int], None] | None) -> int:
        """Make vectors until none is wanted or the model is out; return how many are left."""
        return self._backlog.wait(timeout_s, progress) if self._backlog is not None else 0

    def left(self) -> int:
        """Return how many passages want a vector of the model in use."""
        return self._backlog.left() if self._backlog is not None else 0

    def close(self) -> None:
        """Settle, then stop the thread."""
        if self._backlog is not None:
            self.settle()
            self._backlog.stop()


def _resolve(chosen: Embedder | str | bool | None) -> GuardedEmbedder | None:
    if chosen is False:
        return None
    if chosen is None or chosen is True:
        chosen = load().embedder
    return GuardedEmbedder(load_embedder(chosen) if isinstance(chosen, str) else chosen)

"""One store's embedder: which it is, whether it is here, and what still waits for it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from scrubjay.config import load, offline
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.registry import is_ready, load_embedder
from scrubjay.storage.sql.backlog import SqlBacklog
from scrubjay.storage.sql.links import SqlLinks
from scrubjay.storage.sql.near_duplicates import SqlNear
from scrubjay.storage.sql.token_vectors import SqlTokens
from scrubjay.write.auto_links import AutoLinks
from scrubjay.write.embed_worker import Backlog

if TYPE_CHECKING:
    from scrubjay.models import Embedder
    from scrubjay.models.shared import SharedModels
    from scrubjay.models.warm import Warming
    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.types import Scope

# A search waits for what this process wrote just before, if that is little; it never waits for much.
_SETTLE_MOST = 100
_SETTLE_S = 5.0
_BUSY_S = 0.2


class Embedding:
    """The embedder of a store, or the reason why there is none.

    With `models`, a named one is shared with other stores, and no search waits until it is loaded.
    """

    def __init__(
        self,
        db: Database,
        vectors: SqlVectors,
        chosen: Embedder | str | bool | None,
        *,
        links: Callable[[], bool] = lambda: False,
        models: SharedModels | None = None,
    ) -> None:
        self.queue = SqlBacklog(db)
        self.links = SqlLinks(db)
        self.embedder, self._warming = _resolve(chosen, models)
        self._backlog: Backlog | None = None
        if self.embedder is not None:
            near = AutoLinks(self.links, vectors, self.embedder.name)
            self._backlog = Backlog(
                self.queue, vectors, SqlTokens(db), SqlNear(db), near, self.embedder
            )
        self._wants_links = links
        self._active = False
        self._linking = False
        self._searched_by_links = False
        self._wrote = False

    def activate(self, wait_s: float | None = None) -> None:
        """Make the model known to the file, once, and that its links are walked, where they are."""
        if self.embedder is None:
            return
        if not self._active:
            self.queue.activate(
                self.embedder.name, self.embedder.dims, self.embedder.token_dims, wait_s
            )
            self._active = True
            self._linking = not (self._searched_by_links or self._wants_links())
        if not self._linking:
            self.links.activate(wait_s)
            self._linking = True

    def prepare_search(self, *, links: bool = False) -> None:
        """Make the model known and wait for the last few vectors; a busy writer is not waited for.

        With `links`, every memory of the file is linked to its nearest from now on.
        """
        if links and not self._searched_by_links:
            self._searched_by_links, self._linking = True, False
        try:
            self.activate(wait_s=_BUSY_S)
        except StoreError:
            return  # somebody else is writing; the vectors that are there will do
        self.settle()

    def ready(self) -> tuple[GuardedEmbedder | None, str]:
        """Return the embedder if it can answer now, else the reason; a search never fetches a model."""
        if self.embedder is None or self._backlog is None:
            return None, "there is no embedder: the store was opened with embedder=False"
        self.warm()
        if self._is_ready():
            return self.embedder, ""
        return None, self._why_not_ready(self.embedder, "searched by word")

    def why_pending(self) -> str:
        """Say what vectors wait for; nothing where they are made now, or where no model makes any."""
        if self.embedder is None or self._backlog is None:
            return ""
        if self._is_ready():
            return self._backlog.outage or ""
        return self._why_not_ready(self.embedder, "found by word until then")

    def _why_not_ready(self, embedder: GuardedEmbedder, instead: str) -> str:
        from scrubjay.runtime.command_hints import to_fetch

        fetch = f"; fetch it with: {to_fetch()}"
        loading = self._warming and self._warming.why_not(fetch=fetch, instead=instead)
        if loading:
            return loading
        if offline():
            return f"{embedder.name} is not here, and SCRUBJAY_OFFLINE forbids fetching it{fetch}"
        outage = self._backlog.outage if self._backlog is not None else None
        return (
            f"{embedder.name} is not on this machine yet{f' ({outage})' if outage else ''}{fetch}"
        )

    def warm(self) -> None:
        """Begin to load a shared model; any other is loaded by what first needs it."""
        if self._warming is not None:
            self._warming.begin()

    def wake(self) -> None:
        """Begin to make what this process wants, in the background, once the model is there."""
        self._wrote = True
        if self._backlog is not None:
            self._begin(self._backlog)

    def go_on(self) -> None:
        """Begin to make links that waited for a server to know the vectors."""
        if self._backlog is not None and self.unlinked(most=1):
            self._begin(self._backlog)

    def settle(self) -> None:
        """Wait for the last few vectors and links, so that one finds by them what one just wrote.

        What others left behind, a killed process perhaps, is begun in the background.
        """
        if self._backlog is None or not self._is_ready():
            return
        left = self.left() + self.unlinked(most=_SETTLE_MOST + 1)
        if not left and self._backlog.fit_is_due():
            self._backlog.wake()
        if not left or self._backlog.outage:
            return
        self._backlog.wake()
        if left <= _SETTLE_MOST and self._wrote:
            self._backlog.watch(_SETTLE_S)

    def wait(self, timeout_s: float | None, progress: Callable[[int, int], None] | None) -> int:
        """Make vectors and links until none is wanted or the model is out; return how many are left."""
        if self._backlog is None or self.embedder is None:
            return 0
        self.queue.retry(self.embedder.name)  # what was given up gets another chance
        if self._warming is not None:
            began_s = monotonic()
            self._warming.wait(timeout_s)
            timeout_s = timeout_s and max(timeout_s - (monotonic() - began_s), 0.0)
        return self._backlog.wait(timeout_s, progress) + self.unlinked()

    def left(self) -> int:
        """Return how many passages want a vector of the model in use."""
        return self._backlog.left() if self._backlog is not None else 0

    def unlinked(self, scope: Scope | None = None, most: int | None = None) -> int:
        """Return how many memories have a vector and wait for their links; `most` stops counting."""
        return 0 if self.embedder is None else self.links.left(self.embedder.name, scope, most)

    def close(self) -> None:
        """Settle if anything was written, then stop the thread."""
        if self._backlog is not None:
            if self._wrote:
                self.settle()
            self._backlog.stop()

    def _is_ready(self) -> bool:
        if self._warming is not None:
            return self._warming.ready()
        return self.embedder is not None and is_ready(self.embedder.inner)

    def _begin(self, backlog: Backlog) -> None:
        """Let vectors be made; a thread that waited for the model itself would hold up `close`."""
        if self._warming is None:
            backlog.wake()
        else:
            self._warming.when_ready(backlog.wake)


def _resolve(
    chosen: Embedder | str | bool | None, models: SharedModels | None
) -> tuple[GuardedEmbedder | None, Warming[Embedder] | None]:
    if chosen is False:
        return None, None
    if chosen is None or chosen is True:
        chosen = load().embedder
    try:
        if not isinstance(chosen, str):
            return GuardedEmbedder(chosen), None
        if models is None:
            return GuardedEmbedder(load_embedder(chosen)), None
        warming = models.embedder(chosen)
        return GuardedEmbedder(warming.model), warming
    except NotFound as unknown:  # a setting or an argument is wrong, not a memory missing
        raise InvalidInput(str(unknown)) from unknown

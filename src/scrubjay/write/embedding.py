"""The embedder of one store: which model it is, whether it is ready, and how much is not embedded yet."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from scrubjay.config import load
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.models.guard import GuardedEmbedder, is_ready
from scrubjay.models.registry import load_embedder, load_static_embedder, why_not_here
from scrubjay.runtime.closing import close_all
from scrubjay.runtime.progress import Progress
from scrubjay.storage.sql.graph import SqlAutoLinks
from scrubjay.storage.sql.near_duplicates import SqlNearDuplicates
from scrubjay.storage.sql.vectors import SqlEmbeddingQueue, SqlTokenVectors
from scrubjay.write.across_languages import MultilingualVectors, multilingual_vectors
from scrubjay.write.auto_links import AutoLinks
from scrubjay.write.embed_worker import EmbedWorker
from scrubjay.write.static_vectors import StaticVectors

if TYPE_CHECKING:
    from scrubjay.models import Embedder
    from scrubjay.models.shared import ModelLoader, SharedModels
    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.types import Scope

# A search waits for what this process wrote just before, if that is little; it never waits for much.
_SETTLE_MOST = 100
_SETTLE_S = 5.0
_BUSY_S = 0.2
INSTEAD = "searched by static vectors"


class Embedding:
    """The embedder of a store, or the reason why there is none. With `models`, a named model is
    shared with other stores, and no search waits until it is loaded."""

    def __init__(
        self,
        db: Database,
        vectors: SqlVectors,
        chosen: Embedder | str | bool | None,
        *,
        links: Callable[[], bool] = lambda: False,
        models: SharedModels | None = None,
    ) -> None:
        self._db = db
        self.queue = SqlEmbeddingQueue(db)
        self.links = SqlAutoLinks(db)
        self.embedder, self._loader = _resolve(chosen, models)
        self._worker: EmbedWorker | None = None
        self.static: StaticVectors | None = None
        # An object given by the caller stands alone: its store has no other vectors.
        if self.embedder is not None and (chosen is None or isinstance(chosen, str | bool)):
            static = GuardedEmbedder(load_static_embedder())
            if static.name != self.embedder.name:
                self.static = StaticVectors(db, self.queue, static)
        self.multilingual: MultilingualVectors | None = None
        if self.static is not None and self.embedder is not None:
            self.multilingual = multilingual_vectors(db, self.queue, self.embedder, models)
        if self.embedder is not None:
            tables = (self.queue, vectors, SqlTokenVectors(db), SqlNearDuplicates(db))
            auto_links = AutoLinks(self.links, vectors, self.embedder.name)
            is_ready = self._loader.ready if self._loader is not None else lambda: True
            on_idle = self.multilingual.go_on if self.multilingual is not None else None
            self._worker = EmbedWorker(
                *tables, auto_links, self.embedder, self.static, is_ready, on_idle
            )
        self._wants_links = links
        self._active = False
        self._linking = False
        self._searched_by_links = False
        self._wrote = False
        self._done_at: int | None = None  # the commit after which there was nothing left to do

    def activate(self, wait_s: float | None = None) -> None:
        """Register the model in the database, once, and that its links are walked, where they are."""
        if self.embedder is None:
            return
        if not self._active:
            model = self.embedder
            self.queue.activate(model.name, model.dims, model.token_dims, wait_s)
            if self.static is not None:
                self.static.activate(wait_s)
            if self.multilingual is not None:
                self.multilingual.activate(wait_s)
            self._active = True
            self._linking = not (self._searched_by_links or self._wants_links())
        if not self._linking:
            self.links.activate(wait_s)
            self._linking = True

    def prepare_search(self, *, links: bool = False) -> None:
        """Register the model and wait for the last few vectors, but not for a busy writer. With
        `links`, every memory of the database is linked to its nearest from now on."""
        if links and not self._searched_by_links:
            self._searched_by_links, self._linking = True, False
        try:
            self.activate(wait_s=_BUSY_S)
            if self.static is not None and not self.static.settle() and self._worker is not None:
                self._worker.thread.wake()
        except StoreError:
            return  # another process is writing; the search uses the vectors that exist
        self.settle()

    def ready(self) -> tuple[GuardedEmbedder | None, str]:
        """Return the embedder if it can answer now, else the reason; a search never downloads a model.
        With a reason, the embedder is the static one, which answers in its place."""
        if self.embedder is None:
            return None, "there is no embedder: the store was opened with embedder=False"
        self.warm()
        if self._is_ready():
            return self.embedder, ""
        if self.static is None:
            return None, self._why_not_ready(self.embedder, "searched by word")
        return self.static.embedder, self._why_not_ready(self.embedder, INSTEAD)

    def why_pending(self) -> str:
        """Return what vectors wait for; empty while they are being made, or without an embedder."""
        if self.embedder is None or self._worker is None:
            return ""
        if self._is_ready():
            return self._worker.outage or ""
        until_then = "found by word until then"
        if self.static is not None:
            until_then = "found by static vectors until then"
        return self._why_not_ready(self.embedder, until_then)

    def _why_not_ready(self, embedder: GuardedEmbedder, instead: str) -> str:
        from scrubjay.runtime.command_hints import to_fetch

        fetch = to_fetch()
        loading = self._loader and self._loader.why_not(fetch=fetch, instead=instead)
        outage = (self._worker and self._worker.outage) or ""
        return loading or why_not_here(embedder.name, fetch, outage)

    def warm(self) -> None:
        """Begin to load a shared model; any other is loaded at its first use."""
        if self._loader is not None:
            self._loader.begin()

    def wake(self) -> None:
        """Embed what this process wrote, in the background, once the model is loaded."""
        self._wrote = True
        self._start()

    def go_on(self) -> None:
        """Make links that waited until a replica had the vectors."""
        if self.unlinked(most=1):
            self._start()

    def settle(self) -> None:
        """Wait for the last few vectors and links, so that a search finds what was just written.
        What other processes left, such as one that was killed, is embedded in the background."""
        if self._worker is None or not self._is_ready():
            return
        with self._db.watched() as (_, commit):
            pass
        if commit is not None and commit == self._done_at:
            return  # nothing was written since
        left = self.left() + self.unlinked(most=_SETTLE_MOST + 1)
        if not left:
            if self._worker.fit_is_due():
                self._wake()
            else:
                self._done_at = commit
        elif not self._worker.outage:
            self._wake()
            if left <= _SETTLE_MOST and self._wrote:
                self._worker.settle(_SETTLE_S)

    def wait(
        self, timeout_s: float | None, progress: Progress | None, *, further: bool = True
    ) -> int:
        """Embed and link until nothing is left or the model fails; return how many are left.
        With `further`, wait for multilingual vectors, too; they are not counted."""
        if self._worker is None or self.embedder is None:
            return 0
        self.queue.retry(self.embedder.name)  # failed chunks get another chance
        if self._loader is not None:
            started = monotonic()
            self._loader.wait(timeout_s)
            timeout_s = timeout_s and max(timeout_s - (monotonic() - started), 0.0)
        left = self._worker.wait(timeout_s, progress) + self.unlinked()
        if self.multilingual is not None and further and not self._worker.outage:
            self.multilingual.wait(timeout_s)
        return left

    def languages(self) -> tuple[str, ...]:
        """Return the languages that the models on this machine cover; none if the main model does not
        state its own."""
        if self.embedder is None or not self.embedder.languages:
            return ()
        further = () if self.multilingual is None else self.multilingual.languages()
        return tuple(sorted({*self.embedder.languages, *further}))

    def left(self) -> int:
        """Return how many chunks have no vector of the model in use."""
        return 0 if self.embedder is None else self.queue.left(self.embedder.name)[0]

    def unlinked(self, scope: Scope | None = None, most: int | None = None) -> int:
        """Return how many memories have a vector and no links yet; `most` stops counting."""
        return 0 if self.embedder is None else self.links.left(self.embedder.name, scope, most)

    def close(self) -> None:
        """Wait for the last few vectors if anything was written, then stop the thread."""
        if self._worker is not None:
            further = [self.multilingual.stop] if self.multilingual is not None else []
            settle = [self.settle] if self._wrote else []
            close_all([*settle, self._worker.stop, *further])

    def _is_ready(self) -> bool:
        if self._loader is not None:
            return self._loader.ready()
        return self.embedder is not None and is_ready(self.embedder.inner)

    def _wake(self) -> None:
        if self._worker is not None:
            self._worker.outage = None  # a model that failed gets another chance
            self._worker.thread.wake()

    def _start(self) -> None:
        if self._worker is None:
            return
        if self._loader is None:
            self._wake()
        else:  # a worker that waited for the model itself would hold up `close`
            if self.static is not None:
                self._worker.thread.wake()
            self._loader.when_ready(self._wake)


def _resolve(
    chosen: Embedder | str | bool | None, models: SharedModels | None
) -> tuple[GuardedEmbedder | None, ModelLoader[Embedder] | None]:
    if chosen is False:
        return None, None
    if chosen is None or chosen is True:
        chosen = load().embedder
    try:
        if not isinstance(chosen, str):
            return GuardedEmbedder(chosen), None
        if models is None:
            return GuardedEmbedder(load_embedder(chosen)), None
        loader = models.embedder(chosen)
        return GuardedEmbedder(loader.model), loader
    except NotFound as unknown:  # a setting or an argument is wrong; no memory is missing
        raise InvalidInput(str(unknown)) from unknown

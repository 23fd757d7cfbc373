"""The embedder of one store: which model it is, whether it is ready, and how much is not embedded yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.models.guard import GuardedEmbedder, is_ready
from scrubjay.models.registry import (
    DEFAULT,
    default_embedder,
    load_static_embedder,
    why_not_here,
)
from scrubjay.models.shared import SharedModels
from scrubjay.runtime.closing import close_all
from scrubjay.runtime.progress import Progress
from scrubjay.storage.model_switch import SqlModelSwitch
from scrubjay.storage.sql.graph import SqlAutoLinks
from scrubjay.storage.sql.near_duplicates import SqlNearDuplicates
from scrubjay.storage.sql.vectors import SqlEmbeddingQueue, SqlTokenVectors
from scrubjay.write.across_languages import MultilingualVectors, multilingual_vectors
from scrubjay.write.auto_links import AutoLinks
from scrubjay.write.embed_worker import EmbedWorker
from scrubjay.write.model_choice import (
    LoadedModel,
    checked_model,
    find_embedder,
    load_stored,
    model_in_use,
)
from scrubjay.write.model_width import remember_width
from scrubjay.write.next_index import NextIndex
from scrubjay.write.static_vectors import StaticVectors

if TYPE_CHECKING:
    from scrubjay.models import Embedder
    from scrubjay.models.shared import ModelLoader
    from scrubjay.storage.database import Database
    from scrubjay.storage.model_switch import StoredModel
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.types import Scope
    from scrubjay.write.changes.detection import ChangeDetection

# A search waits for what this process wrote just before, if that is little; it never waits for much.
_SETTLE_MOST = 100
_SETTLE_S = 5.0
_BUSY_S = 0.2
_COMPARE_S = 1.0  # before a store is closed
INSTEAD = "searched by static vectors"


class Embedding:
    """The embedder of a store, or the reason why there is none. With `models`, a named model is
    shared with other stores, and no search waits until it is loaded.

    A store that was opened without an embedder uses the model that it has chosen, and follows when that
    changes: before a search, if anything was written since, and after background work.
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
        self._db = db
        self._vectors = vectors
        self._models = models
        self.queue = SqlEmbeddingQueue(db)
        self.links = SqlAutoLinks(db)
        self.switch = SqlModelSwitch(db)
        self.next: NextIndex | None = None
        self.static: StaticVectors | None = None
        self.multilingual: MultilingualVectors | None = None
        self.changes: ChangeDetection | None = None
        self.on_switch: Callable[[], None] = lambda: None
        if isinstance(chosen, str) and chosen == DEFAULT:
            chosen = None
        self.follows = chosen is None or chosen is True
        self._wants_links = links
        self._searched_by_links = False
        self._wrote = False
        self._switching = threading.RLock()
        self._coming: LoadedModel | None = None  # the store has chosen it, and it is being loaded
        self._followed_at: int | None = None  # the commit up to which the choice is known
        self._worker: EmbedWorker | None = None
        # An object given by the caller stands alone: its store has no other vectors.
        stands_alone = not (chosen is None or isinstance(chosen, str | bool))
        found = find_embedder(chosen, self._own(), models, self._default)
        self._use(found, stands_alone=stands_alone)

    def _own(self) -> StoredModel | None:
        """Return the model that the store has chosen, if this process follows the choice."""
        if not self.follows:
            return None
        try:
            return self.switch.chosen()[0]
        except StoreError:  # a database that cannot be read; a search reports it
            return None

    def _default(self) -> str:
        try:
            return model_in_use(self.switch)
        except StoreError:
            return default_embedder()

    def _use(self, model: LoadedModel | None, *, stands_alone: bool = False) -> None:
        """Embed with this model from now on."""
        self.embedder: GuardedEmbedder | None = None if model is None else model.embedder
        self._loader: ModelLoader[Embedder] | None = None if model is None else model.loader
        self._active = False
        self._linking = False
        self._done_at: int | None = None  # the commit after which there was nothing left to do
        if self.embedder is None:
            return
        remember_width(self._db, self.queue, self.embedder)
        if not stands_alone:
            static = GuardedEmbedder(load_static_embedder())
            if static.name != self.embedder.name:
                self.static = self.static or StaticVectors(self._db, self.queue, static)
            multilingual = multilingual_vectors(self._db, self.queue, self.embedder, self._models)
            self.multilingual = multilingual if self.static is not None else None
        near = SqlNearDuplicates(self._db)
        tables = (self.queue, self._vectors, SqlTokenVectors(self._db), near)
        auto_links = AutoLinks(self.links, self._vectors, self.embedder.name)
        is_ready = self._loader.ready if self._loader is not None else lambda: True
        self._worker = EmbedWorker(
            *tables, auto_links, self.embedder, self.static, is_ready, self._idle
        )

    # -- the model that the store has chosen ----------------------------------------------------

    def change(self, name: str) -> str:
        """Change to another model, whose index is built first if there is none; from now on this
        process follows the choice of the store. Returns the name of the index."""
        if self.embedder is None:
            raise InvalidInput("the store was opened with embedder=False; open it without that")
        stored, loaded = checked_model(name)
        self.switch.choose(stored, self.embedder.name)
        self.follows = True
        with self._switching:
            main, coming = self.switch.chosen()
            if main is not None and main.name == stored.name != self.embedder.name:
                self._coming = loaded
            elif coming is not None and coming.name == stored.name and self.next is None:
                self._build(loaded)
        self.follow()
        return stored.name

    def follow(self, *, at_once: bool = False) -> None:
        """Use the model that the store has chosen once it is loaded, or `at_once`; until then, and
        while its index is being built, the old one answers."""
        if not self.follows or self.embedder is None:
            return
        with self._switching:
            main, coming = self.switch.chosen()
            if main is not None and main.name != self.embedder.name:
                self._adopt(main, at_once=at_once)
            if coming is None or (self.next is not None and self.next.name != coming.name):
                self._stop_building()
            if coming is not None:
                if self.next is None:
                    self._build(load_stored(coming, self._models))
                self._go_on_building()

    def _adopt(self, main: StoredModel, *, at_once: bool) -> None:
        """Change to the model that the store has chosen, if it can answer or the old one cannot."""
        if self._coming is None or self._coming.embedder.name != main.name:
            if self.next is not None and self.next.name == main.name:
                self._coming = self.next.model
            else:
                self._coming = load_stored(main, self._models or SharedModels())
        embedder, loader = self._coming
        if loader is not None:
            loader.begin()
        is_here = loader.ready() if loader is not None else is_ready(embedder.inner)
        name = "" if self.embedder is None else self.embedder.name
        if not is_here and not at_once and self.switch.is_known(name):
            return
        old, self._coming = self._worker, None
        if self.multilingual is not None:
            self.multilingual.stop(0.0)
        self._use(LoadedModel(embedder, loader))
        self._db.vectors.release(name)
        if old is not None:
            old.stop(0.0)  # not waited for: its last batch is stored all the same
        self.on_switch()
        self._wake()

    def _build(self, model: LoadedModel) -> None:
        self.next = NextIndex(self._db, self.queue, self.switch, model, self.follow)

    def _go_on_building(self) -> None:
        if self.next is None or self.embedder is None or self._worker is None:
            return
        left, failed = self.queue.left(self.embedder.name)
        if left <= failed or self._worker.outage or not self._is_ready():
            self.next.go_on()
        else:  # what was written just now comes first
            self._worker.thread.wake()

    def _stop_building(self) -> None:
        if self.next is not None:
            self.next.stop(0.0)
            self.next = None

    def _idle(self) -> None:
        if self.multilingual is not None:
            self.multilingual.go_on()
        if self.changes is not None:
            self.changes.go_on()
        self.follow()

    def _follow_commit(self, commit: int | None) -> None:
        if commit is None or (commit == self._followed_at and self._coming is None):
            return
        self.follow()
        self._followed_at = commit

    # -- the model in use -----------------------------------------------------------------------

    def activate(self, wait_s: float | None = None) -> None:
        """Register the model in the database, once, and that its links are walked, where they are."""
        if self.embedder is None:
            return
        if not self._active:
            self.follow()  # a model that the store has left is not registered again
            model = self.embedder
            self.queue.activate(model.name, model.dims, model.token_dims, wait_s)
            if self.static is not None:
                self.static.activate(wait_s)
            if self.multilingual is not None:
                self.multilingual.activate(wait_s)
            if self.changes is not None:
                self.changes.activate(wait_s)
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
        if self.embedder is None:
            return
        try:
            commit = self._last_commit()
            self._follow_commit(commit)
            self.activate(wait_s=_BUSY_S)
            if self.static is not None and not self.static.settle(commit) and self._worker:
                self._worker.thread.wake()
        except StoreError:
            return  # another process is writing; the search uses the vectors that exist
        self._settle(commit)

    def _last_commit(self) -> int | None:
        with self._db.watched() as (_, commit):
            return commit

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

        fetch, absent = to_fetch(), getattr(embedder.inner, "why_not", "")
        if absent:
            return f"{absent}; {instead}"
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
        if self._worker is not None and self._is_ready():
            self._settle(self._last_commit())

    def _settle(self, commit: int | None) -> None:
        if self._worker is None or not self._is_ready():
            return
        if commit is not None and commit == self._done_at:
            return  # nothing was written since
        left = self.left() + self.unlinked(most=_SETTLE_MOST + 1)
        if not left:
            if self._worker.fit_is_due() or SqlNearDuplicates(self._db).are_waiting():
                self._wake()
            else:
                self._done_at = commit
                if self.changes is not None:  # what another process left
                    self.changes.go_on()
        elif not self._worker.outage:
            self._wake()
            if left <= _SETTLE_MOST and self._wrote:
                self._worker.settle(_SETTLE_S)

    def wait(
        self, timeout_s: float | None, progress: Progress | None, *, further: bool = True
    ) -> int:
        """Embed and link until nothing is left or the model fails; return how many are left.
        With `further`, multilingual vectors and the index of the model that the store changes to are
        made, too; they are not counted."""
        if self._worker is None or self.embedder is None:
            return 0
        self.follow(at_once=True)
        left = self._wait(timeout_s, progress)
        if further and self.next is not None and self.next.wait(timeout_s, progress):
            self.follow(at_once=True)
            left = self._wait(timeout_s, progress)
        if further and self.multilingual is not None and not self._worker.outage:
            self.multilingual.wait(timeout_s)
        if further and self.changes is not None and not self._worker.outage:
            self.changes.wait(timeout_s)
        return left

    def _wait(self, timeout_s: float | None, progress: Progress | None) -> int:
        if self._worker is None or self.embedder is None:
            return 0
        self.activate()
        self.queue.retry(self.embedder.name)  # failed chunks get another chance
        if self._loader is not None:
            started = monotonic()
            self._loader.wait(timeout_s)
            timeout_s = timeout_s and max(timeout_s - (monotonic() - started), 0.0)
        return self._worker.wait(timeout_s, progress) + self.unlinked()

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

    def uncompared(self, scope: Scope | None = None) -> int:
        """Return how many memories have a vector and are not compared with earlier ones yet."""
        return 0 if self.changes is None or self.embedder is None else self.changes.left(scope)

    def close(self) -> None:
        """Wait for the last few vectors if anything was written, then stop the threads."""
        if self._worker is not None:
            parts = (self.changes, self.multilingual, self.next)
            further = [part.stop for part in parts if part is not None]
            settle = [self.settle] if self._wrote else []
            if self._wrote and self.changes is not None:
                settle.append(partial(self.changes.settle, _COMPARE_S))
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

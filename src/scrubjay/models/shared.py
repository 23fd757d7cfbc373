"""Models of a server: one copy of each in a process, loaded in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakMethod

from scrubjay.config import Access, EmbedderAccess, embedder_access, offline
from scrubjay.errors import Unavailable
from scrubjay.models import Embedder, NoteReader, Reranker
from scrubjay.models.guard import is_ready
from scrubjay.models.process.caller import is_there, start_when_needed
from scrubjay.models.process.shareable import Shareable
from scrubjay.models.registry import load_embedder, load_reader, load_reranker
from scrubjay.runtime.backoff import Backoff
from scrubjay.runtime.progress import Progress
from scrubjay.runtime.worker import Worker

log = logging.getLogger(__name__)
_NEAR_S = 0.3


M = TypeVar("M", bound=Embedder | Reranker | NoteReader)


class _Stopped(Exception):
    """The process ends: a download is left where it is."""


class ModelLoader(Generic[M]):
    """Loads one model in the background, and reports how far it is.
    A model with a method `load` is loaded by a thread at the first `begin`; any other is ready
    when it reports so. After a failure the next `begin` is ignored for half a minute, then for
    twice as long, up to ten minutes. Files that have arrived meanwhile are used at once."""

    def __init__(self, make: Callable[[Progress], M]) -> None:
        self._lock = threading.Lock()
        self._worker = Worker("load-model", self._step, owner=self)
        self._waiting: list[WeakMethod[Callable[[], None]]] = []
        self._working = False
        self._loaded = False
        self._downloading = False
        self._share: float | None = None  # of the file that is being downloaded
        self._failure = ""
        self._failed_without_files = False
        self._backoff = Backoff(30.0, 600.0)
        self._warned = False
        self.model = make(self._note_progress)
        self._load: Callable[[], None] | None = getattr(self.model, "load", None)

    def ready(self) -> bool:
        """True when the model answers at once."""
        return self._loaded if self._load is not None else is_ready(self.model)

    def begin(self) -> None:
        """Load the model in the background, unless it is loaded, backing off, or may not be fetched."""
        with self._lock:
            if self._load is None or self._loaded or self._working:
                return
            if self._forbidden():
                self._warn_once("it is not here, and SCRUBJAY_OFFLINE forbids fetching it")
                return
            files_arrived = self._failed_without_files and is_ready(self.model)
            if (self._backoff.left_s and not files_arrived) or self._worker.stopping.is_set():
                return
            self._downloading, self._share = not is_ready(self.model), None
            self._working = True
        self._worker.wake()
        if self._loads_elsewhere():
            self._worker.join(_NEAR_S)

    def _loads_elsewhere(self) -> bool:
        """True where another process probably has the model: then it is here in milliseconds, and the
        first search need not do without it."""
        return not self._downloading and isinstance(self.model, Shareable) and is_there()

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call a method once the model is loaded, or at once where nothing will be loaded.
        Only a weak reference is held: the method may be of a store that is closed meanwhile."""
        self.begin()
        with self._lock:
            later = not (self._load is None or self._loaded or self._forbidden())
            if later:
                self._waiting.append(WeakMethod(call))
        if not later:
            call()

    def wait(self, timeout_s: float | None = None) -> None:
        """Begin to load and wait until that has ended, but no longer than `timeout_s`."""
        self.begin()
        self._worker.join(timeout_s)

    def why_not(self, *, fetch: str, instead: str) -> str:
        """Return how far the model is; empty where loading is not the reason.
        `fetch` is the command that fetches it, `instead` what happens without it."""
        with self._lock:
            if self._load is None or self._forbidden():
                return ""
            name, left_s = self.model.name, self._backoff.left_s
            if self._failure and not self._working:
                by_hand = f"; fetch it with: {fetch}" if fetch and not is_ready(self.model) else ""
                again = f"it is tried again in {left_s:.0f} s" if left_s else "it is tried again"
                return f"{name} cannot be loaded: {self._failure}; {again}{by_hand}; {instead}"
            if not self._downloading:
                return f"{name} is being loaded; {instead}"
            if self._share == 1:  # a complete file is checked before the next one is fetched
                return f"{name} is being fetched and checked; {instead}"
            # A file that is nearly complete is at 99%.
            percent = f" ({int(self._share * 100)}% is here)" if self._share else ""
            return f"{name} is being fetched{percent}; {instead}"

    def failed(self) -> bool:
        """True when the model failed or may not be fetched; not while it is fetched or loaded."""
        with self._lock:
            failed = bool(self._failure) and not self._working
            return self._load is not None and not self._loaded and (failed or self._forbidden())

    def stop(self, wait_s: float | None = None) -> None:
        """Stop: a download is cut off, a model that is being loaded is waited for up to `wait_s`."""
        self._worker.stopping.set()
        with self._lock:
            downloading = self._downloading
        self._worker.stop(0.0 if downloading else wait_s)

    def _forbidden(self) -> bool:
        return offline() and not self._loaded and not is_ready(self.model)

    def _warn_once(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            log.warning("searches go on without %s: %s", self.model.name, " ".join(reason.split()))

    def _step(self) -> None:
        try:
            self._fetch_and_load()
        except _Stopped:
            return
        except Unavailable as failure:
            with self._lock:
                self._failure, self._working = str(failure), False
                self._warn_once(self._failure)
                self._failed_without_files = not is_ready(self.model)
                self._backoff.failed()
            return
        with self._lock:
            self._loaded, self._working, self._failure = True, False, ""
            waiting, self._waiting = self._waiting, []
        for reference in waiting:
            call = reference()
            if call is not None:
                call()

    def _fetch_and_load(self) -> None:
        """Fetch what is not here, then load; foreign code may raise anything, and that is Unavailable."""
        fetch: Callable[[], None] | None = getattr(self.model, "fetch", None)
        try:
            if self._downloading and fetch is not None:
                fetch()
            with self._lock:
                # No C++ code is started once the process ends: returning from it would abort.
                if self._worker.stopping.is_set():
                    raise _Stopped
                self._downloading = False
            assert self._load is not None
            self._load()
        except (Unavailable, _Stopped):
            raise
        except Exception as error:  # otherwise the thread would end without a reason
            raise Unavailable(f"{type(error).__name__}: {error}") from error

    def _note_progress(self, done: int, total: int) -> None:
        if self._worker.stopping.is_set():
            raise _Stopped
        self._share = done / total if total else None


class SharedModels:
    """The models of a server: each is made at its first use, and loaded in the background."""

    def __init__(self) -> None:
        start_when_needed()
        self._lock = threading.Lock()
        self._embedders: dict[EmbedderAccess, ModelLoader[Embedder]] = {}
        self._rerankers: dict[Access, ModelLoader[Reranker]] = {}
        self._reader: ModelLoader[NoteReader] | None = None

    def embedder(self, name: str | EmbedderAccess) -> ModelLoader[Embedder]:
        """Return the embedder of that name; raises as `load_embedder` does."""
        access = embedder_access(name) if isinstance(name, str) else name
        with self._lock:
            if access not in self._embedders:
                self._embedders[access] = ModelLoader(lambda to: load_embedder(name, progress=to))
            return self._embedders[access]

    def reranker(self, access: Access) -> ModelLoader[Reranker]:
        """Return the reranker that is reached so; raises as `load_reranker` does."""
        with self._lock:
            if access not in self._rerankers:
                self._rerankers[access] = ModelLoader(
                    lambda to: load_reranker(access, progress=to)
                )
            return self._rerankers[access]

    def reader(self) -> ModelLoader[NoteReader]:
        """Return the reader of notes; raises as `load_reader` does."""
        with self._lock:
            if self._reader is None:
                model = load_reader()
                self._reader = ModelLoader(lambda _: model)
            return self._reader

    def failed(self) -> list[str]:
        """Return the kinds of models that failed to load: embedder, reranker."""
        with self._lock:
            embedders, rerankers = [*self._embedders.values()], [*self._rerankers.values()]
        failed = ["embedder"] if any(loader.failed() for loader in embedders) else []
        return [*failed, "reranker"] if any(loader.failed() for loader in rerankers) else failed

"""Models and vectors of a command: download the model, embed what was stored, report what is left."""

from __future__ import annotations

import sys
from typing import Protocol, runtime_checkable

from scrubjay.config import Settings
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models import registry
from scrubjay.models.bundled import ENCODER, RANKER
from scrubjay.models.download.pull import ModelCard
from scrubjay.models.guard import is_ready
from scrubjay.runtime.command_hints import pending_vectors
from scrubjay.runtime.progress import ProgressBar
from scrubjay.store import Store
from scrubjay.surfaces.cli.common import warn
from scrubjay.surfaces.render.reports import waiting
from scrubjay.surfaces.render.terminal import err, one_line

_PENDING = "stored, and found by keyword and by meaning; better vectors are pending"


@runtime_checkable
class Downloaded(Protocol):
    """A model that is downloaded before its first use."""

    name: str

    def fetch(self) -> None: ...


def card_of(settings: Settings) -> ModelCard | None:
    return registry.card_of(settings.embedder or registry.DEFAULT)


def _how_to_embed(settings: Settings, store: Store) -> str:
    is_here = _missing_model(settings, store) is None
    return pending_vectors(settings.db_given, model_is_here=is_here)


def has_chosen(store: Store) -> bool:
    """True when the store uses a model of its own choice, whatever the settings name."""
    embedding = store._context.embedding
    return embedding.follows and embedding.switch.chosen()[0] is not None


def is_bundled(name: str) -> bool:
    """True for a model of the package scrubjay-models."""
    return name in (ENCODER.name, ENCODER.index, RANKER)


def _missing_model(settings: Settings, store: Store | None) -> Downloaded | None:
    """Return the embedder of the store, or that of the settings, if it has to be downloaded first; a
    search reports a wrong name."""
    try:
        own = store._context.embedding.embedder if store and _follows(store, settings) else None
        embedder = own.inner if own else registry.load_embedder(settings.embedder_access)
    except (InvalidInput, NotFound, Unavailable):
        return None
    if isinstance(embedder, Downloaded) and not is_ready(embedder):
        return embedder
    return None


def _follows(store: Store, settings: Settings) -> bool:
    return has_chosen(store) or settings.embedder == registry.DEFAULT


def fetch_model(settings: Settings, store: Store | None = None) -> str | None:
    """Download the model of the store or the settings if allowed; return the reason if it is not available.

    The progress bar is drawn on a terminal only. A search continues without the model, by keyword.
    """
    embedder = _missing_model(settings, store)
    if embedder is None:
        return None
    card = registry.card_of(embedder.name)
    name = embedder.name if card is None else card.name
    if settings.offline:
        return f"the model {name} is not here and SCRUBJAY_OFFLINE forbids fetching it"
    _announce(name)
    try:
        embedder.fetch()
    except Unavailable as error:
        return str(error)
    return None


def _announce(model: str) -> None:
    if not sys.stderr.isatty():  # no bar is drawn that would explain the wait
        err(f"scrubjay: downloading {model}, once")


def fetch_reranker(settings: Settings) -> None:
    """Download the configured reranker if it is one that is downloaded; print the reason if it fails."""
    from scrubjay.models.rerank.cross_encoder import OnnxCrossEncoder

    spec = settings.reranker.spec
    if settings.offline or spec in (registry.LATE, registry.NONE) or "://" in spec:
        return
    try:
        reranker = registry.load_reranker(settings.reranker)
        if not is_ready(reranker) and isinstance(reranker, OnnxCrossEncoder):
            _announce(reranker.name)
            reranker.load()
    except (NotFound, Unavailable) as error:
        warn([str(error)])


def fetch_multilingual(settings: Settings) -> None:
    """Download the model for other languages, where the embedder needs one; print the reason if it fails."""
    if settings.offline or settings.multilingual == registry.NONE:
        return
    try:
        if not getattr(registry.load_embedder(settings.embedder_access), "languages", ()):
            return
        further = registry.load_embedder(settings.multilingual)
        if isinstance(further, Downloaded) and not is_ready(further):
            _announce(further.name)
            further.fetch()
    except (InvalidInput, NotFound, Unavailable) as error:
        warn([f"multilingual: {error}"])


def embedding_progress() -> ProgressBar:
    """Return the progress of embedding: with rate and time left, and with lines off a terminal."""
    return ProgressBar("embedding", unit="passages")


def embed_pending(store: Store, settings: Settings, *, further: bool = False) -> int:
    """Embed the queue, link, update replicas; return how many chunks are left; print why.
    With `further`, also make the vectors for other languages, and the index of the model that the store
    changes to."""
    pending = store.pending(wait=False)
    if not pending and not further:
        return 0
    try:
        why = fetch_model(settings, store) if pending else None
        if why is None:
            with embedding_progress() as bar:
                if not store.pending(wait=True, progress=bar, further=further):
                    return 0
    except KeyboardInterrupt:  # the caller prints its text
        raise KeyboardInterrupt(f"{_PENDING}; {_how_to_embed(settings, store)}") from None
    state = store.status()
    left = state.pending + state.failed
    if left:
        why = why or "; ".join(state.failures) or state.why_pending or "the model does not answer"
        err(f"scrubjay: {_PENDING}: {one_line(why)}")
        err(f"scrubjay: {_how_to_embed(settings, store)}")
    warn(waiting(state, settings.db_given))
    return left


def make_vectors(
    store: Store, settings: Settings, *, later: bool, further: bool = False
) -> int | None:
    if not later:
        return embed_pending(store, settings, further=further)
    err(f"scrubjay: {_PENDING}; {_how_to_embed(settings, store)}")
    return None

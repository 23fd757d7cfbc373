"""The embedder of a store: given by the opener, chosen by the store itself, or named by the settings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.config import EmbedderAccess, embedder_access, load
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.model_files import is_path
from scrubjay.models.registry import (
    DEFAULT,
    DEFAULT_INDEXES,
    default_embedder,
    is_remote,
    load_embedder,
)
from scrubjay.models.shared import ModelLoader
from scrubjay.storage.model_switch import SqlModelSwitch, StoredModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models import Embedder
    from scrubjay.models.shared import SharedModels

# Settings that are stored with a chosen model, and apply wherever the store is opened.
_STORED = ("query_prompt", "text_prompt", "pooling", "window", "dims")
_SENTENCE = "A scrub jay remembers where it hid each acorn."


class LoadedModel(NamedTuple):
    """An embedder, and what loads it in the background, if that is shared with other stores."""

    embedder: GuardedEmbedder
    loader: ModelLoader[Embedder] | None = None


class AbsentEmbedder:
    """A model that the store has chosen and that this installation does not know."""

    def __init__(self, model: StoredModel, why_not: str) -> None:
        self.name, self.dims, self.why_not = model.name, model.dims, why_not

    def is_here(self) -> bool:
        return False

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        raise Unavailable(self.why_not)


def model_in_use(switch: SqlModelSwitch) -> str:
    """Return the embedder of a store that has chosen none, where no setting names one: the one whose
    index it has, so that nothing is embedded again without being asked for; else the default."""
    index = switch.oldest_index(tuple(DEFAULT_INDEXES))
    return DEFAULT_INDEXES[index] if index is not None else default_embedder()


def find_embedder(
    given: Embedder | str | bool | None,
    own: StoredModel | None,
    models: SharedModels | None,
    default: Callable[[], str] = default_embedder,
) -> LoadedModel | None:
    """Return the embedder of a store: the given one, else the store's own, else that of the settings,
    else the default; None for False."""
    if given is False:
        return None
    if given is None or given is True:
        if own is not None:
            return load_stored(own, models)
        given = load().embedder
    if isinstance(given, str) and given == DEFAULT:
        given = default()
    try:
        if not isinstance(given, str):
            return LoadedModel(GuardedEmbedder(given))
        if models is None:
            return LoadedModel(GuardedEmbedder(load_embedder(given)))
        loader = models.embedder(given)
        return LoadedModel(GuardedEmbedder(loader.model), loader)
    except NotFound as unknown:  # a setting or an argument is wrong; no memory is missing
        raise InvalidInput(str(unknown)) from unknown


def load_stored(model: StoredModel, models: SharedModels | None) -> LoadedModel:
    """Return the embedder that a store has chosen; one that cannot be found here never answers."""
    try:
        access = access_of(model.spec)
        loader = None if models is None else models.embedder(access)
        inner = load_embedder(access) if loader is None else loader.model
        if inner.name == model.name:
            return LoadedModel(GuardedEmbedder(inner), loader)
        why_not = f"its name here is {inner.name}: other settings change its vectors"
    except (InvalidInput, NotFound, Unavailable) as error:
        why_not = str(error)
    why_not = f"{model.name}, which this store uses, cannot be loaded: {why_not}"
    return LoadedModel(GuardedEmbedder(AbsentEmbedder(model, why_not)))


def checked_model(name: str) -> tuple[StoredModel, LoadedModel]:
    """Load a model and embed one sentence with it; raise an error that says what is wrong with it."""
    if not name.strip():
        raise InvalidInput(f"the model is {name!r}; give its name, folder or URL")
    access = _portable(embedder_access(default_embedder() if name == DEFAULT else name))
    try:
        embedder = GuardedEmbedder(load_embedder(access))
    except NotFound as unknown:
        raise InvalidInput(str(unknown)) from unknown
    vectors, _ = embedder.encode([_SENTENCE])
    if not vectors.any() or not embedder.embed([_SENTENCE], as_query=True).any():
        raise Unavailable(f"{embedder.name} gave a vector of zeros for a plain sentence")
    stored = StoredModel(embedder.name, spec_of(access), embedder.dims, embedder.token_dims)
    return stored, LoadedModel(embedder)


def spec_of(access: EmbedderAccess) -> str:
    """Return how a model is loaded, as it is stored: without API keys."""
    kept = {name: getattr(access, name) for name in _STORED}
    said = {name: value for name, value in kept.items() if value not in (None, "", 0)}
    return json.dumps({"model": access.spec, **said}, ensure_ascii=False)


def access_of(spec: str) -> EmbedderAccess:
    """Return the access to a stored model, with the API key and the time limit of the settings."""
    try:
        stored = json.loads(spec)
        access = embedder_access(str(stored["model"]))
        fields = {name: stored.get(name, EmbedderAccess._field_defaults[name]) for name in _STORED}
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"what the store says about its model is damaged: {error}") from error
    if access.query_prompt is not None:  # no stored vector depends on it
        fields["query_prompt"] = access.query_prompt
    return access._replace(**fields)


def _portable(access: EmbedderAccess) -> EmbedderAccess:
    """Return the access as every process can use it: a whole path, and no password."""
    if is_remote(access.spec):
        if access.shown != access.spec:
            raise InvalidInput(
                f"{access.shown} has credentials in its URL, which would be stored; give the key in"
                " SCRUBJAY_EMBEDDER_API_KEY"
            )
        return access
    if is_path(access.spec):
        return access._replace(spec=os.path.abspath(os.path.expanduser(access.spec)))
    return access

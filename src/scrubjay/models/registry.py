"""From a model's name to the model: ours, and those that installed packages bring along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import NotFound, Unavailable
from scrubjay.models.pull import MINILM, ModelCard, folder, is_cached

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from scrubjay.models import Embedder
    from scrubjay.progress import Progress

GROUP = "scrubjay.embedders"
DEFAULT = MINILM.name
CARDS = {MINILM.name: MINILM}


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model we can fetch, and whether it is here already."""

    card: ModelCard
    cached: bool
    path: Path


def known_models() -> list[ModelState]:
    """Return the models that scrubjay itself can fetch; cheap, reads no file."""
    return [ModelState(card, is_cached(card), folder(card)) for card in CARDS.values()]


def load_embedder(name: str = DEFAULT, *, progress: Progress | None = None) -> Embedder:
    """Return the embedder of that name; weights are fetched when the first text comes.

    A plug-in is an entry point of the group `scrubjay.embedders` that names a callable without
    arguments. `name` may carry the precision, as the embedder's own name does.
    """
    from scrubjay.models.local import OnnxEmbedder

    for card in CARDS.values():
        embedder = OnnxEmbedder(card, progress=progress)
        if name in (card.name, embedder.name):
            return embedder
    plugins = _plugins()
    if name not in plugins:
        known = ", ".join([*CARDS, *sorted(plugins)])
        raise NotFound(f"There is no model named {name!r}; known are: {known}")
    return _from_plugin(plugins[name])


def _plugins() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _from_plugin(point: EntryPoint) -> Embedder:
    try:
        make = point.load()
    except (ImportError, AttributeError) as error:
        raise Unavailable(
            f"The model {point.name} ({point.value}) cannot load: {error}"
        ) from error
    embedder: Embedder = make()
    return embedder


def is_ready(embedder: Embedder) -> bool:
    """Say whether an embedder can answer without fetching anything first."""
    card = getattr(embedder, "card", None)
    return card is None or is_cached(card)

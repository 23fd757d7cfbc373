"""Models by name: those of scrubjay, and plug-ins of installed packages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.config import (
    DEFAULT_EMBEDDER,
    TIMEOUT_S,
    Access,
    EmbedderAccess,
    embedder_access,
    offline,
)
from scrubjay.errors import NotFound, Unavailable
from scrubjay.models.bundled import (
    ENCODER,
    RANKER,
    RANKER_WINDOW,
    READER,
    BundledCard,
    find_bundled,
    not_installed,
)
from scrubjay.models.download.pull import MINILM, USE_MULTILINGUAL, ModelCard, folder, is_cached

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from scrubjay.models import Embedder, Generator, NoteReader, Reranker
    from scrubjay.runtime.progress import Progress

GROUP = "scrubjay.embedders"
RERANKERS = "scrubjay.rerankers"
GENERATORS = "scrubjay.generators"
LATE = "late"
CORPUS = "corpus"
NONE = "none"
STATIC = "potion-base-8M"  # the table in the package, alone
DEFAULT = DEFAULT_EMBEDDER
CARDS = {MINILM.name: MINILM}
# Indexes of the models that were, or are, used without a setting, and how these are named there.
DEFAULT_INDEXES = {ENCODER.index: ENCODER.name, f"{MINILM.name}/fp32": MINILM.name}
# What a name without its owner most likely means.
_WELL_KNOWN = (
    *("BAAI/bge-m3", "BAAI/bge-small-en-v1.5", "BAAI/bge-base-en-v1.5"),
    *("intfloat/multilingual-e5-small", "intfloat/multilingual-e5-base", "intfloat/e5-small-v2"),
    *("nomic-ai/nomic-embed-text-v1.5", "mixedbread-ai/mxbai-embed-large-v1"),
    *("sentence-transformers/all-mpnet-base-v2", "thenlper/gte-small"),
)
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class ModelState:
    """An embedder that scrubjay can download or that a package brings, and whether it is here already."""

    card: ModelCard | BundledCard
    cached: bool
    path: Path
    size: int
    """Bytes of its files; 0 for those of a package that is not installed."""


def known_models() -> list[ModelState]:
    cards = (*CARDS.values(), USE_MULTILINGUAL)
    files = find_bundled(ENCODER.name)
    bundled = ModelState(ENCODER, False, Path(), 0)
    if files is not None:
        bundled = ModelState(ENCODER, True, files.graph.parent, files.size)
    return [
        bundled,
        *(ModelState(card, is_cached(card), folder(card), card.size) for card in cards),
    ]


def default_embedder() -> str:
    """Return the embedder of a new store for which no setting names one: all-MiniLM-L6-v2, which ranks
    better, or the bundled encoder where that is not on the machine and must not be fetched."""
    if offline() and not is_cached(MINILM) and find_bundled(ENCODER.name) is not None:
        return ENCODER.name
    return MINILM.name


def why_not_here(name: str, fetch: str, detail: str = "") -> str:
    """Return why a model that was not downloaded cannot answer, and the command that downloads it."""
    fetch = f"; fetch it with: {fetch}" if fetch else ""
    if offline():
        return f"{name} is not here, and SCRUBJAY_OFFLINE forbids fetching it{fetch}"
    return f"{name} is not on this machine yet{f' ({detail})' if detail else ''}{fetch}"


def load_embedder(
    name: str | EmbedderAccess = DEFAULT, *, progress: Progress | None = None
) -> Embedder:
    """Return the embedder of a name: one of ours, `auto`, a model of the hub (`owner/name[@revision]`),
    a folder, a URL with the model's name, `gemini#model`, or a plug-in. Nothing is downloaded or asked yet.
    A plug-in is an entry point of the group `scrubjay.embedders` that names a callable without
    arguments. `name` may include the precision, as the embedder's own name does."""
    from scrubjay.models.model_files import is_path

    access = name if isinstance(name, EmbedderAccess) else embedder_access(name)
    spec = default_embedder() if access.spec == DEFAULT else access.spec
    if spec in (STATIC, f"{STATIC}/int8"):
        return load_static_embedder()
    if spec in (USE_MULTILINGUAL.name, f"{USE_MULTILINGUAL.name}/int8"):
        from scrubjay.models.embed.multilingual import MultilingualEmbedder

        multilingual = MultilingualEmbedder(progress=progress)
        multilingual.share_as("embedder", spec=USE_MULTILINGUAL.name)
        return multilingual
    if (card := card_of(spec)) is not None:
        from scrubjay.models.embed.local import OnnxEmbedder

        small = OnnxEmbedder(card, progress=progress)
        small.share_as("embedder", spec=card.name)
        return small
    if spec in (ENCODER.name, ENCODER.index):
        from scrubjay.models.embed.local import BundledEmbedder

        bundled = BundledEmbedder(ENCODER, find_bundled(ENCODER.name))
        bundled.share_as("embedder", spec=ENCODER.name)
        return bundled
    if is_remote(spec):
        from scrubjay.models.embed.remote import RemoteEmbedder

        return RemoteEmbedder(access)
    plugins = {} if is_path(spec) else _plugins(GROUP)
    if spec in plugins:
        plugin: Embedder = _make(plugins[spec])
        return plugin
    if is_path(spec) or _HUB_NAME.fullmatch(spec):
        from scrubjay.models.embed.onnx_model import OnnxModelEmbedder

        model = OnnxModelEmbedder(access, progress=progress)
        settings = access._replace(spec=model.address, api_key="", timeout_s=TIMEOUT_S)
        model.share_as("embedder", **settings._asdict())
        return model
    raise NotFound(_no_embedder(access.shown, plugins))


def card_of(name: str) -> ModelCard | None:
    """Return the card of a model that scrubjay brings, with or without its precision in the name."""
    return next(
        (card for card in CARDS.values() if name in (card.name, f"{card.name}/fp32")), None
    )


def is_remote(name: str) -> bool:
    """True for an embedder on a server, by the form of its name."""
    return "://" in name or name.startswith("gemini#")


def _no_embedder(spec: str, plugins: dict[str, EntryPoint]) -> str:
    from scrubjay.text.validation import did_you_mean

    ours = (ENCODER.name, *CARDS)
    known = {name.rpartition("/")[2]: name for name in (*_WELL_KNOWN, *ours, *plugins)}
    found = did_you_mean(spec, known)
    for short, name in known.items():
        found = found.replace(repr(short), repr(name))
    return (
        f"There is no model named {spec!r}{found}; give {', '.join([*ours, *sorted(plugins)])}, a"
        " model of the hub (owner/name or owner/name@revision), a folder with its ONNX export"
        " (./name), a URL with the model's name (http://localhost:11434/v1#bge-m3), or"
        " gemini#gemini-embedding-001"
    )


@cache
def multilingual_embedder(name: str) -> Embedder:
    """Return the embedder for questions and texts in different languages, one for the process."""
    return load_embedder(name)


@cache
def load_static_embedder() -> Embedder:
    """Return the static embedder of the package, one for the process."""
    from scrubjay.models.embed.static import StaticEmbedder

    return StaticEmbedder()


@cache
def load_bundled_reranker() -> Reranker:
    """Return the cross-encoder of scrubjay-models, one for the process; Unavailable without it."""
    from scrubjay.models.rerank.cross_encoder import BundledCrossEncoder

    files = find_bundled(RANKER)
    if files is None:
        raise Unavailable(not_installed(RANKER))
    ranker = BundledCrossEncoder(RANKER, files, RANKER_WINDOW)
    ranker.share_as("reranker", **Access(RANKER)._asdict())
    return ranker


@cache
def load_reader() -> NoteReader:
    """Return the reader of scrubjay-models, one for the process; Unavailable without it."""
    from scrubjay.models.reader import OnnxReader

    files = find_bundled(READER)
    if files is None:
        raise Unavailable(not_installed(READER))
    reader = OnnxReader(files.graph, files.tokenizer)
    reader.share_as("reader")
    return reader


def load_reranker(access: Access, *, progress: Progress | None = None) -> Reranker:
    """Return the reranker of a URL, of scrubjay-models, a plug-in, a folder, or the model hub."""
    from scrubjay.models.model_files import is_path
    from scrubjay.models.rerank.cross_encoder import OnnxCrossEncoder

    spec = access.spec
    if spec == RANKER:
        return load_bundled_reranker()
    if "://" in spec:
        from scrubjay.models.endpoint import endpoint
        from scrubjay.models.rerank.remote import RemoteReranker

        return RemoteReranker(endpoint(*access))
    plugins = _plugins(RERANKERS)
    if spec in plugins:
        plugin: Reranker = _make(plugins[spec])
        return plugin
    if is_path(spec) or _HUB_NAME.fullmatch(spec):
        encoder = OnnxCrossEncoder(spec, progress=progress)
        encoder.share_as("reranker", **Access(encoder.address)._asdict())
        return encoder
    raise NotFound(
        f"There is no reranker {spec!r}; give {LATE}, {NONE}, {RANKER}, a model of the hub (owner/name), a"
        f" folder with model.onnx (./name), a URL such as http://localhost:8012/rerank#model{_or_one_of(plugins)}"
    )


def load_generator(access: Access) -> Generator:
    if "://" in access.spec:
        from scrubjay.models.endpoint import endpoint
        from scrubjay.models.generate.remote import RemoteGenerator

        return RemoteGenerator(endpoint(*access._replace(dialect="")))
    plugins = _plugins(GENERATORS)
    if access.spec in plugins:
        plugin: Generator = _make(plugins[access.spec])
        return plugin
    raise NotFound(
        f"There is no generator {access.spec!r}; give {NONE}, {CORPUS} (words of the texts found"
        " first), or a URL with the model's name, such as"
        f" http://localhost:11434/v1#qwen3:1.7b{_or_one_of(plugins)}"
    )


def _or_one_of(plugins: dict[str, EntryPoint]) -> str:
    return f", or one of {', '.join(sorted(plugins))}" if plugins else ""


def _plugins(group: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=group)}


def _make(point: EntryPoint) -> Any:
    try:
        return point.load()()
    except Unavailable:
        raise
    except Exception as error:  # foreign code may raise anything
        raise Unavailable(
            f"The model {point.name} ({point.value}) cannot load: {error}"
        ) from error

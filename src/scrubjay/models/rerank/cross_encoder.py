"""Local reranker: any cross-encoder with an ONNX export, by its name at the hub or its folder."""

from __future__ import annotations

import itertools
import json
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.download.hub import WantedFile, fetch_repo, parse_repo, repo_is_here
from scrubjay.models.onnx_session import default_threads, required_packages
from scrubjay.runtime.progress import Progress

if TYPE_CHECKING:
    from scrubjay.models.rerank.pairs import PairGraph, PairTokenizer

log = logging.getLogger(__name__)

# Full precision first; of several exports always the same one is taken.
GRAPH = WantedFile(
    "ONNX export of the model",
    (
        "model.onnx",
        "onnx/model.onnx",
        "onnx/model_quantized.onnx",
        "onnx/model_int8.onnx",
        "onnx/model_uint8.onnx",
        "onnx/model_fp16.onnx",
        "model_quantized.onnx",
        "model_int8.onnx",
    ),
    beside=("_data", ".data"),
)
WANTED = (
    GRAPH,
    WantedFile("tokenizer", ("tokenizer.json",)),
    WantedFile("configuration", ("config.json",), optional=True),
    WantedFile("configuration of the tokenizer", ("tokenizer_config.json",), optional=True),
)
_MAX_TOKENS = 512
_MAX_WINDOWS = 8
# Kinds of model that count positions from the number of the padding token plus one.
_OFFSET_TYPES = frozenset(
    "camembert data2vec-text longformer mpnet roberta roberta-prelayernorm"
    " xlm-roberta xlm-roberta-xl xmod".split()
)
_RELEVANT = frozenset({"relevant", "positive", "yes", "true", "match"})


class RerankerConfig(NamedTuple):
    """What scoring needs to know of a model."""

    window: int
    """Tokens it reads at once, special ones included."""
    pad_id: int
    relevant: int
    """Which of two labels means that a text answers the query."""


class _Parts(NamedTuple):
    """A loaded model."""

    chosen: str
    graph: PairGraph
    tokenizer: PairTokenizer


class OnnxCrossEncoder:
    """A cross-encoder on onnxruntime: how well each text answers the query, in 0..1.

    `source` is a repository of the model hub (`owner/name`, `owner/name@revision`) or a folder: a
    `Path`, or a string such as `./models/mine` that cannot be a repository. Creating one costs
    nothing: it is downloaded and loaded at first use. It may be shared between threads.

    The graph's output is read as logits, also where a configuration names an activation: that is what
    its library applies afterwards, and an export ends before it. Of a text longer than the window the
    best window counts; of a very long one `most_windows` are read, evenly spread.
    """

    def __init__(
        self,
        source: str | Path,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        most_tokens: int = _MAX_TOKENS,
        most_windows: int = _MAX_WINDOWS,
    ) -> None:
        if most_tokens < 1 or most_windows < 1:
            raise InvalidInput("most_tokens and most_windows must be at least 1")
        self._folder = _folder_of(source)
        self._repo = str(source)
        self.name = self._repo if self._folder is None else self._folder.name
        self.key = self._repo if self._folder is None else str(self._folder)
        self._threads = threads or default_threads()
        self._progress = progress
        self._most_tokens = most_tokens
        self._most_windows = most_windows
        self._loading = threading.Lock()
        self._loaded: _Parts | None = None

    @property
    def graph(self) -> str:
        """The export that was chosen, such as `onnx/model.onnx`; empty before the model is loaded."""
        return "" if self._loaded is None else self._loaded.chosen

    def is_here(self) -> bool:
        """True when the model can answer without downloading anything first; reads no large file."""
        if self._loaded is not None:
            return True
        if self._folder is None:
            return repo_is_here(self._repo, WANTED)
        return not _missing(self._folder)

    def fetch(self) -> None:
        """Download what is missing without loading it; raises Unavailable if it cannot."""
        self._files()

    def load(self) -> None:
        """Download and load the model now rather than later; raises Unavailable if it cannot."""
        self._parts()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score in 0..1 a text, in the order of the texts.
        The score of a text does not depend on the texts beside it."""
        import numpy as np

        if not texts:
            return []
        parts = self._parts()
        try:
            pairs = parts.tokenizer.pairs(query, texts)
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"the tokenizer of {self.name} failed: {error}") from error
        starts = [0, *itertools.accumulate(len(windows) for windows in pairs)]
        scores = parts.graph.scores([pair for windows in pairs for pair in windows])
        best: list[float] = np.maximum.reduceat(scores, starts[:-1]).tolist()
        return best

    def _parts(self) -> _Parts:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._open(self._files())
        return self._loaded

    def _files(self) -> Path:
        if self._folder is None:
            return fetch_repo(self._repo, WANTED, progress=self._progress)
        if missing := _missing(self._folder):
            raise Unavailable(f"{self._folder} has no {' and no '.join(map(str, missing))}")
        return self._folder

    def _open(self, folder: Path) -> _Parts:
        from scrubjay.models.rerank.pairs import PairGraph, PairTokenizer

        chosen = next(name for name in GRAPH.names if (folder / name).is_file())
        config = read_config(folder, self._most_tokens)
        graph = PairGraph(self.name, folder / chosen, config, threads=self._threads)
        path = folder / "tokenizer.json"
        try:
            with required_packages(self.name):
                tokenizer = PairTokenizer(path, config.window, self._most_windows)
        except Unavailable:
            raise
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"The tokenizer {path} cannot be read: {error}") from error
        log.info("%s is read from %s", self.name, folder / chosen)
        return _Parts(chosen, graph, tokenizer)


def is_path(source: str) -> bool:
    """Tell a path from `owner/name`, whatever folders exist in the working directory."""
    return source.startswith((".", "~", "/")) or "\\" in source or ":" in source


def _folder_of(source: str | Path) -> Path | None:
    if isinstance(source, str) and not is_path(source):
        try:
            parse_repo(source)
        except InvalidInput as error:
            raise InvalidInput(f"{error}; write a folder as ./name") from None
        return None
    return Path(os.path.abspath(os.path.expanduser(source)))


def _missing(folder: Path) -> list[WantedFile]:
    return [
        want
        for want in WANTED
        if not want.optional and not any((folder / name).is_file() for name in want.names)
    ]


def read_config(folder: Path, max_tokens: int) -> RerankerConfig:
    """Read `config.json` and `tokenizer_config.json`, either of which may be missing."""
    model = _json(folder / "config.json")
    tokenizer = _json(folder / "tokenizer_config.json")
    pad_id = _count(model.get("pad_token_id"))
    positions = _count(model.get("max_position_embeddings"))
    if positions is not None and model.get("model_type") in _OFFSET_TYPES:
        positions -= 1 + (1 if pad_id is None else pad_id)
    limits = (positions, _count(tokenizer.get("model_max_length")))
    window = min([max_tokens, *(limit for limit in limits if limit is not None)])
    return RerankerConfig(window, pad_id or 0, _relevant(model.get("id2label")))


def _relevant(id2label: object) -> int:
    """Return the label whose name means relevant; without such a name 1, as is the custom."""
    names: Mapping[str, Any] = id2label if isinstance(id2label, dict) else {}
    named = [at for at in (0, 1) if str(names.get(str(at), "")).strip().lower() in _RELEVANT]
    return named[0] if len(named) == 1 else 1


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error
    return content if isinstance(content, dict) else {}

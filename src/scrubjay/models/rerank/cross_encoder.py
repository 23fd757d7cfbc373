"""Local reranker: any cross-encoder with an ONNX export, by its name at the hub or its folder."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.bundled import BundledModel
from scrubjay.models.model_files import (
    ModelFiles,
    chosen_graph,
    read_pad_id,
    read_table,
    read_window,
)
from scrubjay.models.onnx_session import default_threads, required_packages
from scrubjay.models.process.shareable import Shareable
from scrubjay.runtime.progress import Progress

if TYPE_CHECKING:
    from scrubjay.models.rerank.pairs import PairGraph, PairTokenizer

log = logging.getLogger(__name__)

_MAX_TOKENS = 512
_MAX_WINDOWS = 8
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


class OnnxCrossEncoder(Shareable):
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
        self._files = ModelFiles(source, progress=progress)
        folder = self._files.folder
        self.name = str(source) if folder is None else folder.name
        self.key = str(source) if folder is None else str(folder)
        self._threads = threads or default_threads()
        self._most_tokens = most_tokens
        self._most_windows = most_windows
        self._loading = threading.Lock()
        self._loaded: _Parts | None = None

    @property
    def address(self) -> str:
        """The repository or the folder, the same from any working directory."""
        return self._files.address

    @property
    def graph(self) -> str:
        """The export that was chosen, such as `onnx/model.onnx`; empty before the model is loaded."""
        return "" if self._loaded is None else self._loaded.chosen

    def is_here(self) -> bool:
        """True when the model can answer without downloading anything first; reads no large file."""
        return self._loaded is not None or self._files.are_here()

    def fetch(self) -> None:
        """Download what is missing without loading it; raises Unavailable if it cannot."""
        self._files.get()

    def load(self) -> None:
        """Download and load the model now rather than later; raises Unavailable if it cannot."""
        if not self.load_elsewhere():
            self._parts()

    def model_files(self) -> list[Path]:
        return self._files.paths()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score in 0..1 a text, in the order of the texts.
        The score of a text does not depend on the texts beside it."""
        import numpy as np

        if not texts:
            return []
        reply = self.answer("score", query=query, texts=list(texts))
        if reply is not None:
            return [float(score) for score in reply.result]
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
                    self._loaded = self._load_parts()
        return self._loaded

    def _load_parts(self) -> _Parts:
        return self._open(self._files.get())

    def _open(self, folder: Path) -> _Parts:
        chosen = chosen_graph(folder)
        config = read_config(folder, self._most_tokens)
        return self._read(chosen, folder / chosen, folder / "tokenizer.json", config)

    def _read(self, chosen: str, graph: Path, path: Path, config: RerankerConfig) -> _Parts:
        from scrubjay.models.rerank.pairs import PairGraph, PairTokenizer

        pairs = PairGraph(self.name, graph, config, threads=self._threads)
        try:
            with required_packages(self.name):
                tokenizer = PairTokenizer(path, config.window, self._most_windows)
        except Unavailable:
            raise
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"The tokenizer {path} cannot be read: {error}") from error
        log.info("%s is read from %s", self.name, graph)
        return _Parts(chosen, pairs, tokenizer)


class BundledCrossEncoder(OnnxCrossEncoder):
    """The cross-encoder of an installed package, which reads English."""

    languages = ("en",)

    def __init__(
        self, name: str, files: BundledModel, window: int, *, threads: int | None = None
    ) -> None:
        super().__init__(files.graph.parent, threads=threads, most_tokens=window)
        self.name = self.key = name
        self.files = files

    def is_here(self) -> bool:
        return True

    def fetch(self) -> None:
        """Nothing is downloaded: the files came with the package."""

    def model_files(self) -> list[Path]:
        return [self.files.graph, self.files.tokenizer]

    def _load_parts(self) -> _Parts:
        graph, config = self.files.graph, RerankerConfig(self._most_tokens, pad_id=0, relevant=1)
        return self._read(graph.name, graph, self.files.tokenizer, config)


def read_config(folder: Path, max_tokens: int) -> RerankerConfig:
    """Read `config.json` and `tokenizer_config.json`, either of which may be missing."""
    model = read_table(folder / "config.json")
    tokenizer = read_table(folder / "tokenizer_config.json")
    window = read_window(model, tokenizer, [max_tokens])
    return RerankerConfig(window, read_pad_id(model) or 0, _relevant(model.get("id2label")))


def _relevant(id2label: object) -> int:
    """Return the label whose name means relevant; without such a name 1, as is the custom."""
    names: Mapping[str, Any] = id2label if isinstance(id2label, dict) else {}
    named = [at for at in (0, 1) if str(names.get(str(at), "")).strip().lower() in _RELEVANT]
    return named[0] if len(named) == 1 else 1

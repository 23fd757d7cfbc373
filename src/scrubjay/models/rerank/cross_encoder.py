"""Reranking on this machine: any cross-encoder with an ONNX export, by its name or its folder."""

from __future__ import annotations

import itertools
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.download.hub import WantedFile, fetch_repo, parse_repo, repo_is_here
from scrubjay.models.onnx_session import packages_of, sensible_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrubjay.models.rerank.pair_graph import PairGraph
    from scrubjay.models.rerank.pairs import PairTokenizer
    from scrubjay.runtime.progress import Progress

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
_MOST_TOKENS = 512
_MOST_WINDOWS = 8


@dataclass(frozen=True, slots=True)
class _Parts:
    """A model that is loaded."""

    chosen: str
    graph: PairGraph
    pairs: PairTokenizer


class OnnxCrossEncoder:
    """A cross-encoder on onnxruntime: how well each text answers the query, in 0..1.

    `source` is a repository of the model hub (`owner/name`, `owner/name@revision`) or a folder: a
    `Path`, or a string such as `./models/mine` that cannot be a repository. Making one costs
    nothing: it is fetched and loaded at first use. It may be shared between threads.

    The graph's output is read as logits, also where a configuration names an activation: that one
    is what its library applies afterwards, and an export ends before it. Of a text longer than the
    window the best window counts; of a very long one `most_windows` are read, evenly spread.
    """

    def __init__(
        self,
        source: str | Path,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        most_tokens: int = _MOST_TOKENS,
        most_windows: int = _MOST_WINDOWS,
    ) -> None:
        if most_tokens < 1 or most_windows < 1:
            raise InvalidInput("most_tokens and most_windows are counts; they start at 1")
        self._folder = _folder_of(source)
        self._repo = str(source)
        self.name = self._repo if self._folder is None else self._folder.name
        self.key = self._repo if self._folder is None else str(self._folder)
        self._threads = threads or sensible_threads()
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
        """Say whether the model can answer without fetching anything first; reads no large file."""
        if self._loaded is not None:
            return True
        if self._folder is None:
            return repo_is_here(self._repo, WANTED)
        return not _lacking(self._folder)

    def fetch(self) -> None:
        """Fetch what is missing of the model, and load nothing; raises `Unavailable` if it cannot."""
        self._files()

    def load(self) -> None:
        """Fetch and load the model now rather than later; raises `Unavailable` if it cannot."""
        self._parts()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score in 0..1 a text, in the order of the texts.

        The score of a text does not depend on the texts beside it.
        """
        import numpy as np

        if not texts:
            return []
        parts = self._parts()
        try:
            windows = parts.pairs.pairs(query, texts)
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"the tokenizer of {self.name} failed: {error}") from error
        starts = [0, *itertools.accumulate(len(one) for one in windows)]
        scores = parts.graph.scores([pair for one in windows for pair in one])
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
        if lacking := _lacking(self._folder):
            raise Unavailable(f"{self._folder} has no {' and no '.join(map(str, lacking))}")
        return self._folder

    def _open(self, folder: Path) -> _Parts:
        from scrubjay.models.rerank.config import read_config
        from scrubjay.models.rerank.pair_graph import PairGraph
        from scrubjay.models.rerank.pairs import PairTokenizer

        chosen = next(name for name in GRAPH.names if (folder / name).is_file())
        config = read_config(folder, self._most_tokens)
        graph = PairGraph(self.name, folder / chosen, config, threads=self._threads)
        path = folder / "tokenizer.json"
        try:
            with packages_of(self.name):
                pairs = PairTokenizer(path, window=config.window, most_windows=self._most_windows)
        except Unavailable:
            raise
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"The tokenizer {path} cannot be read: {error}") from error
        log.info("%s is read from %s", self.name, folder / chosen)
        return _Parts(chosen, graph, pairs)


def _folder_of(source: str | Path) -> Path | None:
    """Return the folder a source names, or None where it is a repository of the hub."""
    if isinstance(source, str) and not is_path(source):
        try:
            parse_repo(source)
        except InvalidInput as error:
            raise InvalidInput(f"{error}; a folder is written ./name") from None
        return None
    return Path(os.path.abspath(os.path.expanduser(source)))


def is_path(source: str) -> bool:
    """Tell a path from `owner/name`: the folder you happen to stand in never changes the meaning."""
    return source.startswith((".", "~", "/")) or "\\" in source or ":" in source


def _lacking(folder: Path) -> list[WantedFile]:
    return [
        want
        for want in WANTED
        if not want.optional and not any((folder / name).is_file() for name in want.names)
    ]

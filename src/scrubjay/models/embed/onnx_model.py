"""Local embedder by name: any model with an ONNX export, from the model hub or from a folder."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.config import EmbedderAccess
from scrubjay.errors import Unavailable
from scrubjay.models.embed.index_name import index_name
from scrubjay.models.embed.model_config import (
    EMBEDDER_FILES,
    EmbedderConfig,
    read_embedder_config,
)
from scrubjay.models.embed.windows import (
    Piece,
    PromptedTokenizer,
    join_windows,
    load_tokenizer,
    unit,
)
from scrubjay.models.model_files import ModelFiles, chosen_graph
from scrubjay.models.onnx_session import batches, default_threads, required_packages
from scrubjay.models.process.shareable import Shareable
from scrubjay.runtime.progress import Progress

if TYPE_CHECKING:
    from scrubjay.models import Matrix
    from scrubjay.models.embed.graph import EmbedderGraph

log = logging.getLogger(__name__)

_BATCH_TOKENS = 1024


class _Parts(NamedTuple):
    """A loaded model."""

    config: EmbedderConfig
    graph: EmbedderGraph
    queries: PromptedTokenizer
    texts: PromptedTokenizer


class OnnxModelEmbedder(Shareable):
    """An embedder on onnxruntime by `owner/name[@revision]` or by its folder.
    Creating one costs nothing: it is downloaded and loaded at the first text, and `dims` is 0 until
    then. It may be shared between threads. A text longer than the window is read in windows, and its
    vector is their average by number of tokens."""

    texts_at_once = 16  # a slow machine should be stoppable within seconds

    def __init__(
        self,
        access: EmbedderAccess,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.access = access
        self._files = ModelFiles(access.spec, EMBEDDER_FILES, progress=progress)
        folder = self._files.folder
        self.name = index_name(access.spec if folder is None else _folder_name(folder), access)
        self.dims = 0
        self.token_dims = 0
        self.matryoshka: tuple[int, ...] = ()
        self._threads = threads or default_threads()
        self._loading = threading.Lock()
        self._loaded: _Parts | None = None

    def is_here(self) -> bool:
        """True when nothing has to be downloaded; a folder without a file fails at the first text."""
        is_folder = self._files.folder is not None
        return is_folder or self._loaded is not None or self._files.are_here()

    def fetch(self) -> None:
        """Download what is missing without loading it; raises Unavailable if it cannot."""
        self._files.get()

    def load(self) -> None:
        """Download and load the model now rather than later; raises Unavailable if it cannot."""
        if not self.load_elsewhere():
            self._parts()

    def model_files(self) -> list[Path]:
        return self._files.paths()

    def about(self) -> dict[str, Any]:
        sizes = {"dims": self.dims, "token_dims": self.token_dims}
        return {**super().about(), **sizes, "matryoshka": list(self.matryoshka)}

    def learn(self, about: Mapping[str, Any]) -> None:
        self.dims, self.token_dims = int(about["dims"]), int(about["token_dims"])
        self.matryoshka = tuple(about["matryoshka"])

    @property
    def address(self) -> str:
        """The repository or the folder, the same from any working directory."""
        return self._files.address

    @property
    def config(self) -> EmbedderConfig:
        """What the model's files and the settings say; it loads the model."""
        return self._parts().config

    @property
    def device(self) -> str:
        """The device it runs on; empty before it is loaded."""
        if self._loaded is None:
            return str((self._elsewhere or {}).get("device", ""))
        return self._loaded.graph.device

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one unit vector a text."""
        return self._encode(texts, as_query, keep_tokens=False)[0]

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[Matrix]:
        """Return the unit vectors of each text's tokens, without special tokens and the prompt."""
        return self.embed_with_tokens(texts, as_query=as_query)[1]

    def embed_with_tokens(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[Matrix, list[Matrix]]:
        """Return what `embed` and `tokens` return, from one forward pass."""
        self.load()
        if not self.token_dims:
            raise Unavailable(f"the graph of {self.name} gives no token vectors")
        return self._encode(texts, as_query, keep_tokens=True)

    def count_tokens(self, text: str) -> int:
        return self._parts().texts.count(text)

    def _parts(self) -> _Parts:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._open(self._files.get())
        return self._loaded

    def _open(self, folder: Path) -> _Parts:
        from scrubjay.models.embed.graph import EmbedderGraph

        chosen = chosen_graph(folder)
        config = read_embedder_config(folder, self.access)
        path = folder / "tokenizer.json"
        try:
            with required_packages(self.name):
                queries, texts = (
                    PromptedTokenizer(load_tokenizer(path), config.window, prompt)
                    for prompt in (config.query_prompt, config.text_prompt)
                )
        except Unavailable:
            raise
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"The tokenizer {path} cannot be read: {error}") from error
        graph = EmbedderGraph(
            self.name,
            folder / chosen,
            config,
            pools_itself=bool(self.access.pooling),
            threads=self._threads,
        )
        (probe,) = graph.run([texts.prompted("a")[0]])
        full, wanted = len(probe.vector), self.access.dims
        if wanted > full:
            raise Unavailable(
                f"embedder_dims is {wanted}, but the vectors of {self.access.spec} have {full}"
            )
        self.matryoshka = tuple(size for size in config.matryoshka if size <= (wanted or full))
        self.dims = wanted or full
        # Late interaction compares token vectors in the width of the text's vector.
        has_tokens = probe.rows is not None and probe.rows.shape[1] == self.dims
        self.token_dims = self.dims if has_tokens and "lasttoken" not in config.pooling else 0
        log.info("%s is read from %s, on the device %s", self.name, folder / chosen, graph.device)
        return _Parts(config, graph, queries, texts)

    def _encode(
        self, texts: Sequence[str], as_query: bool, *, keep_tokens: bool
    ) -> tuple[Matrix, list[Matrix]]:
        import numpy as np

        if self._loaded is None:
            answer = self.encoded(texts, as_query=as_query, keep_tokens=keep_tokens)
            if answer is not None:
                return answer
        parts = self._parts()
        tokenizer = parts.queries if as_query else parts.texts
        pieces: list[Piece] = []
        owners: list[int] = []
        try:
            for number, text in enumerate(texts):
                pieces += tokenizer.prompted(text)
                owners += [number] * (len(pieces) - len(owners))
        except Exception as error:  # tokenizers raises nothing narrower
            raise Unavailable(f"the tokenizer of {self.name} failed: {error}") from error
        pooled = np.zeros((len(pieces), self.dims), np.float32)
        tokens = [pooled[:0]] * len(pieces)
        for index, vector, rows in _forward(parts, pieces):
            pooled[index] = unit(vector[: self.dims]) * len(pieces[index].ids)
            if keep_tokens and rows is not None:
                tokens[index] = unit(rows[pieces[index].start : pieces[index].stop])
        return join_windows(pooled, tokens, owners, len(texts))


def _forward(
    parts: _Parts, pieces: Sequence[Piece]
) -> Iterator[tuple[int, Matrix, Matrix | None]]:
    """Run the model over pieces of similar length together; yield each with what it gave."""
    lengths = [len(piece.ids) for piece in pieces]
    for batch in batches(lengths, 0 if parts.graph.runs_alone else _BATCH_TOKENS):
        given = parts.graph.run([pieces[index] for index in batch])
        for index, (vector, rows) in zip(batch, given, strict=True):
            yield index, vector, rows


def _folder_name(folder: Path) -> str:
    """Return the name of a model in a folder: the folder's own name, and a short hash of its path.
    Two folders of the same name may have different models, and their vectors must not be mixed."""
    home, path = os.path.expanduser("~"), str(folder)
    path = path.replace(home, "~", 1) if path.startswith(home + os.sep) else path
    digest = hashlib.sha256(path.replace("\\", "/").encode("utf-8", "replace")).hexdigest()
    return f"./{folder.name}#{digest[:6]}"

"""Local embedders: all-MiniLM-L6-v2, and the encoder of scrubjay-models, as ONNX graphs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.errors import Unavailable
from scrubjay.models.bundled import BundledCard, BundledModel, not_installed
from scrubjay.models.device import device_of
from scrubjay.models.download.pull import MINILM, ModelCard, card_files, is_cached, pull
from scrubjay.models.embed.windows import (
    Window,
    WindowedTokenizer,
    join_windows,
    load_tokenizer,
    unit,
)
from scrubjay.models.onnx_session import (
    batches,
    default_threads,
    open_session,
    required_packages,
    runtime_errors,
)
from scrubjay.models.process.shareable import Shareable
from scrubjay.runtime.progress import Progress

if TYPE_CHECKING:
    from scrubjay.models import Matrix


class MeanEmbedder(Shareable):
    """A Bert on onnxruntime: the mean of a text's token vectors, scaled to length one.
    Creating one costs nothing: the model is loaded at the first text. It may be shared between
    threads. The vector of a text does not depend on the texts beside it."""

    _batch_tokens = 1024
    texts_at_once = 16  # a slow machine should be stoppable within seconds

    def __init__(self, name: str, card: ModelCard | BundledCard, threads: int | None) -> None:
        self.name = name
        self.languages = card.languages
        self.dims = card.dims
        self.window = card.window
        self.token_dims = card.token_dims or card.dims
        self._threads = threads or default_threads()
        self._loading = threading.Lock()
        self._loaded: tuple[WindowedTokenizer, Any] | None = None

    @property
    def device(self) -> str:
        """The device it runs on; empty before it is loaded."""
        if self._loaded is None:
            return str((self._elsewhere or {}).get("device", ""))
        return device_of(self._loaded[1])

    def load(self) -> None:
        """Load the model now rather than later; raises Unavailable if it cannot."""
        if not self.load_elsewhere():
            self._parts()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one unit vector a text; this model reads questions and answers alike.
        A text longer than the window is read in windows, and its vector is their average by number
        of tokens; `split` returns them."""
        return self._encode(texts, as_query, keep_tokens=False)[0]

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[Matrix]:
        """Return the unit vectors of each text's tokens, without the special ones and padding."""
        return self._encode(texts, as_query, keep_tokens=True)[1]

    def embed_with_tokens(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[Matrix, list[Matrix]]:
        """Return what `embed` and `tokens` return, from one forward pass."""
        return self._encode(texts, as_query, keep_tokens=True)

    @property
    def rotation(self) -> Matrix:
        """The matrix that rotates token vectors so that their first dimensions carry most."""
        import numpy as np

        matrix: Matrix = np.load(Path(__file__).with_name("minilm_rotation.npy"))
        return matrix.astype(np.float32)

    def split(self, text: str) -> list[Window]:
        """Return the windows in which the model reads a text: all of it, in pieces that fit."""
        return self._parts()[0].split(text)

    def fits(self, text: str) -> bool:
        return self.count_tokens(text) <= self._parts()[0].room

    def count_tokens(self, text: str) -> int:
        return self._parts()[0].count(text)

    def _parts(self) -> tuple[WindowedTokenizer, Any]:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._load_parts()
        return self._loaded

    def _load_parts(self) -> tuple[WindowedTokenizer, Any]:
        raise NotImplementedError

    def _tokenizer(self, file: Path) -> WindowedTokenizer:
        with required_packages(self.name):
            return WindowedTokenizer(load_tokenizer(file), self.window)

    def _encode(
        self, texts: Sequence[str], as_query: bool, *, keep_tokens: bool
    ) -> tuple[Matrix, list[Matrix]]:
        import numpy as np

        if self._loaded is None:
            answer = self.encoded(texts, as_query=as_query, keep_tokens=keep_tokens)
            if answer is not None:
                return answer
        pieces: list[list[int]] = []
        owners: list[int] = []
        for number, text in enumerate(texts):
            pieces += self._parts()[0].pieces(text)
            owners += [number] * (len(pieces) - len(owners))
        pooled = np.zeros((len(pieces), self.dims), np.float32)
        tokens = [pooled[:0]] * len(pieces)
        for index, rows in self._forward(pieces):
            pooled[index] = unit(rows.mean(axis=0)) * len(rows)
            if keep_tokens:
                tokens[index] = unit(rows[1:-1])
        return join_windows(pooled, tokens, owners, len(texts))

    def _forward(self, pieces: Sequence[Sequence[int]]) -> Iterator[tuple[int, Matrix]]:
        """Run the model over pieces of similar length together; yield each with its rows, unpadded."""
        import numpy as np

        _, session = self._parts()
        lengths = [len(piece) for piece in pieces]
        for batch in [[0]] if len(lengths) == 1 else batches(lengths, self._batch_tokens):
            longest = max(len(pieces[index]) for index in batch)
            ids = np.zeros((len(batch), longest), np.int64)
            mask = np.zeros((len(batch), longest), np.int32)
            for row, index in enumerate(batch):
                ids[row, : len(pieces[index])] = pieces[index]
                mask[row, : len(pieces[index])] = 1
            try:
                (tokens,) = session.run(None, {"ids": ids, "mask": mask})
            except runtime_errors() as error:
                raise Unavailable(f"onnxruntime failed on {self.name}: {error}") from error
            for row, index in enumerate(batch):
                yield index, tokens[row, : len(pieces[index])]


class OnnxEmbedder(MeanEmbedder):
    """all-MiniLM-L6-v2, which is downloaded before the first text."""

    def __init__(
        self,
        card: ModelCard = MINILM,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        # The precision is part of the name: vectors of different precision are never mixed.
        super().__init__(f"{card.name}/fp32", card, threads)
        self.card = card
        self._progress = progress

    def is_here(self) -> bool:
        return self._loaded is not None or is_cached(self.card)

    def fetch(self) -> None:
        """Download the model without loading it; raises Unavailable if it cannot."""
        pull(self.card, progress=self._progress)

    def model_files(self) -> list[Path]:
        return card_files(self.card)

    def _load_parts(self) -> tuple[WindowedTokenizer, Any]:
        return self._open(pull(self.card, progress=self._progress))

    def _open(self, folder: Path) -> tuple[WindowedTokenizer, Any]:
        tokenizer, graph = self._tokenizer(folder / "tokenizer.json"), self._graph()
        return tokenizer, open_session(self.name, graph, threads=self._threads, weights=folder)

    def _graph(self) -> bytes:
        return Path(__file__).with_name("minilm.onnx").read_bytes()


class BundledEmbedder(MeanEmbedder):
    """The encoder of an installed package; without it, one that never answers and says why.
    Its token vectors are in the space of all-MiniLM-L6-v2, so the same rotation fits them."""

    def __init__(
        self, card: BundledCard, files: BundledModel | None, *, threads: int | None = None
    ) -> None:
        super().__init__(card.index, card, threads)
        self.files = files
        self.why_not = not_installed(card.name) if files is None else ""

    def is_here(self) -> bool:
        return self.files is not None

    def model_files(self) -> list[Path]:
        if self.files is None:
            raise Unavailable(self.why_not)
        return [self.files.graph, self.files.tokenizer]

    def _load_parts(self) -> tuple[WindowedTokenizer, Any]:
        if self.files is None:
            raise Unavailable(self.why_not)
        tokenizer = self._tokenizer(self.files.tokenizer)
        return tokenizer, open_session(self.name, self.files.graph, threads=self._threads)

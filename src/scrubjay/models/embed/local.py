"""Embedding on this machine: one ONNX graph, on the CPU, without a deep-learning framework."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable
from scrubjay.models.download.pull import MINILM, ModelCard, is_cached, pull
from scrubjay.models.onnx_session import (
    batches,
    open_session,
    packages_of,
    runtime_errors,
    sensible_threads,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models.embed.windows import Window, WindowedTokenizer
    from scrubjay.runtime.progress import Progress

    Matrix = NDArray[np.float32]


class OnnxEmbedder:
    """all-MiniLM-L6-v2 on onnxruntime: the mean of a text's token vectors, of length one.

    Making one costs nothing: the model is fetched and loaded when the first text comes. It may be
    shared between threads. The vector of a text does not depend on the texts beside it.
    """

    _batch_tokens = 1024
    texts_at_once = (
        16  # a slow machine should not be busy for many seconds before it can be stopped
    )

    def __init__(
        self,
        card: ModelCard = MINILM,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        # The precision is part of the name: vectors of different precision are never mixed.
        self.name = f"{card.name}/fp32"
        self.languages = card.languages
        self.dims = card.dims
        self.window = card.window
        self.token_dims = card.token_dims or card.dims
        self.card = card
        self._threads = threads or sensible_threads()
        self._progress = progress
        self._loading = threading.Lock()
        self._loaded: tuple[WindowedTokenizer, Any] | None = None

    def is_here(self) -> bool:
        """True when the model can answer without downloading anything first."""
        return self._loaded is not None or is_cached(self.card)

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one unit vector a text; this model reads questions and answers alike.

        A text longer than the window is read in windows, and its vector is their average by
        number of tokens; `split` says which they are.
        """
        return self._encode(texts, keep_tokens=False)[0]

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[Matrix]:
        """Return the unit vectors of each text's tokens, without the special ones and padding."""
        return self._encode(texts, keep_tokens=True)[1]

    @property
    def rotation(self) -> Matrix:
        """Return the matrix that turns token vectors such that their first dimensions tell most."""
        import numpy as np

        file = Path(__file__).with_name("minilm_rotation.npy")
        matrix: Matrix = np.load(file).astype(np.float32)
        return matrix

    def embed_with_tokens(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[Matrix, list[Matrix]]:
        """Return what `embed` and `tokens` return, from one forward pass."""
        return self._encode(texts, keep_tokens=True)

    def split(self, text: str) -> list[Window]:
        """Return the windows in which the model reads a text: all of it, in pieces that fit."""
        return self._parts()[0].split(text)

    def fits(self, text: str) -> bool:
        """Say whether the model reads the text in one piece."""
        return self.count_tokens(text) <= self._parts()[0].room

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the text has, special ones not counted."""
        return self._parts()[0].count(text)

    def fetch(self) -> None:
        """Fetch what is missing of the model, and load nothing; raises `Unavailable` if it cannot."""
        pull(self.card, progress=self._progress)

    def load(self) -> None:
        """Fetch and load the model now rather than later; raises `Unavailable` if it cannot."""
        self._parts()

    def _parts(self) -> tuple[WindowedTokenizer, Any]:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._open(pull(self.card, progress=self._progress))
        return self._loaded

    def _open(self, folder: Path) -> tuple[WindowedTokenizer, Any]:
        from scrubjay.models.embed.windows import WindowedTokenizer

        with packages_of(self.name):
            tokenizer = WindowedTokenizer(folder / "tokenizer.json", self.window)
        return tokenizer, open_session(
            self.name, self._graph(), threads=self._threads, weights=folder
        )

    def _graph(self) -> bytes:
        return Path(__file__).with_name("minilm.onnx").read_bytes()

    def _encode(self, texts: Sequence[str], *, keep_tokens: bool) -> tuple[Matrix, list[Matrix]]:
        import numpy as np

        pieces: list[list[int]] = []
        owners: list[int] = []
        for number, text in enumerate(texts):
            pieces += self._parts()[0].pieces(text)
            owners += [number] * (len(pieces) - len(owners))
        pooled = np.zeros((len(pieces), self.dims), np.float32)
        tokens = [pooled[:0]] * len(pieces)
        for index, rows in self._forward(pieces):
            pooled[index] = _unit(rows.mean(axis=0)) * len(rows)
            if keep_tokens:
                tokens[index] = _unit(rows[1:-1])
        # The windows of one text lie side by side: add up the vectors, string the tokens together.
        starts = np.searchsorted(owners, range(len(texts) + 1))
        return (
            _unit(np.add.reduceat(pooled, starts[:-1])) if pieces else pooled,
            [np.concatenate(tokens[a:b]) for a, b in itertools.pairwise(starts)],
        )

    def _forward(self, pieces: Sequence[Sequence[int]]) -> Iterator[tuple[int, Matrix]]:
        """Run the model over like-sized pieces together; yield each with its rows, unpadded."""
        import numpy as np

        _, session = self._parts()
        for batch in batches([len(piece) for piece in pieces], self._batch_tokens):
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


def _unit(rows: Matrix) -> Matrix:
    """Scale to length one; a row of zeros stays one."""
    import numpy as np

    norm = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Matrix = (rows / np.maximum(norm, 1e-12)).astype(np.float32, copy=False)
    return scaled

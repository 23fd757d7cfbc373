"""Multilingual embedder: Universal Sentence Encoder, which puts fifteen languages into one space."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.errors import Unavailable
from scrubjay.models.download.pull import USE_MULTILINGUAL, card_files, is_cached, pull
from scrubjay.models.onnx_session import default_threads, open_session, runtime_errors
from scrubjay.models.process.shareable import Shareable
from scrubjay.runtime.progress import Progress

if TYPE_CHECKING:
    from scrubjay.models import Matrix

_MAX_CHARS = 5_000  # a mean over more words says no more


class MultilingualEmbedder(Shareable):
    """Universal Sentence Encoder Multilingual 3 on onnxruntime, int8; shared between threads.

    Texts are read one by one: the graph takes its scale from all texts of a call, so a text beside
    others would have a slightly different vector.
    """

    card = USE_MULTILINGUAL
    name = f"{card.name}/int8"
    dims = card.dims
    languages = card.languages
    texts_at_once = 50

    def __init__(self, *, progress: Progress | None = None) -> None:
        self._progress = progress
        self._loading = threading.Lock()
        self._loaded: Any = None

    def is_here(self) -> bool:
        return self._loaded is not None or is_cached(self.card)

    def fetch(self) -> None:
        """Download the model without loading it; raises Unavailable if it cannot."""
        pull(self.card, progress=self._progress)

    def load(self) -> None:
        """Download and load the model now rather than later; raises Unavailable if it cannot."""
        if not self.load_elsewhere():
            self._load_here()

    def model_files(self) -> list[Path]:
        return card_files(self.card)

    def _load_here(self) -> None:
        with self._loading:
            if self._loaded is None:
                graph = pull(self.card, progress=self._progress) / self.card.files[0].name
                self._loaded = open_session(
                    self.name, graph, threads=default_threads(), operators=_operators()
                )

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one unit vector a text; questions and answers are read alike."""
        import numpy as np

        answer = self.encoded(texts, as_query=as_query, keep_tokens=False)
        if answer is not None:
            return answer[0]
        if self._loaded is None:
            self._load_here()
        vectors = np.zeros((len(texts), self.dims), np.float32)
        for place, text in enumerate(texts):
            readable = text[:_MAX_CHARS].encode("utf-8", "replace").decode().replace("\0", " ")
            try:
                (rows,) = self._loaded.run(None, {"inputs": np.array([readable], dtype=object)})
            except runtime_errors() as error:
                raise Unavailable(f"onnxruntime failed on {self.name}: {error}") from error
            vectors[place] = rows[0]
        return vectors


def _operators() -> str:
    """Return the library with the operator that tokenizes; raises Unavailable without it."""
    try:
        from onnxruntime_extensions import get_library_path
    except ImportError as error:
        raise Unavailable(
            f"{MultilingualEmbedder.name} needs a package that does not load ({error}); install it"
            " with: pip install onnxruntime-extensions"
        ) from error
    path: str = get_library_path()
    return path

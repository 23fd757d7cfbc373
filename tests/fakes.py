"""Models that need no weights: the same numbers on every machine and in every run."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrubjay.errors import Unavailable
from scrubjay.text import terms


class HashingEmbedder:
    """Puts every telling token of a text into one of `dims` boxes: texts that share words lie near.

    `meanings` makes chosen words mean the same, so that a test can ask by meaning.
    """

    def __init__(self, dims: int = 256, meanings: dict[str, str] | None = None) -> None:
        self.name = f"hashing-{dims}"
        self.dims = dims
        self.calls = 0
        self._meanings = meanings or {}

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector a text."""
        self.calls += 1
        rows = np.full((len(texts), self.dims), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for token in terms(text):
                meant = self._meanings.get(token, token)
                row[crc32(meant.encode()) % self.dims] += 1.0
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class BrokenEmbedder:
    """A model that never answers."""

    name = "broken"
    dims = 8

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """Fail as a server that is down does."""
        raise Unavailable("the broken model does not answer; start it")

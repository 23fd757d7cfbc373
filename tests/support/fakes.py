"""Models that need no weights: the same numbers on every machine and in every run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from scrubjay.errors import Unavailable
from scrubjay.text.analysis import terms


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


class TokenEmbedder(HashingEmbedder):
    """The same vectors, and one for each telling token: nearest to itself, far from all others.

    `encoded` has the texts of every pass that gave both; `tokens` alone is never called for those.
    """

    def __init__(self, dims: int = 256, meanings: dict[str, str] | None = None) -> None:
        super().__init__(dims, meanings)
        self.encoded: list[list[str]] = []

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[NDArray[np.float32]]:
        """Return a row for each telling token, in order."""
        found = []
        for text in texts:
            meant = [self._meanings.get(token, token) for token in terms(text)]
            rows = np.zeros((len(meant), self.dims), np.float32)
            for row, token in zip(rows, meant, strict=True):
                row[crc32(token.encode()) % self.dims] = 1.0
            found.append(rows)
        return found

    def embed_with_tokens(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return both from one pass."""
        self.encoded.append(list(texts))
        return self.embed(texts), self.tokens(texts)


class ScriptedReranker:
    """Answers as it is told, and keeps what it was asked.

    `answer` makes the whole answer of query and texts; an exception it returns is raised.
    """

    def __init__(self, answer: Callable[[str, list[str]], Any], name: str = "scripted") -> None:
        self.name = name
        self.asked: list[tuple[str, list[str]]] = []
        self._answer = answer

    def score(self, query: str, texts: Sequence[str]) -> Any:
        """Return what the script says."""
        self.asked.append((query, list(texts)))
        answer = self._answer(query, list(texts))
        if isinstance(answer, BaseException):
            raise answer
        return answer


class ScriptedGenerator:
    """Writes what it is told, the last answer for ever, and keeps the prompts."""

    def __init__(self, *says: Any, name: str = "scribe") -> None:
        self.name = name
        self.prompts: list[str] = []
        self._says = says

    def complete(self, prompt: str, *, schema: dict[str, object] | None = None) -> Any:
        """Return the next answer; an exception is raised."""
        said = self._says[min(len(self.prompts), len(self._says) - 1)]
        self.prompts.append(prompt)
        if isinstance(said, BaseException):
            raise said
        return said

"""Protocols for models: embedder, reranker and generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors. `name` states model and precision: it is the key of the index.
    An embedder whose vectors can be cut lists in `matryoshka` the lengths at which their beginning
    is a vector, too."""

    name: str
    dims: int

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return an array of shape (len(texts), dims)."""
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives token vectors, for late interaction."""

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[Matrix]:
        """Return one matrix of token vectors a text."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Scores texts by reading the query and each text together."""

    name: str

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score in 0..1 a text."""
        ...


@runtime_checkable
class Generator(Protocol):
    """Writes text for a prompt, as JSON where a schema is given."""

    name: str

    def complete(self, prompt: str, *, schema: dict[str, object] | None = None) -> str: ...

"""Protocols for models: embedder, reranker, generator and reader of changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from datetime import datetime

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


class Passage(NamedTuple):
    """The text of a memory for a reader of changes, and when it was stored."""

    text: str
    at: datetime | None


class Relation(NamedTuple):
    """What the newer of two notes does to the older one, as probabilities whose sum is 1: it replaces
    it, replaces a part of it, holds for a while only, repeats it, or says something else."""

    replaces: float
    partial: float
    temporary: float
    repeats: float
    other: float


class Answers(NamedTuple):
    """How likely none of some notes answers a question, and each of them; together that is 1."""

    none: float
    notes: tuple[float, ...]


@runtime_checkable
class NoteReader(Protocol):
    """Reads dated notes together: two of them, or a question with several."""

    name: str

    def relations(self, pairs: Sequence[tuple[Passage, Passage]]) -> Sequence[Relation]:
        """Return one relation for each pair of an older and a newer note."""
        ...

    def answers(self, question: str, asked_at: datetime, notes: Sequence[Passage]) -> Answers:
        """Return how likely each note answers the question at that time, in the order of the notes."""
        ...

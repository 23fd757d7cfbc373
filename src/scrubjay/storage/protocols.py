"""Interfaces with several implementations: the keyword index, and a replica that is fed.

Every search takes a Scope and applies it in its own query; nothing is filtered afterwards. Higher scores
are better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from scrubjay.types import RankedList, Scope, Term


class KeywordIndex(Protocol):
    """Finds memories by word (SQLite: FTS5, Postgres: BM25 in SQL)."""

    def search(
        self,
        terms: Sequence[Term],
        scope: Scope,
        limit: int,
        weights: Mapping[str, float],
        *,
        every_first: bool = True,
    ) -> RankedList:
        """Return the memories that contain any term, best first; by default those with all terms first."""
        ...

    def rarity(self, term: Term) -> float:
        """Return how rare a term is: how many memories lack it for each one that contains it."""
        ...


class Projected(NamedTuple):
    """A memory as a replica stores it: the fields of filters, and its vectors where it holds vectors.

    `topics` are tokens of the index; `vectors` are model, ordinal of the chunk and float32 values.
    """

    id: str
    namespace: str
    type: str
    topics: tuple[str, ...]
    collection: str | None
    session: str | None
    owner: str | None
    agent: str | None
    domain_label: str | None
    created_us: int
    valid_from_us: int | None
    valid_until_us: int | None
    vectors: tuple[tuple[str, int, Any], ...] = ()


class Edge(NamedTuple):
    """A link as the database stores it."""

    a: str
    b: str
    kind: str
    strength: float


class Projection(Protocol):
    """A replica (Qdrant or FalkorDB). Writing the same twice is harmless; its errors are Unavailable."""

    tier: str
    place: str

    def put(self, memories: Sequence[Projected]) -> None:
        """Write memories as they are now, replacing what the replica had of them."""
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Delete memories with their vectors and links."""
        ...

    def put_edges(self, pairs: Sequence[tuple[str, str]], edges: Sequence[Edge]) -> None:
        """Replace all links between each of these pairs; ignored by a replica without links."""
        ...

    def clear(self) -> None:
        """Delete everything of this store."""
        ...

    def count(self) -> int:
        """Return how many memories of this store the replica has."""
        ...

    def ping(self) -> None:
        """Send a cheap request."""
        ...

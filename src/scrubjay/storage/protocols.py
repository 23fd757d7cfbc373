"""Interface of the keyword index, which SQLite and Postgres implement.

Every search takes a Scope and applies it in its own query; nothing is filtered afterwards. Higher scores
are better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

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

    def rarity(self, term: Term) -> float:
        """Return how rare a term is: how many memories lack it for each one that contains it."""

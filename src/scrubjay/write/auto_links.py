"""Each new memory is linked to its nearest: found through the vector index, in the background.

The links of a memory are found first and written afterwards, in one transaction a batch, so whoever is
killed in between leaves the memories waiting, and two processes at it do the same work twice, no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.storage.sql.graph import Linked, SqlAutoLinks
from scrubjay.types import Row, Scope

if TYPE_CHECKING:
    from scrubjay.storage.sql.graph import Unlinked
    from scrubjay.storage.sql.vectors import SqlVectors

FAN_OUT = 3


class AutoLinks:
    """Links the memories of one store by the vectors of one model."""

    def __init__(self, links: SqlAutoLinks, vectors: SqlVectors, model: str) -> None:
        self._links = links
        self._vectors = vectors
        self._model = model

    def link_next(self, most: int, stopped: Callable[[], bool] = lambda: False) -> int:
        """Link the newest memories that wait for it, until stopped; return how many they were.

        All types are linked, messages and documents too, each inside its namespace, and only to what
        points the same way at all: a cosine above 0. Raises Unavailable where the index is on a server
        that does not answer; while that has yet to be told of vectors, all wait: it would find none.
        """
        if not self._vectors.is_current():
            return 0
        found = []
        for one in self._links.waiting(self._model, most):
            if stopped():
                break
            found.append(self._linked(one))
        if found:
            self._links.put(found, self._model)
        return len(found)

    def left(self) -> bool:
        """True when any memory waits for its links."""
        return self._links.left(self._model, most=1) > 0

    def _linked(self, one: Unlinked) -> Linked:
        """Find the nearest of a memory, and how near it is now to those that chose it before."""
        most = FAN_OUT + 1 + len(one.parted)  # itself is the nearest of all
        near = self._near(one, Scope(namespaces=(one.namespace,)), most)
        chosen = [row for row in near if row.id != one.id and row.id not in one.parted]
        by = self._near(one, Scope(ids=one.chosen_by), len(one.chosen_by)) if one.chosen_by else []
        return Linked(
            one,
            {row.id: row.score for row in chosen[:FAN_OUT] if row.score > 0},
            {row.id: row.score for row in by},
        )

    def _near(self, one: Unlinked, scope: Scope, most: int) -> list[Row]:
        """Return the memories nearest to any passage of one, by cosine clamped to 0..1."""
        best: dict[str, Row] = {}
        for vector in one.vectors.values():
            for row in self._vectors.search(vector, self._model, scope, most).rows:
                score = min(max(round(row.score, 6), 0.0), 1.0)
                if row.id not in best or score > best[row.id].score:
                    best[row.id] = row._replace(score=score)
        return sorted(best.values(), key=lambda row: (-row.score, -row.updated_us, row.id))

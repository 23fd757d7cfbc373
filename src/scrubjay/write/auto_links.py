"""Link each new memory to its nearest, found through the vector index, in the background.

The links of a batch are found first and then written in one transaction. A process that is killed in
between leaves the memories unlinked for the next one; two processes at once do the same work twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.storage.sql.graph import NewLinks, SqlAutoLinks
from scrubjay.types import Row, Scope

if TYPE_CHECKING:
    from scrubjay.storage.sql.graph import UnlinkedMemory
    from scrubjay.storage.sql.vectors import SqlVectors

FAN_OUT = 3


class AutoLinks:
    """Links the memories of one store by the vectors of one model."""

    def __init__(self, links: SqlAutoLinks, vectors: SqlVectors, model: str) -> None:
        self._links = links
        self._vectors = vectors
        self._model = model

    def link_next(self, limit: int, stopped: Callable[[], bool] = lambda: False) -> int:
        """Link the newest memories without links, until stopped; return how many were linked.

        All types are linked, messages and documents too, each inside its namespace, and only to
        memories with a cosine above 0. Raises Unavailable where the index is a replica that does not
        answer; while a replica lacks vectors, nothing is linked, since it would find none.
        """
        if not self._vectors.is_current():
            return 0
        found = []
        for memory in self._links.waiting(self._model, limit):
            if stopped():
                break
            found.append(self._links_of(memory))
        if found:
            self._links.put(found, self._model)
        return len(found)

    def left(self) -> bool:
        """True when any memory has no links yet."""
        return self._links.left(self._model, most=1) > 0

    def _links_of(self, memory: UnlinkedMemory) -> NewLinks:
        """Find the nearest of a memory, and how near it is now to those that chose it before."""
        limit = FAN_OUT + 1 + len(memory.separated)  # the nearest of all is the memory itself
        near = self._nearest(memory, Scope(namespaces=(memory.namespace,)), limit)
        chosen = [row for row in near if row.id != memory.id and row.id not in memory.separated]
        by: list[Row] = []
        if memory.linked_by:
            by = self._nearest(memory, Scope(ids=memory.linked_by), len(memory.linked_by))
        return NewLinks(
            memory,
            {row.id: row.score for row in chosen[:FAN_OUT] if row.score > 0},
            {row.id: row.score for row in by},
        )

    def _nearest(self, memory: UnlinkedMemory, scope: Scope, limit: int) -> list[Row]:
        """Return the memories nearest to any chunk of a memory, by cosine clamped to 0..1."""
        best: dict[str, Row] = {}
        for vector in memory.vectors.values():
            for row in self._vectors.search(vector, self._model, scope, limit).rows:
                score = min(max(round(row.score, 6), 0.0), 1.0)
                if row.id not in best or score > best[row.id].score:
                    best[row.id] = row._replace(score=score)
        return sorted(best.values(), key=lambda row: (-row.score, -row.updated_us, row.id))

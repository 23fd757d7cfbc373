"""The verbs for servers that hold copies of a store's tiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.parts.picturing import Picturing

if TYPE_CHECKING:
    from scrubjay.storage.replicas.replicas import Replicas
    from scrubjay.types.reports import Reindexed, ServerState


class Serving(Picturing):
    """What is asked of servers, beside searching."""

    def servers(self) -> tuple[ServerState, ...]:
        """Say of each server that holds a copy of a tier what it has yet to be told, and why it is not."""
        return self._servers().states()

    def reindex(
        self,
        what: str | None = None,
        *,
        drop: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Reindexed:
        """Make indexes anew from the records: words, vectors, graph, or without a name all of them.

        A server is told everything, which takes a while; `left` says what it does not know yet. With
        `drop`, the server of a tier is told nothing from now on.
        """
        self._db.check_writable()
        return self._servers().reindex(self._records, self._db, what, drop=drop, progress=progress)

    def _servers(self) -> Replicas:
        """Return the servers of this store; where it was opened without any, what others are told."""
        if self._tables.replicas is not None:
            return self._tables.replicas
        from scrubjay.storage.replicas.replicas import Replicas
        from scrubjay.text.urls import NO_REPLICAS

        return Replicas(self._db, NO_REPLICAS)

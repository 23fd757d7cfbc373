"""The servers of one store: what finds through them, and what tells them of every change."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.storage.replicas.outbox import SqlOutbox
from scrubjay.text.urls import NO_REPLICAS
from scrubjay.types.reports import ServerState

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.storage.protocols import Projection
    from scrubjay.storage.sql.graph import SqlGraph
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.text.urls import ReplicaAddresses

VECTORS, GRAPH = TIERS = ("vectors", "graph")


class Served:
    """A store's tiers on servers. Without a server it only knows what others are told.

    Servers are not asked for anything before the first search, or the first change that is told.
    """

    def __init__(self, db: Database, servers: ReplicaAddresses) -> None:
        from scrubjay.storage.replicas.records import SqlProjected
        from scrubjay.storage.replicas.worker import Projecting

        self.outbox = SqlOutbox(db)
        if servers != NO_REPLICAS:
            self.outbox.tell_copy_apart()
        self.vectors: SqlVectors | None = None
        self.graph: SqlGraph | None = None
        self._closing: list[Callable[[], None]] = []
        self._go_on: Callable[[], None] = lambda: None
        told: list[Projection] = []
        if servers.vectors is not None:
            from scrubjay.storage.qdrant.client import QdrantServer
            from scrubjay.storage.qdrant.projection import QdrantProjection
            from scrubjay.storage.qdrant.vectors import QdrantVectors

            qdrant = QdrantServer(servers.vectors)
            vectors = self.vectors = QdrantVectors(db, qdrant)
            told.append(QdrantProjection(db, qdrant))
            vectors.on_loss = lambda: self.projecting.recheck(VECTORS)
            vectors.breaker.on_back = self._answers_again
            self._closing += (vectors.close, qdrant.close)
        if servers.graph is not None:
            from scrubjay.storage.falkordb.client import FalkorServer
            from scrubjay.storage.falkordb.graph import FalkorGraph
            from scrubjay.storage.falkordb.projection import FalkorProjection

            falkor = FalkorServer(servers.graph, self.outbox.store())
            graph = self.graph = FalkorGraph(db, falkor)
            told.append(FalkorProjection(falkor))
            graph.on_loss = lambda: self.projecting.recheck(GRAPH)
            self._closing += (graph.close, falkor.close)
        self._told = told
        who = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.projecting = Projecting(self.outbox, SqlProjected(db), told, who)
        known = [one for one in told if self.outbox.is_attached(one.tier, one.place)]
        if told:
            db.on_commit = self._committed
        if any(self.outbox.lag(one.tier) for one in known):
            self.projecting.wake()  # whoever was here before has left something to tell

    def prepare_search(self) -> None:
        """Begin to tell a server that is used for the first time, and wait a little for the last changes."""
        if not all(self.outbox.is_attached(one.tier, one.place) for one in self._told):
            self.projecting.wake()
        self.projecting.settle()

    def go_on_with(self, waiting: Callable[[], None]) -> None:
        """Let this be done whenever a server knows everything again, or answers who searches vectors."""
        self._go_on = self.projecting.on_told = waiting

    def states(self) -> tuple[ServerState, ...]:
        """Say of each server, of this process or of another, what it has yet to be told, and why.

        Those of this process are asked whether they are there.
        """
        mine = {one.tier: one for one in self._told if not self.projecting.is_dropped(one.tier)}
        places = {**self.outbox.attached(), **{tier: one.place for tier, one in mine.items()}}
        return tuple(
            ServerState(
                tier,
                place,
                self.projecting.behind(tier),
                _outage(mine[tier]) if tier in mine else "",
            )
            for tier, place in sorted(places.items())
        )

    def lagging(self, tiers: Sequence[str]) -> Iterator[str]:
        """Say which of these tiers, as this process searches them, do not know everything yet."""
        for one in self._told:
            if one.tier in tiers and self.projecting.is_dropped(one.tier):
                yield f"{one.tier}: {one.place} is told nothing any more; open the store anew"
            elif one.tier in tiers and (behind := self.projecting.behind(one.tier)):
                changes = "1 change" if behind == 1 else f"{behind:,} changes"
                why = self.projecting.outage.get(one.tier)
                yield (
                    f"{one.tier}: {one.place} has yet to be told of {changes}"
                    + (f" ({why})" if why else "")
                )

    def serves(self, tier: str) -> bool:
        """True when this process asks a server for a tier."""
        return any(one.tier == tier for one in self._told)

    def rebuild(self, tier: str) -> None:
        """Have a server told everything anew."""
        self.outbox.again(tier)
        self.projecting.wake()

    def drop(self, tier: str) -> str:
        """Tell a server nothing from now on, and let it forget this store if that can be; say what stays."""
        there = self.outbox.attached().get(tier)
        if there is None:
            raise InvalidInput(f"no server is told of the {tier}: there is nothing to drop")
        self.outbox.detach(tier)
        for one in self._told:
            if one.tier == tier:
                try:
                    one.clear()
                except Unavailable as gone:
                    return f"what {there} holds stays there: {gone}"
                return ""
        return f"what {there} holds stays there; with --{tier} it is cleared, too"

    def close(self) -> None:
        """Wait a little for the last changes to be told, then let go of the servers."""
        self.projecting.settle()
        self.projecting.stop()
        for close in self._closing:
            close()

    def _answers_again(self) -> None:
        # Told everything a moment before, while nobody who searches had asked it again yet.
        try:
            self._go_on()
        except StoreError:
            return  # the store is busy, or closed; the next search goes on

    def _committed(self) -> None:
        # The thread that tells the servers writes down itself what it has told.
        if threading.current_thread().name != "scrubjay-projecting":
            self.projecting.wake()


def _outage(server: Projection) -> str:
    """Return why a server does not answer; nothing where it does."""
    try:
        server.ping()
    except (Unavailable, InvalidInput) as gone:
        return str(gone)
    return ""

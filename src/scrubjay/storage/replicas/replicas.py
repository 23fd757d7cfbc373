"""Keep Qdrant and FalkorDB in step with the database, and search through them."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.runtime.closing import close_all
from scrubjay.storage.replicas.outbox import (
    GRAPH,
    KINDS,
    VECTORS,
    WORDS,
    Outbox,
    Replica,
    ReplicaSource,
)
from scrubjay.storage.replicas.worker import THREAD, ReplicaWorker
from scrubjay.text.urls import EXACT, KEYWORD, NO_REPLICAS, is_server_url
from scrubjay.types.reports import Reindexed, ServerState

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.storage.qdrant.client import QdrantServer
    from scrubjay.storage.sql.graph import SqlGraph
    from scrubjay.storage.sql.keyword_ranking import KeywordIndex
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.text.urls import ReplicaAddresses

INDEXES = (WORDS, *KINDS)


class Replicas:
    """The replicas of one store; no server is called before the first search or change.

    The database itself searches in place of a replica that was dropped: `vectors` or `graph` is None.
    """

    def __init__(self, db: Database, servers: ReplicaAddresses) -> None:
        self.outbox = Outbox(db)
        if servers != NO_REPLICAS:
            self.outbox.separate_copied_file()
        self.vectors: SqlVectors | None = None
        self.graph: SqlGraph | None = None
        self.keyword: KeywordIndex | None = None
        self._close: list[Callable[[], None]] = []
        self._caught_up: Callable[[], None] = lambda: None
        replicas: list[Replica] = []
        if servers.vectors is not None:
            from scrubjay.storage.qdrant.client import QdrantServer
            from scrubjay.storage.qdrant.replica import QdrantReplica
            from scrubjay.storage.qdrant.vectors import QdrantVectors

            qdrant = QdrantServer(servers.vectors)
            vectors_replica = QdrantReplica(db, qdrant)
            replicas.append(vectors_replica)
            if not self.outbox.is_dropped(VECTORS, vectors_replica.place):
                vectors = self.vectors = QdrantVectors(db, qdrant)
                vectors.on_loss = lambda: self.worker.recheck(VECTORS)
                vectors.breaker.on_back = self._server_is_back
                self._close.append(vectors.close)
            if is_server_url(db.path):  # a file has a faster index of its own
                self._add_words(db, qdrant, replicas)
            self._close.append(qdrant.close)
        if servers.graph is not None:
            from scrubjay.storage.falkordb.client import FalkorServer
            from scrubjay.storage.falkordb.graph import FalkorGraph
            from scrubjay.storage.falkordb.replica import FalkorReplica

            falkor = FalkorServer(servers.graph, self.outbox.store_id())
            graph_replica = FalkorReplica(falkor)
            replicas.append(graph_replica)
            if not self.outbox.is_dropped(GRAPH, graph_replica.place):
                graph = self.graph = FalkorGraph(db, falkor)
                graph.on_loss = lambda: self.worker.recheck(GRAPH)
                self._close.append(graph.close)
            self._close.append(falkor.close)
        self._replicas = {replica.kind: replica for replica in replicas}
        owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.worker = ReplicaWorker(self.outbox, ReplicaSource(db), replicas, owner)
        attached = [one for one in replicas if self.outbox.is_attached(one.kind, one.place)]
        if replicas:
            db.on_commit = self._committed
        if any(self.outbox.count(replica.kind) for replica in attached):
            self.worker.wake()  # an earlier process left changes behind

    def _add_words(
        self,
        db: Database,
        qdrant: QdrantServer,
        replicas: list[Replica],
    ) -> None:
        """Let Qdrant list candidates for keyword search, unless its address says not to."""
        if dict(qdrant.address.options).get(KEYWORD) == EXACT:
            self.outbox.forget(WORDS)
            return
        from scrubjay.storage.qdrant.keyword import QdrantKeyword
        from scrubjay.storage.qdrant.keyword_replica import QdrantKeywordReplica
        from scrubjay.storage.qdrant.vectors import QdrantVectors

        replica = QdrantKeywordReplica(db, qdrant)
        replicas.append(replica)
        if isinstance(self.vectors, QdrantVectors):
            keyword = self.keyword = QdrantKeyword(db, qdrant, self.vectors.breaker)
            keyword.on_loss = lambda: self.worker.recheck(WORDS)

    def prepare_search(self) -> None:
        """Begin to fill replicas that are used for the first time; wait briefly for recent changes."""
        attached = self.outbox.attached()
        for kind, replica in self._replicas.items():
            if attached.get(kind) != replica.place and not (
                self.outbox.is_attached(kind, replica.place)  # or raises: another one is
                or self.outbox.is_dropped(kind, replica.place)
            ):
                self.worker.wake()
        self.worker.settle()

    def on_caught_up(self, callback: Callable[[], None]) -> None:
        """Call this whenever a replica has everything again, or the vectors' server is back."""
        self._caught_up = self.worker.on_caught_up = callback

    def states(self) -> tuple[ServerState, ...]:
        """Return the state of every replica, including those of other processes; ours are pinged."""
        named = {kind: replica.place for kind, replica in self._replicas.items()}
        places = {**self.outbox.attached(), **named}
        dropped = {kind for kind in named if self.worker.is_dropped(kind)}
        outages = {kind: _outage(self._replicas[kind]) for kind in named if kind not in dropped}
        return tuple(
            ServerState(
                kind,
                places[kind],
                self.worker.pending_for(kind),
                outages.get(kind, ""),
                kind in dropped,
            )
            for kind in sorted(places)
        )

    def pending_notes(self, kinds: Sequence[str]) -> Iterator[str]:
        for kind, replica in self._replicas.items():
            if kind not in kinds or (self.graph if kind == GRAPH else self.vectors) is None:
                continue  # the database searches in its place
            count = self.worker.behind(kind)
            if count is None:
                yield f"{kind}: {replica.place} was detached from this store; open the store again"
            elif count:
                changes = "1 change" if count == 1 else f"{count:,} changes"
                why = f" ({reason})" if (reason := self.worker.outage.get(kind)) else ""
                yield f"{kind}: {replica.place} is {changes} behind{why}"

    def reindex(
        self,
        records: SqlRecords,
        db: Database,
        name: str | None,
        *,
        drop: bool,
        progress: Callable[[int, int], None] | None,
    ) -> Reindexed:
        """Rebuild one index, or all that are in use, from the database; or detach a replica.
        A replica that was dropped is filled again when it is named."""
        if name is not None and name not in INDEXES:
            from scrubjay.text.validation import did_you_mean

            raise InvalidInput(
                f"unknown index {name!r}{did_you_mean(name, INDEXES)}; indexes are: {', '.join(INDEXES)}"
            )
        if drop:
            if name not in KINDS:
                raise InvalidInput(f"name the replica to detach: {' or '.join(KINDS)}")
            return Reindexed((), 0, self.states(), self._drop(name))
        attached = self.outbox.attached()
        done: list[str] = []
        if name in (None, WORDS):
            records.reindex(always=True)
            done.append(WORDS)
        for kind in KINDS:
            if name not in (None, kind):
                continue
            if kind in self._replicas and (name == kind or not self.worker.is_dropped(kind)):
                self._refill(kind)
            elif kind in attached:
                raise InvalidInput(
                    f"the {kind} are on a server that was not named when this store was opened;"
                    f" name it with --{kind}"
                )
            elif kind == VECTORS:
                db.vectors.reindex()
            done.append(kind)
        return Reindexed(tuple(done), self.worker.wait(progress=progress), self.states())

    def _drop(self, kind: str) -> str:
        """Detach a replica and clear it if it answers; return what stays behind."""
        place = self.outbox.attached().get(kind)
        if place is None and (place := self._left_behind(kind)) is None:
            raise InvalidInput(f"no server is attached for the {kind}: there is nothing to drop")
        self.outbox.detach(kind)
        if kind == VECTORS:
            self.outbox.detach(WORDS)
        if kind not in self._replicas:
            return f"the data at {place} stays there; add --{kind} to delete it as well"
        try:
            self._replicas[kind].clear()
            if kind == VECTORS and WORDS in self._replicas:
                self._replicas[WORDS].clear()
        except Unavailable as error:
            return f"the data at {place} stays there: {error}"
        return ""

    def _left_behind(self, kind: str) -> str | None:
        """Return the address of a replica that was dropped and still has data of this store."""
        replica = self._replicas.get(kind)
        if replica is None or not self.outbox.is_dropped(kind, replica.place):
            return None
        return replica.place if replica.count() else None

    def _refill(self, kind: str) -> None:
        replica = self._replicas[kind]
        if self.outbox.is_dropped(kind, replica.place):
            replica.ping()
            self.outbox.attach(kind, replica.place)
            if kind == VECTORS and WORDS in self._replicas:
                self.outbox.attach(WORDS, replica.place)
        else:
            self.outbox.add_everything(kind)
        self.worker.wake()

    def close(self) -> None:
        close_all([self.worker.settle, self.worker.stop, *self._close])

    def _server_is_back(self) -> None:
        # The replica may have caught up while searches still held it for unavailable.
        with suppress(StoreError):  # the store is busy or closed; the next search goes on
            self._caught_up()

    def _committed(self) -> None:
        # The worker itself commits what it has sent; that is no new change.
        if threading.current_thread().name != f"scrubjay-{THREAD}":
            self.worker.wake()


def _outage(replica: Replica) -> str:
    try:
        replica.ping()
    except (Unavailable, InvalidInput) as error:
        return str(error)
    return ""

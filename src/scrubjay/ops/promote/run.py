"""A live store moved from a file to Postgres, or back: copied while it is used, checked, then switched.

Others go on reading and writing while the rows are copied. Only for the last of them, the check and the
switch writers wait. Whatever goes wrong before that, the old store is as it was, and to run it again
goes on where it ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.ops.promote.check import QUERIES, Differs, Digest, same_rows, same_searches, warm
from scrubjay.ops.promote.mirror import mirror
from scrubjay.ops.promote.places import FilePlace, Place, SchemaPlace, holds_memories, place_of
from scrubjay.storage.sql.mirror import take
from scrubjay.storage.sqlite.backup import open_files_stay, write_note
from scrubjay.text.urls import ReplicaAddresses, parse_replica_urls
from scrubjay.types.reports import Moved

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.storage.replicas.outbox import Replica

Path = str | os.PathLike[str]
Report = Callable[[int, int, str], None]


def promote(
    source: Path,
    target: str,
    *,
    keep: bool = False,
    tenant: str | None = None,
    vectors: str | None = None,
    graph: str | None = None,
    progress: Report | None = None,
) -> Moved:
    """Move the store in a file to Postgres, and its vectors and links to servers where these are named.

    The file is renamed to `….promoted`; with `keep` it stays, and is a copy from then on.
    """
    here, there = place_of(source, tenant), place_of(target, tenant)
    if not isinstance(here, FilePlace) or not isinstance(there, SchemaPlace):
        raise InvalidInput(
            "promote moves a file to postgres://…; the other way round it is demote"
        )
    return _Move(here, there, parse_replica_urls(vectors, graph), keep, progress).run()


def demote(
    source: str,
    target: Path,
    *,
    keep: bool = False,
    tenant: str | None = None,
    vectors: str | None = None,
    graph: str | None = None,
    progress: Report | None = None,
) -> Moved:
    """Move the store in Postgres into a file.

    The schema is renamed to `….demoted`; with `keep` it stays, and is a copy from then on.
    """
    here, there = place_of(source, tenant), place_of(target, tenant)
    if not isinstance(here, SchemaPlace) or not isinstance(there, FilePlace):
        raise InvalidInput(
            "demote moves postgres://… into a file; the other way round it is promote"
        )
    return _Move(here, there, parse_replica_urls(vectors, graph), keep, progress).run()


class _Move:
    """One store on its way from one place to another."""

    def __init__(
        self,
        source: Place,
        target: Place,
        servers: ReplicaAddresses,
        keep: bool,
        progress: Report | None,
    ) -> None:
        self._source = source
        self._target = target
        self._servers = servers
        self._keep = keep
        self._progress = progress

    def run(self) -> Moved:
        """Move it, and feed the servers."""
        ours = self._source.existing()
        if ours is None:
            place = self._source.moved()
            gone = f"; its memories were moved to {place}" if place else ""
            raise NotFound(f"there is no store in {self._source.shown}{gone}")
        with closing(ours):
            done = self._finished_before(ours) or self._move(ours)
        if not any(self._servers):
            return done
        told, untold = self._feed()
        return done._replace(servers=told, unfed=untold)

    def _finished_before(self, ours: Database) -> Moved | None:
        """Switch to a target that is whole already: the run before this was stopped in between."""
        theirs = self._target.existing()
        if theirs is None:
            return None
        with closing(theirs):
            with theirs.read() as db:
                if not holds_memories(db):
                    return None
            if _store_id(ours) != _store_id(theirs):
                raise StoreError(
                    f"{self._target.shown} holds other memories; name a place that is empty,"
                    " or another --tenant"
                )
            try:
                with ours.write(), theirs.write():
                    return self._report(
                        same_rows(ours, theirs), self._ask_both(ours, theirs), self._retire(ours)
                    )
            except Differs as error:
                raise StoreError(
                    f"{self._target.shown} holds this store already, and both were used since"
                    f" ({error}); keep using one of them, and put the other aside"
                ) from error

    def _move(self, ours: Database) -> Moved:
        with closing(self._target.filling()) as theirs:
            self._refuse_other(ours, theirs)
            mark = int.from_bytes(os.urandom(7))
            take(theirs, mark)
            if self._servers.vectors is None:
                theirs.vectors  # noqa: B018 - where there is no pgvector, it is said before all the work
            mirror(ours, theirs, mark, self._progress)
            warm(ours)
            if open_files_stay() and isinstance(self._source, FilePlace) and not self._keep:
                return self._switch_closed(ours, theirs, mark, self._source)
            return self._switch(ours, theirs, mark, self._retire)

    def _switch(
        self,
        ours: Database,
        theirs: Database,
        mark: int,
        retire: Callable[[Database], str | None],
    ) -> Moved:
        """Copy the rest while nobody can write, compare, and let the target take the source's place."""
        with ours.write():
            mirror(ours, theirs, mark)
            tables, searches = same_rows(ours, theirs), self._ask_both(ours, theirs)
            self._target.publish(theirs, mark)
            return self._report(tables, searches, retire(ours))

    def _switch_closed(
        self, ours: Database, theirs: Database, mark: int, source: FilePlace
    ) -> Moved:
        """Do the same where a file can be renamed only while nobody has it open, us included."""
        from scrubjay.storage.sqlite.connection import SqliteDatabase

        ours.close()
        aside = source.put_aside()
        try:
            with closing(SqliteDatabase(aside)) as renamed:
                done = self._switch(renamed, theirs, mark, lambda _: aside)
        except BaseException:
            os.rename(aside, source.path)
            raise
        write_note(source.path, self._target.shown)
        return done

    def _refuse_other(self, ours: Database, theirs: Database) -> None:
        """Refuse to go on filling what was begun with another store."""
        with theirs.read() as db:
            begun = holds_memories(db)
        if begun and _store_id(ours) != _store_id(theirs):
            raise StoreError(
                f"{theirs.path} is what is left of another store that was to come to"
                f" {self._target.shown}; remove it first"
            )

    def _ask_both(self, ours: Database, theirs: Database) -> int:
        with_vectors = self._servers.vectors is None
        return same_searches(ours, theirs, vectors=with_vectors, queries=QUERIES)

    def _retire(self, ours: Database) -> str | None:
        return None if self._keep else ours.mirror.retire(self._target.shown)

    def _report(self, tables: Mapping[str, Digest], searches: int, aside: str | None) -> Moved:
        return Moved(
            self._source.shown,
            self._target.shown,
            tables["memories"].rows,
            len(tables),
            sum(one.rows for one in tables.values()),
            searches,
            aside,
        )

    def _feed(self) -> tuple[dict[str, int], dict[str, str]]:
        """Tell the servers everything, and return what each knows now, and why some do not know all."""
        from scrubjay.storage.replicas.outbox import Outbox, ReplicaSource
        from scrubjay.storage.replicas.worker import ReplicaWorker

        db = self._target.existing()
        assert db is not None
        source, outbox = ReplicaSource(db), Outbox(db)
        with closing(db), _open_replicas(db, self._servers, outbox.store_id()) as replicas:
            for replica in replicas:
                outbox.attach(replica.kind, replica.place)
            worker = ReplicaWorker(outbox, source, replicas, f"promote {os.getpid()}")
            try:
                worker.wait(progress=self._report_replicas)
            finally:
                worker.stop()
            counts: dict[str, int] = {}
            failed = dict(worker.outage)
            for replica in replicas:
                if replica.kind in failed:
                    continue
                try:
                    count = counts[replica.kind] = replica.count()
                except Unavailable as error:
                    failed[replica.kind] = str(error)
                    continue
                expected = source.count(replica.kind)
                if count != expected:
                    failed[replica.kind] = f"it has {count:,} of {expected:,} memories"
        return counts, failed

    def _report_replicas(self, done: int, total: int) -> None:
        if self._progress:
            self._progress(done, total, "servers")


@contextmanager
def _open_replicas(db: Database, servers: ReplicaAddresses, store: str) -> Iterator[list[Replica]]:
    replicas: list[Replica] = []
    with ExitStack() as opened:
        if servers.vectors is not None:
            from scrubjay.storage.qdrant.client import QdrantServer
            from scrubjay.storage.qdrant.replica import QdrantReplica

            qdrant = opened.enter_context(closing(QdrantServer(servers.vectors)))
            replicas.append(QdrantReplica(db, qdrant))
        if servers.graph is not None:
            from scrubjay.storage.falkordb.client import FalkorServer
            from scrubjay.storage.falkordb.replica import FalkorReplica

            falkor = opened.enter_context(closing(FalkorServer(servers.graph, store)))
            replicas.append(FalkorReplica(falkor))
        yield replicas


def _store_id(db: Database) -> bytes:
    with db.read() as connection:
        row = connection.execute("SELECT key FROM keys WHERE name = 'store'").fetchone()
    return bytes(row[0]) if row else b""

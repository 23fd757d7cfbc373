"""Promote and demote: move a live store from a file to Postgres, or back.

The rows are copied while others read and write. Writers wait only for the last rows, the comparison and
the switch. When anything fails before that, the old store is unchanged, and another run continues.

The target is filled under another name, `….filling`, which no one opens. So no one can write to half a
store, and an interrupted copy is found again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager

from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.ops.promote.compare import QUERIES, Differs, Digest, same_rows, same_searches, warm
from scrubjay.ops.promote.mirror import mirror
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.replicas.outbox import Outbox, Replica, ReplicaSource
from scrubjay.storage.sql.mirror import take
from scrubjay.storage.sqlite.backup import PROMOTED, SqliteMirror, free_name, open_files_stay
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.location import moved_to, write_note
from scrubjay.text.urls import (
    POSTGRES,
    ReplicaAddresses,
    ServerAddress,
    check_tenant,
    is_server_url,
    parse_replica_urls,
    parse_server_url,
    tenant_file,
    tenant_schema,
)
from scrubjay.types.reports import Moved

Path = str | os.PathLike[str]
Progress = Callable[[int, int, str], None]

FILLING = ".filling"
# A store without rows in any of these contains nothing of value.
_CONTENTS = ("memories", "collections", "folders", "feedback", "access")


def promote(
    source: Path,
    target: str,
    *,
    keep: bool = False,
    tenant: str | None = None,
    vectors: str | None = None,
    graph: str | None = None,
    progress: Progress | None = None,
) -> Moved:
    """Move the store in a file to Postgres; the file becomes `….promoted`, or with `keep` a copy."""
    here, there = parse_place(source, tenant), parse_place(target, tenant)
    if not isinstance(here, FilePlace) or not isinstance(there, SchemaPlace):
        raise InvalidInput("promote moves a file to postgres://…; for the other way use demote")
    return _Move(here, there, parse_replica_urls(vectors, graph), keep, progress).run()


def demote(
    source: str,
    target: Path,
    *,
    keep: bool = False,
    tenant: str | None = None,
    vectors: str | None = None,
    graph: str | None = None,
    progress: Progress | None = None,
) -> Moved:
    """Move the store in Postgres into a file; the schema becomes `….demoted`, or with `keep` a copy."""
    here, there = parse_place(source, tenant), parse_place(target, tenant)
    if not isinstance(here, SchemaPlace) or not isinstance(there, FilePlace):
        raise InvalidInput("demote moves postgres://… into a file; for the other way use promote")
    return _Move(here, there, parse_replica_urls(vectors, graph), keep, progress).run()


class FilePlace:
    """A SQLite file that holds a store, or is to hold one."""

    def __init__(self, path: str) -> None:
        self.path = self.shown = os.path.abspath(os.path.expanduser(path))

    def existing(self) -> Database | None:
        """Open the file; None when there is none, or only a note."""
        if not os.path.exists(self.path) or self.moved() is not None:
            return None
        return SqliteDatabase(self.path)

    def moved(self) -> str | None:
        return moved_to(self.path)

    def filling(self) -> Database:
        return SqliteDatabase(f"{self.path}{FILLING}")

    def put_aside(self) -> str:
        aside = free_name(f"{self.path}{PROMOTED}")
        try:
            os.rename(self.path, aside)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be renamed ({error.strerror}); stop the programs that use it,"
                " and try again"
            ) from error
        return aside

    def publish(self, filled: Database, mark: int) -> None:
        """Rename the filled file to this one, which may be an empty store or a note."""
        assert isinstance(filled.mirror, SqliteMirror)
        before = self.existing()
        if before is None:
            filled.mirror.publish(self.path, mark)
            return
        with closing(before), before.write() as db:
            if holds_memories(db):
                raise StoreError(_occupied(self))
            filled.mirror.publish(self.path, mark)


class SchemaPlace:
    """A schema of a Postgres database that holds a store, or is to hold one."""

    def __init__(self, address: ServerAddress, schema: str) -> None:
        self.address = address
        self.schema = schema
        self.shown = address.shown if schema == "scrubjay" else f"{address.shown}#{schema}"

    def existing(self) -> Database | None:
        """Open the schema; None when there is none, or only a note."""
        from scrubjay.storage.postgres.existing import ExistingSchema

        try:
            return ExistingSchema(self.address, schema=self.schema)
        except NotFound:
            return None

    def moved(self) -> str | None:
        from scrubjay.storage.postgres.existing import moved_from

        return moved_from(self.address, self.schema)

    def filling(self) -> Database:
        from scrubjay.storage.postgres.connection import PostgresDatabase

        return PostgresDatabase(self.address, schema=f"{self.schema}{FILLING}")

    def publish(self, filled: Database, mark: int) -> None:
        """Rename the filled schema to this one, which may be an empty store or a note."""
        from scrubjay.storage.postgres.mirror import PostgresMirror

        assert isinstance(filled.mirror, PostgresMirror)
        filled.mirror.publish(self.schema, mark, holds_memories, _occupied(self))


Place = FilePlace | SchemaPlace


def parse_place(path: Path, tenant: str | None = None) -> Place:
    place = os.fspath(path)
    if not place:
        raise InvalidInput("the path of a store is empty; give a file or postgres://…")
    tenant = None if tenant is None else check_tenant(tenant)
    if place == ":memory:":
        raise InvalidInput("a store in memory cannot be moved; give a file or postgres://…")
    if not is_server_url(place):
        return FilePlace(tenant_file(place, tenant))
    return SchemaPlace(parse_server_url(place, POSTGRES, "the store"), tenant_schema(tenant))


def holds_memories(db: Connection) -> bool:
    return any(
        db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None for table in _CONTENTS
    )


def _occupied(place: Place) -> str:
    return f"{place.shown} holds other memories; give an empty place, or another --tenant"


class _Move:
    """One store on its way from one place to another."""

    def __init__(
        self,
        source: Place,
        target: Place,
        replicas: ReplicaAddresses,
        keep: bool,
        progress: Progress | None,
    ) -> None:
        self._source = source
        self._target = target
        self._replicas = replicas
        self._keep = keep
        self._progress = progress

    def run(self) -> Moved:
        ours = self._source.existing()
        if ours is None:
            place = self._source.moved()
            moved = f"; its memories were moved to {place}" if place else ""
            raise NotFound(f"there is no store in {self._source.shown}{moved}")
        with closing(ours):
            done = self._finish_earlier_run(ours) or self._move(ours)
        if not any(self._replicas):
            return done
        counts, failed = self._fill_replicas()
        return done._replace(servers=counts, unfed=failed)

    def _finish_earlier_run(self, ours: Database) -> Moved | None:
        """Switch to a target that is complete: an earlier run was stopped before the switch."""
        theirs = self._target.existing()
        if theirs is None:
            return None
        with closing(theirs):
            with theirs.read() as db:
                if not holds_memories(db):
                    return None
            if _store_id(ours) != _store_id(theirs):
                raise StoreError(_occupied(self._target))
            try:
                with ours.write(), theirs.write():
                    return self._report(*self._compare(ours, theirs), self._retire(ours))
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
            if self._replicas.vectors is None:
                theirs.vectors  # noqa: B018 - a missing pgvector is reported before all the work
            mirror(ours, theirs, mark, self._progress)
            warm(ours)
            if open_files_stay() and isinstance(self._source, FilePlace) and not self._keep:
                return self._switch_closed(ours, theirs, mark, self._source)
            return self._switch(ours, theirs, mark, self._retire)

    def _switch(
        self, ours: Database, theirs: Database, mark: int, retire: Callable[[Database], str | None]
    ) -> Moved:
        """Copy the rest while no one can write, compare, and put the target in place."""
        with ours.write():
            mirror(ours, theirs, mark)
            tables, searches = self._compare(ours, theirs)
            self._target.publish(theirs, mark)
            return self._report(tables, searches, retire(ours))

    def _switch_closed(
        self, ours: Database, theirs: Database, mark: int, source: FilePlace
    ) -> Moved:
        """Do the same where a file can be renamed only while no one has it open, us included."""
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
        """Refuse a half-filled target that was begun with another store."""
        with theirs.read() as db:
            begun = holds_memories(db)
        if begun and _store_id(ours) != _store_id(theirs):
            raise StoreError(
                f"{theirs.path} is left from moving another store to {self._target.shown};"
                " remove it first"
            )

    def _compare(self, ours: Database, theirs: Database) -> tuple[dict[str, Digest], int]:
        tables = same_rows(ours, theirs)
        with_vectors = self._replicas.vectors is None
        return tables, same_searches(ours, theirs, vectors=with_vectors, queries=QUERIES)

    def _retire(self, ours: Database) -> str | None:
        return None if self._keep else ours.mirror.retire(self._target.shown)

    def _report(self, tables: Mapping[str, Digest], searches: int, aside: str | None) -> Moved:
        return Moved(
            self._source.shown,
            self._target.shown,
            tables["memories"].rows,
            len(tables),
            sum(digest.rows for digest in tables.values()),
            searches,
            aside,
        )

    def _fill_replicas(self) -> tuple[dict[str, int], dict[str, str]]:
        """Send everything to the replicas; return their counts, and why some are incomplete."""
        from scrubjay.storage.replicas.worker import ReplicaWorker

        db = self._target.existing()
        assert db is not None
        source, outbox = ReplicaSource(db), Outbox(db)
        with closing(db), _open_replicas(db, self._replicas, outbox.store_id()) as replicas:
            for replica in replicas:
                outbox.attach(replica.kind, replica.place)
            worker = ReplicaWorker(outbox, source, replicas, f"promote {os.getpid()}")
            try:
                report = self._progress
                worker.wait(
                    progress=report and (lambda done, total: report(done, total, "servers"))
                )
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

"""Promote and demote: move a live store from a file to Postgres, or back.

The rows are copied while others read and write. Writers wait only for the last rows, the comparison and
the switch. When anything fails before that, the old store is unchanged, and another run continues.

The target is filled under another name, `….filling`, which no one opens. So no one can write to half a
store, and an interrupted copy is found again. The switch has three steps: the copy is recorded as
complete, the old store is retired, and the copy gets its name. At most one of the two can be written at
any time. A process that is killed between the last two steps leaves a store that the next one to open
it, or another run, puts in place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from shlex import quote
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.ops.promote.compare import QUERIES, Differs, Digest, same_rows, same_searches, warm
from scrubjay.ops.promote.mirror import mirror
from scrubjay.runtime.command_hints import to_type
from scrubjay.storage.database import FILLING, Database
from scrubjay.storage.move_record import MoveRecord, begin
from scrubjay.storage.replicas.outbox import Outbox, Replica, ReplicaSource
from scrubjay.storage.sql.mirror import filled_by, holds_memories, occupied, take
from scrubjay.storage.sqlite.backup import PROMOTED, SqliteMirror, open_files_stay
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.location import (
    NEW_NOTE,
    MoveNote,
    finish_note,
    put_aside,
    read_note,
    sync_folder,
    write_note,
)
from scrubjay.storage.sqlite.unfinished_move import record_of, refuse_unfinished
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

if TYPE_CHECKING:
    from scrubjay.storage.postgres.mirror import PostgresMirror

Path = str | os.PathLike[str]
Progress = Callable[[int, int, str], None]


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
    replicas = parse_replica_urls(vectors, graph)
    again = _command("promote", source, target, tenant)
    return _Move(here, there, again, replicas, keep, progress).run()


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
    replicas = parse_replica_urls(vectors, graph)
    again = _command("demote", source, target, tenant)
    return _Move(here, there, again, replicas, keep, progress).run()


class FilePlace:
    """A SQLite file that holds a store, or is to hold one."""

    def __init__(self, path: str) -> None:
        self.path = self.shown = os.path.abspath(os.path.expanduser(path))

    def existing(self) -> Database | None:
        """Open the file; None when there is none, or only a note."""
        self.release()
        if not os.path.exists(self.path) or not os.path.getsize(self.path):
            return None
        return None if self.note() is not None else SqliteDatabase(self.path)

    def note(self) -> MoveNote | None:
        finish_note(self.path)
        return read_note(self.path)

    def check_no_move(self) -> None:
        refuse_unfinished(self.path)

    def filling(self) -> Database:
        return SqliteDatabase(f"{self.path}{FILLING}")

    def record(self) -> MoveRecord | None:
        return record_of(f"{self.path}{FILLING}")

    def complete(self, filled: Database, mark: int, report: str) -> None:
        _file_mirror(filled).complete(self.path, mark, report)

    def publish(self, filled: Database, mark: int, *, kept: bool = False) -> None:
        """Rename the filled file to this one, which may be an empty store or a note."""
        _file_mirror(filled).publish(self.path, mark, kept=kept)

    def hold(self, aside: str) -> None:
        """Put the file aside before it is retired; the note in its place says where it is."""
        put_aside(self.path, aside, MoveNote(aside))

    def release(self) -> None:
        """Undo `hold`, here or after its process was killed; a file that was retired stays aside."""
        note = self.note()
        if note is None or note.mark is not None or not os.path.isfile(note.place):
            return
        if note.place.startswith(f"{self.path}{PROMOTED}"):
            try:
                os.replace(note.place, self.path)
            except OSError as error:
                raise StoreError(
                    f"{note.place} cannot be renamed back to {self.path} ({error.strerror}); stop the"
                    " programs that use it, and try again"
                ) from error

    def retire_held(self, note: MoveNote) -> None:
        """Retire a file that is held: from now on the note names the new store."""
        new = f"{self.path}{NEW_NOTE}"
        try:
            write_note(new, note)
            os.replace(new, self.path)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be replaced ({error.strerror}), and nothing has changed; stop"
                " the programs that use it, and try again"
            ) from error
        sync_folder(self.path)


def _file_mirror(db: Database) -> SqliteMirror:
    assert isinstance(db.mirror, SqliteMirror)
    return db.mirror


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

    def note(self) -> MoveNote | None:
        from scrubjay.storage.postgres.existing import move_note_of

        return move_note_of(self.address, self.schema)

    def check_no_move(self) -> None:
        from scrubjay.storage.postgres.existing import check_no_move

        check_no_move(self.address, self.schema)

    def filling(self) -> Database:
        from scrubjay.storage.postgres.connection import PostgresDatabase

        return PostgresDatabase(self.address, schema=f"{self.schema}{FILLING}")

    def record(self) -> MoveRecord | None:
        from scrubjay.storage.postgres.existing import record_beside

        return record_beside(self.address, self.schema)

    def complete(self, filled: Database, mark: int, report: str) -> None:
        _schema_mirror(filled).complete(self.schema, mark, report, self.shown)

    def publish(self, filled: Database, mark: int, *, kept: bool = False) -> None:
        """Rename the filled schema to this one, which may be an empty store or a note."""
        _schema_mirror(filled).publish(self.schema, mark, self.shown, kept=kept)


def _schema_mirror(db: Database) -> PostgresMirror:
    from scrubjay.storage.postgres.mirror import PostgresMirror

    assert isinstance(db.mirror, PostgresMirror)
    return db.mirror


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


def _command(verb: str, source: Path, target: Path, tenant: str | None) -> str:
    """Return what to type to run a move again, without passwords and without its replicas."""
    command = f"{to_type(verb, _typed(source))} --to {quote(_typed(target))}"
    return command if tenant is None else f"{command} --tenant {tenant}"


def _typed(place: Path) -> str:
    given = os.fspath(place)
    if is_server_url(given):
        return parse_server_url(given, POSTGRES, "the store").shown
    return os.path.abspath(os.path.expanduser(given))


class _Move:
    """One store on its way from one place to another; `command` runs the move again."""

    def __init__(
        self,
        source: Place,
        target: Place,
        command: str,
        replicas: ReplicaAddresses,
        keep: bool,
        progress: Progress | None,
    ) -> None:
        self._source = source
        self._target = target
        self._command = command
        self._replicas = replicas
        self._keep = keep
        self._progress = progress

    def run(self) -> Moved:
        ours = self._source.existing()
        if ours is None:
            done = self._finish_switch()
        else:
            with closing(ours):
                done = self._finish_earlier_run(ours) or self._move(ours)
        if not any(self._replicas):
            return done
        counts, failed = self._fill_replicas()
        return done._replace(servers=counts, unfed=failed)

    def _finish_switch(self) -> Moved:
        """Put the copy of a retired source in place: an earlier run was stopped in between."""
        note = self._source.note()
        record = self._target.record() if note and note.mark else None
        if note is None or record is None or record.mark != note.mark or not record.complete:
            self._source.check_no_move()
            moved = f"; its memories were moved to {note.place}" if note else ""
            raise NotFound(f"there is no store in {self._source.shown}{moved}")
        with closing(self._target.filling()) as theirs:
            self._publish(theirs, record.mark)
        return Moved(**json.loads(record.report))

    def _finish_earlier_run(self, ours: Database) -> Moved | None:
        """Switch to a target that has its name already.

        Earlier versions named it before they retired the source. If only the source was written since,
        the target is made the same again.
        """
        theirs = self._target.existing()
        if theirs is None:
            return None
        with closing(theirs):
            with theirs.read() as db:
                if not holds_memories(db):
                    return None
            if _store_id(ours) != _store_id(theirs):
                raise StoreError(occupied(self._target.shown))
            with ours.write():
                with theirs.write():
                    self._catch_up(ours, theirs)
                    tables, searches = self._compare(ours, theirs)
                done = self._report(tables, searches, None)
                if not self._keep:
                    done = done._replace(aside=ours.mirror.free_name())
                    assert done.aside is not None
                    ours.mirror.retire(self._target.shown, _new_mark(), done.aside)
            return done

    def _catch_up(self, ours: Database, theirs: Database) -> None:
        try:
            same_rows(ours, theirs)
        except Differs as error:
            if self._keep or not theirs.mirror.unchanged():
                raise StoreError(
                    f"{self._target.shown} holds this store already, and both were used since"
                    f" ({error}); keep using one of them, and put the other aside"
                ) from error
            mark = _new_mark()
            take(theirs, mark)
            mirror(ours, theirs, mark)
            theirs.mirror.note_caught_up()

    def _move(self, ours: Database) -> Moved:
        record = MoveRecord(_new_mark(), self._source.shown, self._command)
        self._refuse_complete_copy()
        with closing(self._target.filling()) as theirs:
            self._refuse_other(ours, theirs)
            # No other run can be between its last steps while we can write to the source.
            with ours.write():
                _store_id(ours)  # fails if the source was retired meanwhile
                begin(theirs, record)
            if self._replicas.vectors is None:
                theirs.vectors  # noqa: B018 - a missing pgvector is reported before all the work
            mirror(ours, theirs, record.mark, self._progress)
            warm(ours)
            if open_files_stay() and isinstance(self._source, FilePlace) and not self._keep:
                return self._switch_closed(ours, theirs, record.mark, self._source)
            return self._switch(ours, theirs, record.mark)

    def _switch(self, ours: Database, theirs: Database, mark: int) -> Moved:
        """Copy the rest while no one can write, compare, retire the source, put the target in place."""
        with ours.write():
            mirror(ours, theirs, mark)
            done = self._report(*self._compare(ours, theirs), None)
            if self._keep:
                self._target.publish(theirs, mark, kept=True)
                return done
            aside = ours.mirror.free_name()
            done = done._replace(aside=aside)
            self._target.complete(theirs, mark, _as_json(done))
            ours.mirror.retire(self._target.shown, mark, aside)
        self._publish(theirs, mark)
        return done

    def _switch_closed(
        self, ours: Database, theirs: Database, mark: int, source: FilePlace
    ) -> Moved:
        """Do the same where a file can be renamed only while no one has it open, us included."""
        aside = ours.mirror.free_name()
        ours.close()
        source.hold(aside)
        try:
            with closing(SqliteDatabase(aside)) as held, held.write():
                mirror(held, theirs, mark)
                done = self._report(*self._compare(held, theirs), aside)
                self._target.complete(theirs, mark, _as_json(done))
                source.retire_held(MoveNote(self._target.shown, mark))
        except BaseException:
            source.release()
            raise
        self._publish(theirs, mark)
        return done

    def _publish(self, theirs: Database, mark: int) -> None:
        """Give the copy of a retired source its name, unless a process that opened it was faster."""
        try:
            self._target.publish(theirs, mark)
        except StoreError as error:
            if not self._is_published(mark):
                raise StoreError(
                    f"{error}; {self._source.shown} was moved but for its last step: finish it with:"
                    f" {self._command}"
                ) from error

    def _is_published(self, mark: int) -> bool:
        published = self._target.existing()
        if published is None:
            return False
        with closing(published), published.read() as db:
            return filled_by(db) == mark

    def _refuse_complete_copy(self) -> None:
        """Refuse to fill a copy that is complete from elsewhere: it may be a store already."""
        record = self._target.record()
        if record is not None and record.complete and record.source != self._source.shown:
            self._target.check_no_move()

    def _refuse_other(self, ours: Database, theirs: Database) -> None:
        """Refuse a half-filled target that was begun with another store."""
        with theirs.read() as db:
            begun = holds_memories(db)
        if begun and _store_id(ours) != _store_id(theirs):
            self._target.check_no_move()  # explains better, if it can
            raise StoreError(
                f"{theirs.path} is left from moving another store to {self._target.shown};"
                " remove it first"
            )

    def _compare(self, ours: Database, theirs: Database) -> tuple[dict[str, Digest], int]:
        tables = same_rows(ours, theirs)
        with_vectors = self._replicas.vectors is None
        return tables, same_searches(ours, theirs, vectors=with_vectors, queries=QUERIES)

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


def _new_mark() -> int:
    return int.from_bytes(os.urandom(7))


def _as_json(done: Moved) -> str:
    return json.dumps({**done._asdict(), "servers": {}, "unfed": {}})


def _store_id(db: Database) -> bytes:
    with db.read() as connection:
        row = connection.execute("SELECT key FROM keys WHERE name = 'store'").fetchone()
    return bytes(row[0]) if row else b""

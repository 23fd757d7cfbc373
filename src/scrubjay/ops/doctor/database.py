"""Check the database, the tiers and the replicas."""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.config import Settings, TierSetting
from scrubjay.errors import MissingExtra, ScrubjayError, StoreError
from scrubjay.ops.doctor import Finding
from scrubjay.ops.doctor.installation import pip_install
from scrubjay.runtime.command_hints import ADD, to_embed, to_make, to_type
from scrubjay.storage.codec import readable
from scrubjay.storage.schema import APPLICATION_ID, SCHEMA_VERSION
from scrubjay.storage.sqlite.backup import leftovers
from scrubjay.storage.sqlite.location import (
    check_path,
    is_read_only,
    is_small,
    moved_away,
    moved_to,
    same_file,
)
from scrubjay.storage.sqlite.log_chain import check_log, has_log
from scrubjay.text.urls import (
    FALKORDB,
    POSTGRES,
    QDRANT,
    ServerAddress,
    ServerKind,
    is_server_url,
    parse_server_url,
    tenant_file,
    tenant_schema,
)

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.types.reports import ServerState

UNREAD = "unread files"
_MOST_NAMED = 5


class _Reader(sqlite3.Connection):
    """A connection that reports a list of tables which it cannot decode as damage, like any other."""

    def execute(self, statement: str, arguments: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(statement, arguments)
        except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message
            raise sqlite3.DatabaseError("malformed database schema") from error


def check_database(settings: Settings) -> Iterator[Finding]:
    path, given = settings.db, settings.db_given
    if path == ":memory:":
        yield Finding("store", "ok", f"{path} (no file to check)")
        return
    if is_server_url(path):
        found = check_postgres(partial(_schema_place, path, settings.tenant))
        yield found
        if found.state == "ok" and is_current(path, settings.tenant):
            yield _rows(partial(open_schema, path, settings.tenant), path)
        return
    file = Path(tenant_file(path, settings.tenant))
    if moved := _why_moved(str(file)):
        yield Finding("store", "failed", moved)
        return
    if not file.exists():
        # The folder of a database that the settings name is created with it.
        make = to_type(ADD) if given is None else to_make(given)
        yield Finding("store", "missing", f"there is no file {file} yet", make)
        return
    if not file.is_file():
        yield Finding("store", "failed", f"{file} is not a file; give one with --db")
        return
    try:
        check_path(str(file))
        check_log(str(file))
    except StoreError as error:
        yield Finding("store", "failed", str(error))
        return
    yield from _check_leftovers(file)
    try:
        with closing(_read_only(file)) as db:
            yield from _contents(db, file, settings.embedder, given)
    except sqlite3.Error as error:
        yield Finding("store", "failed", f"{file} cannot be opened as a database: {error}")


def _why_moved(path: str) -> str:
    """Return where the store of a file was moved, or that it is being moved there; "" otherwise."""
    from scrubjay.storage.sqlite.unfinished_move import refuse_unfinished

    try:
        refuse_unfinished(path)
    except StoreError as error:
        return str(error)
    place = moved_to(path)
    return "" if place is None else moved_away(path, place)


def _check_leftovers(file: Path) -> Iterator[Finding]:
    """Report what killed backups and restores have left in the folder of the database."""
    for left in leftovers(str(file.parent)):
        detail = f"{left} is the rest of a backup or restore that was interrupted"
        fix = f"{'del' if os.name == 'nt' else 'rm'} {shlex.quote(left)}"
        yield Finding("leftovers", "degraded", detail, fix)


def check_tiers(settings: Settings) -> Iterator[Finding]:
    for tier in settings.tiers:
        if not same_file(tier.path, settings.db):
            yield from _tier(tier, settings)


def check_postgres(place: Callable[[], tuple[ServerAddress, str]]) -> Finding:
    """Check the schema of a Postgres database; nothing is created. `place` may raise for a bad URL."""

    def check() -> Finding:
        from scrubjay.storage.postgres.existing import check_not_moved, server_info

        address, schema = place()
        found = server_info(address, schema)
        versions = f"PostgreSQL {found.version}, pgvector {found.pgvector or 'not installed'}"
        if found.schema is None:
            check_not_moved(address, schema)
            return Finding(
                "store", "missing", f"{address.shown}: {versions}; nothing is stored yet"
            )
        return Finding("store", "ok", f"{address.shown}, schema {found.schema}: {versions}")

    return _caught("store", check)


def check_replicas(settings: Settings) -> Iterator[Finding]:
    """Check that Qdrant and FalkorDB answer, where the settings name them and they are in use."""
    dropped = _dropped_places(settings)
    for name, url, kind in (
        ("vectors", settings.vectors, QDRANT),
        ("graph", settings.graph, FALKORDB),
    ):
        if url is not None:
            yield _caught(f"{name} server", partial(_ping, name, url, kind, dropped.get(name)))


def _dropped_places(settings: Settings) -> dict[str, str]:
    """Return the addresses of replicas that were dropped from the file; other checks report a bad one."""
    file = Path(tenant_file(settings.db, settings.tenant))
    if is_server_url(settings.db) or not file.is_file() or is_small(str(file)):
        return {}
    try:
        with closing(_read_only(file)) as db:
            rows = db.execute("SELECT name, key FROM keys WHERE name LIKE 'dropped %'").fetchall()
    except sqlite3.Error:
        return {}
    return dict(readable(lambda row: (row[0].partition(" ")[2], bytes(row[1]).decode()), rows))


def _dropped(name: str, place: str) -> Finding:
    detail = f"{place} was dropped: it gets no changes, and the database searches in its place"
    return Finding(f"{name} server", "degraded", detail, f"scrubjay reindex {name}")


def _ping(name: str, url: str, kind: ServerKind, dropped: str | None) -> Finding:
    address = parse_server_url(url, kind, name)
    if address.shown == dropped:
        return _dropped(name, dropped)
    server: QdrantServer | FalkorServer
    if kind == QDRANT:
        from scrubjay.storage.qdrant.client import QdrantServer

        server = QdrantServer(address)
    else:
        from scrubjay.storage.falkordb.client import FalkorServer

        server = FalkorServer(address, "")
    with closing(server):
        server.ping()
    return Finding(f"{name} server", "ok", f"{address.shown} answers")


def replica_findings(states: Sequence[ServerState]) -> Iterator[Finding]:
    for state in states:
        name = f"{state.tier} server"
        if state.dropped:
            yield _dropped(state.tier, state.place)
        elif state.reason:
            yield Finding(name, "failed", state.reason)
        elif state.behind:
            detail = f"{state.place} is {state.behind:,} changes behind"
            yield Finding(name, "degraded", detail)
        else:
            yield Finding(name, "ok", f"{state.place} is up to date")


def _caught(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except ScrubjayError as error:
        fix = error.command if isinstance(error, MissingExtra) else ""
        return Finding(name, "failed", str(error), fix)


def _tier(setting: TierSetting, settings: Settings) -> Iterator[Finding]:
    name, file = f"tier {setting.name}", Path(setting.path)
    if not file.exists():
        detail = f"there is no file {file}: nothing is found there"
        fix = f"correct its path in {settings.config_file}, or create it: {to_make(setting.path)}"
        yield Finding(name, "missing", detail, fix)
        return
    unsearchable = _why_unsearchable(setting.path)
    try:
        with closing(_read_only(file)) as db:
            integrity = _integrity(db, file)
            vectors = None if unsearchable else _pending(db, settings.embedder, setting.path)
    except sqlite3.Error as error:
        integrity, vectors = _damaged(file, str(error)), None
        if unsearchable and "malformed" not in str(error):  # not a database, or locked
            yield Finding(name, "failed", unsearchable)
            return
    if integrity.state != "ok":
        yield Finding(name, integrity.state, integrity.detail, integrity.fix)
    elif unsearchable:  # with the words of a search, which say what to do
        yield Finding(name, "failed", unsearchable)
    else:
        yield Finding(name, "ok", _described(file, SCHEMA_VERSION))
    if vectors and vectors.state != "ok":
        yield Finding(name, vectors.state, f"vectors: {vectors.detail}", vectors.fix)


def _why_unsearchable(path: str) -> str:
    """Return why a search cannot use the file of a tier; "" where it can."""
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.topics import SqlTopics
    from scrubjay.storage.sqlite.existing import ExistingDatabase, outdated

    try:
        with closing(ExistingDatabase(path)) as db:
            if not SqlRecords(db).is_current() or not SqlTopics(db, db.vectors).is_current():
                return outdated(path)
            db.ping()
    except StoreError as error:
        return str(error)
    return ""


def _read_only(file: Path) -> sqlite3.Connection:
    # In a folder that cannot be written, SQLite cannot create a log to read with.
    frozen = is_read_only(str(file)) and not has_log(str(file))
    mode = "mode=ro&immutable=1" if frozen else "mode=ro"
    return sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True, factory=_Reader)


def _contents(
    db: sqlite3.Connection, file: Path, model: str, given: str | None
) -> Iterator[Finding]:
    schema = _pragma(db, "user_version")
    if _pragma(db, "application_id") != APPLICATION_ID:
        detail = f"{file} belongs to another program; give another file with --db or SCRUBJAY_DB"
        yield Finding("store", "failed", detail)
        return
    if isinstance(schema, int) and schema > SCHEMA_VERSION:
        detail = f"{file} has schema {schema}, this scrubjay supports up to {SCHEMA_VERSION}"
        yield Finding("store", "failed", detail, pip_install("--upgrade", "scrubjay"))
        return
    yield Finding("store", "ok", _described(file, schema))
    integrity = _integrity(db, file)
    yield integrity
    if integrity.state == "ok" and schema == SCHEMA_VERSION:
        yield _rows(partial(open_file, file), str(file))
    yield _writable(file)
    own = _chosen(db, "main")
    yield _pending(db, own or model, given)
    yield from _choice(own, model, _chosen(db, "next"))
    yield from _unread(db, given)


def _described(file: Path, schema: object) -> str:
    size = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*") if part.is_file())
    return f"{file}, schema {schema}, {size:,} bytes"


def _pragma(db: sqlite3.Connection, name: str) -> object:
    return db.execute(f"PRAGMA {name}").fetchone()[0]


def _integrity(db: sqlite3.Connection, file: Path) -> Finding:
    result = str(_pragma(db, "quick_check"))
    if result == "ok":
        return Finding("integrity", "ok", "quick_check found no errors")
    return _damaged(file, result)


def open_file(file: Path) -> Database:
    from scrubjay.storage.sqlite.existing import ExistingDatabase

    return ExistingDatabase(str(file))


def _schema_place(url: str, tenant: str | None) -> tuple[ServerAddress, str]:
    return parse_server_url(url, POSTGRES, "the store"), tenant_schema(tenant)


def is_current(url: str, tenant: str | None) -> bool:
    """True when opening the schema would not migrate it."""
    from scrubjay.storage.postgres.existing import server_info

    return server_info(*_schema_place(url, tenant)).schema == SCHEMA_VERSION


def open_schema(url: str, tenant: str | None) -> Database:
    from scrubjay.storage.postgres.existing import ExistingSchema

    address, schema = _schema_place(url, tenant)
    return ExistingSchema(address, schema=schema)


def _rows(opened: Callable[[], Database], place: str) -> Finding:
    """Decode every memory and every vector."""
    from scrubjay.ops.repair.verify import damaged_rows

    try:
        with closing(opened()) as db:
            found = damaged_rows(db)
    except ScrubjayError as error:
        return Finding("rows", "failed", str(error))
    except ImportError as error:  # vectors are read with numpy
        detail = f"not checked: a package does not load ({error})"
        package = (error.name or "numpy").partition(".")[0]
        return Finding("rows", "missing", detail, pip_install(package))
    if not found:
        return Finding("rows", "ok", "every memory and every vector can be read")
    named = "; ".join(
        f"{problem.check}: {problem.count:,} {problem.detail}"
        + (f" ({', '.join(problem.ids[:_MOST_NAMED])})" if problem.ids else "")
        for problem in found
    )
    return Finding("rows", "failed", named, to_type("doctor --repair", place))


def _damaged(file: Path, error: str) -> Finding:
    fix = to_type("doctor --repair", str(file))
    return Finding("integrity", "failed", f"{file} is damaged: {error.splitlines()[0]}", fix)


def _writable(file: Path) -> Finding:
    for place in (file, file.parent):
        if not os.access(place, os.W_OK):
            fix = "" if os.name == "nt" else f"chmod u+w {shlex.quote(str(place))}"
            return Finding("writing", "failed", f"{place} is not writable", fix)
    return Finding("writing", "ok", "the file and its folder are writable")


def _chosen(db: sqlite3.Connection, role: str) -> str:
    """Return the model that the store has chosen, or the one it changes to; "" for none."""
    try:
        row = db.execute(
            "SELECT name FROM models WHERE role = ? AND spec <> ''", (role,)
        ).fetchone()
    except sqlite3.OperationalError:  # an older schema, migrated when it is opened
        return ""
    return "" if row is None else str(row[0])


def _choice(own: str, model: str, coming: str) -> Iterator[Finding]:
    """Report a model that the store itself has chosen, and a change that is under way."""
    if own and own != model:
        detail = f"the store has chosen {own}; the settings name {model}, which is not used"
        yield Finding("choice", "ok", detail)
    if coming:
        detail = f"the index of {coming} is being built; until it is complete the old one answers"
        yield Finding("choice", "ok", detail)


def _pending(db: sqlite3.Connection, model: str, given: str | None) -> Finding:
    try:
        count = db.execute(
            "SELECT (SELECT count(*) FROM chunks) - (SELECT count(*) FROM vectors"
            " JOIN models ON models.n = vectors.model"
            " WHERE models.name = ?1 OR models.name LIKE ?1 || '/%')",
            (model,),
        ).fetchone()[0]
    except sqlite3.OperationalError as error:  # an older schema, migrated when it is opened
        detail = f"cannot be counted: {error}"
        return Finding("vectors", "degraded", detail, to_type("status", given))
    if not count:
        return Finding("vectors", "ok", "none is pending")
    from scrubjay.models.download.pull import is_cached
    from scrubjay.models.registry import CARDS

    card = CARDS.get(model.partition("/")[0])
    fix = to_embed(given, model_is_here=card is None or is_cached(card))
    detail = f"{'1 is' if count == 1 else f'{count:,} are'} pending: found by keyword and by static vectors"
    return Finding("vectors", "degraded", detail, fix)


def _unread(db: sqlite3.Connection, given: str | None) -> Iterator[Finding]:
    try:
        count = db.execute("SELECT count(*) FROM left_out WHERE state = 'failed'").fetchone()[0]
    except sqlite3.OperationalError:  # an older schema, migrated when it is opened
        return
    yield from unread_files(count, given)


def unread_files(count: int, db: str | None) -> Iterator[Finding]:
    """Report the files that `ingest` could not read, if there are any."""
    if count:
        detail = f"{'1 file' if count == 1 else f'{count:,} files'} could not be read"
        yield Finding(UNREAD, "degraded", detail, to_type("ls --coverage --state failed", db))

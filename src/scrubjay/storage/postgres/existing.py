"""An existing store in Postgres, and checks of a server that create nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from scrubjay.errors import NotFound, StoreError
from scrubjay.storage.database import FILLING
from scrubjay.storage.move_record import MoveRecord
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.postgres.login import Login
from scrubjay.storage.postgres.session import Session
from scrubjay.storage.postgres.unfinished_move import record_of, refuse_unfinished
from scrubjay.storage.sqlite.location import MoveNote, moved_away
from scrubjay.text.urls import TENANT_SCHEMA_PREFIX, ServerAddress

_MAX_SHOWN = 10


class ExistingSchema(PostgresDatabase):
    """A schema that holds a store; NotFound when it does not."""

    def _prepare(self, session: Session) -> None:
        if not self.login.schema_version(session):
            self._finish_move(session)
        if not self.login.schema_version(session):
            raise NotFound(f"there is no store in {self.path}")
        super()._prepare(session)


class ServerInfo(NamedTuple):
    """Versions of a server, of pgvector, and of the store's tables if any."""

    version: str
    pgvector: str | None
    schema: int | None


@contextmanager
def _login(address: ServerAddress, schema: str) -> Iterator[tuple[Login, Session]]:
    login = Login(address, schema)
    with login.connected() as connection:
        login.check_version(connection)
        yield login, Session(connection)


def server_info(address: ServerAddress, schema: str) -> ServerInfo:
    with _login(address, schema) as (login, session):
        row = session.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        (pgvector,) = row.fetchone() or (None,)
        (version,) = session.execute("SHOW server_version").fetchone()
        return ServerInfo(version.split()[0], pgvector, login.schema_version(session) or None)


def move_note_of(address: ServerAddress, schema: str) -> MoveNote | None:
    with _login(address, schema) as (login, session):
        return login.move_note(session)


def record_beside(address: ServerAddress, schema: str) -> MoveRecord | None:
    """Read the record of the copy that is filled to become a schema."""
    with _login(address, schema) as (_, session):
        return record_of(session, f"{schema}{FILLING}")


def check_no_move(address: ServerAddress, schema: str) -> None:
    """Refuse a schema beside which a copy is unfinished."""
    with _login(address, schema) as (login, session):
        moved = login.move_note(session) is not None
        refuse_unfinished(session, schema, login.shown, moved=moved)


def check_not_moved(address: ServerAddress, schema: str) -> None:
    """Refuse a schema whose store was moved away, or is being moved there."""
    check_no_move(address, schema)
    with _login(address, schema) as (login, session):
        note = login.move_note(session)
    if note is not None:
        raise StoreError(moved_away(login.shown, note.place))


def require_store(address: ServerAddress, schema: str) -> None:
    """Raise NotFound, with the names of tenants, when a schema has no store and no moved one."""
    with _login(address, schema) as (login, session):
        if login.schema_version(session) or login.move_note(session) is not None:
            return
        if record_of(session, f"{schema}{FILLING}") is not None:
            return  # opening it finishes the move, or explains
        rows = session.execute(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, ?)"
            " AND strpos(nspname, '.') = 0 ORDER BY nspname",
            (TENANT_SCHEMA_PREFIX,),
        ).fetchall()
    tenants = [name.removeprefix(TENANT_SCHEMA_PREFIX) for (name,) in rows]
    raise NotFound(
        f"nothing is stored yet: there is no store in {login.shown}"
        f"{_tenants_note(schema, tenants)}; `scrubjay add` creates it"
    )


def _tenants_note(schema: str, tenants: list[str]) -> str:
    """Return the names of tenants, the most similar first."""
    if not tenants:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(schema.removeprefix(TENANT_SCHEMA_PREFIX), tenants, _MAX_SHOWN)
    shown = [*near, *(tenant for tenant in tenants if tenant not in near)]
    more = " …" if len(shown) > _MAX_SHOWN else ""
    return f"; tenants are: {', '.join(shown[:_MAX_SHOWN])}{more}"

"""A store in Postgres that is there already, opened as it is; and a look at a server that makes nothing."""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.errors import NotFound
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.postgres.login import Login
from scrubjay.storage.postgres.session import Session
from scrubjay.text.urls import TENANT_SCHEMA_PREFIX, ServerAddress

_MOST_SHOWN = 10


class ExistingSchema(PostgresDatabase):
    """A schema that holds a store; NotFound where it does not."""

    def _prepare(self, session: Session) -> None:
        if not self.login.schema_version(session):
            raise NotFound(f"there is no store in {self.path}")
        super()._prepare(session)


class Found(NamedTuple):
    """What a look at a server shows: its version, that of pgvector, and of the store's tables if any."""

    version: str
    pgvector: str | None
    schema: int | None


def found_in(address: ServerAddress, schema: str) -> Found:
    """Look at a server; StoreError says why that was not possible."""
    login = Login(address, schema)
    with login.connected() as connection:
        login.check_version(connection)
        session = Session(connection)
        row = session.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        (pgvector,) = row.fetchone() or (None,)
        (version,) = session.execute("SHOW server_version").fetchone()
        return Found(version.split()[0], pgvector, login.schema_version(session) or None)


def moved_from(address: ServerAddress, schema: str) -> str | None:
    """Return where the store went that was in a schema; None where none went away."""
    login = Login(address, schema)
    with login.connected() as connection:
        login.check_version(connection)
        return login.moved_to(Session(connection))


def look_for(address: ServerAddress, schema: str) -> None:
    """NotFound where no store is in a schema, and none was moved from it; it names those of tenants."""
    login = Login(address, schema)
    with login.connected() as connection:
        login.check_version(connection)
        session = Session(connection)
        if login.schema_version(session) or login.moved_to(session) is not None:
            return
        rows = session.execute(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, ?)"
            " AND strpos(nspname, '.') = 0 ORDER BY nspname",
            (TENANT_SCHEMA_PREFIX,),
        ).fetchall()
    tenants = [name.removeprefix(TENANT_SCHEMA_PREFIX) for (name,) in rows]
    raise NotFound(
        f"nothing is stored yet: there is no store in {login.shown}"
        f"{_meant(schema, tenants)}; `scrubjay add` makes it"
    )


def _meant(schema: str, tenants: list[str]) -> str:
    """Say which tenants there are, the nearest first."""
    if not tenants:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(schema.removeprefix(TENANT_SCHEMA_PREFIX), tenants, _MOST_SHOWN)
    shown = [*near, *(one for one in tenants if one not in near)]
    more = " …" if len(shown) > _MOST_SHOWN else ""
    return f"; tenants are: {', '.join(shown[:_MOST_SHOWN])}{more}"

"""Where a store is, or is to be: a file, or a schema of Postgres. It comes to its place only when whole.

A store is filled under another name first, `….filling`, which nobody opens. So nobody can write to half
a store, and what was cut short is found there again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.storage.database import Connection, Database
from scrubjay.storage.sqlite.location import moved_to
from scrubjay.text.urls import check_tenant, is_server_url, tenant_file, tenant_schema

if TYPE_CHECKING:
    from scrubjay.text.urls import ServerAddress

FILLING = ".filling"
# A store without any of these holds nothing that anybody would miss.
_CONTENTS = ("memories", "collections", "folders", "feedback", "access")


class Place(Protocol):
    """Where a store is, or is to be."""

    @property
    def shown(self) -> str:
        """How a person names it, without a password."""
        ...

    def existing(self) -> Database | None:
        """Open the store that is there; None where there is none, or where it was moved away."""
        ...

    def moved(self) -> str | None:
        """Return where the store that was here has gone; None where none has."""
        ...

    def filling(self) -> Database:
        """Open what is filled to come here, or begin it."""
        ...

    def publish(self, filled: Database, mark: int) -> None:
        """Put what was filled, and carries our mark, in its place, unless there are memories."""
        ...


def place_of(named: str | os.PathLike[str], tenant: str | None = None) -> Place:
    """Return the place that a path or a URL names, for a tenant where one is given."""
    place = os.fspath(named)
    if not place:
        raise InvalidInput("the place of a store is empty; give a file or postgres://…")
    tenant = None if tenant is None else check_tenant(tenant)
    if place == ":memory:":
        raise InvalidInput("a store in memory cannot be moved; give a file or postgres://…")
    if not is_server_url(place):
        return FilePlace(tenant_file(place, tenant))
    from scrubjay.text.urls import POSTGRES, parse_server_url

    schema = tenant_schema(tenant)
    return SchemaPlace(parse_server_url(place, POSTGRES, "the store"), schema)


class FilePlace:
    """A SQLite file."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))

    @property
    def shown(self) -> str:
        """The path of the file."""
        return self.path

    def existing(self) -> Database | None:
        """Open the file that is there; None where there is none, or only a note."""
        if not os.path.exists(self.path) or self.moved() is not None:
            return None
        from scrubjay.storage.sqlite.connection import SqliteDatabase

        return SqliteDatabase(self.path)

    def moved(self) -> str | None:
        """Return where the memories of the file were moved."""
        return moved_to(self.path)

    def filling(self) -> Database:
        """Open the file beside it that is filled."""
        from scrubjay.storage.sqlite.connection import SqliteDatabase

        return SqliteDatabase(f"{self.path}{FILLING}")

    def put_aside(self) -> str:
        """Rename the file, which nobody has open; return its new name."""
        from scrubjay.storage.sqlite.backup import PROMOTED, free_name

        aside = free_name(f"{self.path}{PROMOTED}")
        try:
            os.rename(self.path, aside)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be renamed ({error.strerror}); stop what uses it, and try again"
            ) from error
        return aside

    def publish(self, filled: Database, mark: int) -> None:
        """Rename what was filled; what is in its place may be an empty store, or a note."""
        from scrubjay.storage.sqlite.backup import SqliteMirror

        assert isinstance(filled.mirror, SqliteMirror)
        before = self.existing()
        if before is None:
            filled.mirror.publish(self.path, mark)
            return
        try:
            with before.write() as db:
                if holds_memories(db):
                    raise StoreError(in_the_way(self))
                filled.mirror.publish(self.path, mark)
        finally:
            before.close()


class SchemaPlace:
    """A schema of a Postgres database."""

    def __init__(self, address: ServerAddress, schema: str) -> None:
        self.address = address
        self.schema = schema

    @property
    def shown(self) -> str:
        """The URL without its password, and the schema where it is not the usual one."""
        usual = self.schema == "scrubjay"
        return self.address.shown if usual else f"{self.address.shown}#{self.schema}"

    def existing(self) -> Database | None:
        """Open the schema that is there; None where there is none, or only a note."""
        from scrubjay.storage.postgres.existing import ExistingSchema

        try:
            return ExistingSchema(self.address, schema=self.schema)
        except NotFound:
            return None

    def moved(self) -> str | None:
        """Return where the memories of the schema were moved."""
        from scrubjay.storage.postgres.existing import moved_from

        return moved_from(self.address, self.schema)

    def filling(self) -> Database:
        """Open the schema beside it that is filled."""
        from scrubjay.storage.postgres.connection import PostgresDatabase

        return PostgresDatabase(self.address, schema=f"{self.schema}{FILLING}")

    def publish(self, filled: Database, mark: int) -> None:
        """Rename what was filled; what is in its place may be an empty store, or a note."""
        from scrubjay.storage.postgres.mirror import PostgresMirror

        assert isinstance(filled.mirror, PostgresMirror)
        filled.mirror.publish(self.schema, mark, holds_memories, in_the_way(self))


def holds_memories(db: Connection) -> bool:
    """True when a store holds anything that somebody put there."""
    return any(
        db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None for table in _CONTENTS
    )


def in_the_way(place: Place) -> str:
    """Say that a place is taken."""
    return f"{place.shown} holds other memories; name a place that is empty, or another --tenant"

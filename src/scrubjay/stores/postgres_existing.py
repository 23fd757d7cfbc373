"""A store in Postgres that is there already: opened as it is, and never made."""

from __future__ import annotations

from scrubjay.errors import NotFound
from scrubjay.stores.addresses import Address
from scrubjay.stores.postgres import PostgresDatabase, moved_note
from scrubjay.stores.postgres_session import Session


class ExistingSchema(PostgresDatabase):
    """A schema that holds a store; NotFound where it does not."""

    def _prepare(self, session: Session) -> None:
        if not self._version(session):
            raise NotFound(f"there is no store in {self.path}")
        super()._prepare(session)


def moved_from(address: Address, schema: str) -> str | None:
    """Return where the store went that was in a schema; None where none went away."""
    look = _Look(address, schema=schema)
    look.close()
    return look.found


class _Look(PostgresDatabase):
    """Looks for a note, and makes nothing."""

    found: str | None = None

    def _prepare(self, session: Session) -> None:
        self.found = moved_note(session, self.schema)

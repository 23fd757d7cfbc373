"""What Postgres says, in a sentence that names the server and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, ScrubjayError, StoreError

if TYPE_CHECKING:
    import psycopg

    from scrubjay.text.urls import ServerAddress


def explained(
    address: ServerAddress, schema: str, error: psycopg.Error, waited_s: float
) -> ScrubjayError:
    """Return the error that a caller sees in place of the client's."""
    from psycopg import errors

    here, said = address.shown, _said(address, error)
    if isinstance(error, errors.LockNotAvailable):
        return StoreError(f"{here}: another process has been writing for {waited_s:.0f} s")
    if isinstance(error, errors.QueryCanceled):
        return StoreError(f"{here} took too long and was stopped ({said}); try again")
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreError(
            f"{here}: the user has not the rights for this ({said}); {_grants(address, schema, said)}"
        )
    if isinstance(error, errors.UndefinedTable):
        return StoreError(
            f"{here}: {said}; the store was moved or removed while it was open: open it again"
        )
    if isinstance(error, errors.DataError):
        return InvalidInput(f"{here} refuses a value: {said}")
    if isinstance(error, errors.ProgramLimitExceeded):  # which is an OperationalError, too
        return InvalidInput(
            f"{here} cannot take a value as long as this: {said}; shorten the longest name"
        )
    if isinstance(error, errors.OperationalError):
        return StoreError(f"{here} does not answer: {said}; {_what_to_do(address, said)}")
    return StoreError(f"{here}: {said}")


def _grants(address: ServerAddress, schema: str, said: str) -> str:
    """Say what gives a user the rights for this: to make a store, to use one, or to change its tables."""
    user = _quoted(address.user or "USER")
    if "must be owner" in said:
        return "open it once as the owner of its tables, who may change them"
    if "for database" in said:
        return f"let its owner type: GRANT CREATE ON DATABASE {_quoted(address.name)} TO {user}"
    its = _quoted(schema)
    return (
        f"let who made the store type: GRANT USAGE ON SCHEMA {its} TO {user}; GRANT SELECT, INSERT,"
        f" UPDATE, DELETE ON ALL TABLES IN SCHEMA {its} TO {user}; GRANT USAGE ON ALL SEQUENCES IN"
        f" SCHEMA {its} TO {user}"
    )


def _quoted(name: str) -> str:
    """Write a name as SQL has it: in quotes, unless it is plain."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*|USER", name) else f'"{name}"'


def _what_to_do(address: ServerAddress, said: str) -> str:
    """Say what helps against a connection that was not to be had."""
    lower = said.casefold()
    if "password" in lower or "authentication" in lower:
        return (
            "give the right user, and the password in the URL or in"
            f" {address.kind.secret_env} or PGPASSWORD"
        )
    if "does not exist" in lower and "database" in lower:
        return f"make the database first: createdb {address.name}"
    if "does not exist" in lower and "role" in lower:
        return "name a user that the server knows: postgres://USER@…"
    if "ssl" in lower or "certificate" in lower:
        return "see the sslmode and sslrootcert of the URL"
    if "too many" in lower or "remaining connection slots" in lower:
        return "let the server take more connections (max_connections), or stop other programs"
    return "see that Postgres runs there and that this machine may reach it"


def _said(address: ServerAddress, error: psycopg.Error) -> str:
    """Return what the server said, in one line and without the password."""
    told = error.diag.message_primary or str(error)
    line = " ".join(told.split()) or type(error).__name__
    # The client puts host and port before what the server said, which we have said already, and asks
    # whether it runs after that.
    line = line.rpartition("FATAL: ")[2].strip()
    line = re.sub(r"^connection failed: connection to server at .* failed: ", "", line)
    line = line.partition(" Is the server running")[0]
    return line.replace(address.password, "…") if address.password else line

"""Where a server is: a URL read into its parts, and shown without its password."""

from __future__ import annotations

import os
from typing import NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.text.urls import without_login

TIMEOUT_S = 2.0  # of one answer of a tier; of the records' server, of reaching it
_LONGEST_S = 600.0


class Kind(NamedTuple):
    """A kind of server: what its URLs look like, and where its password may be kept instead."""

    name: str
    schemes: tuple[str, ...]
    port: int
    secret_env: str
    example: str

    def reads(self, url: str) -> bool:
        """True when a URL is one of this kind."""
        return url.partition("://")[0].casefold() in self.schemes


POSTGRES = Kind(
    "Postgres",
    ("postgres", "postgresql"),
    5432,
    "SCRUBJAY_POSTGRES_PASSWORD",
    "postgres://user@host:5432/database",
)
QDRANT = Kind(
    "Qdrant",
    ("qdrant", "qdrants"),
    6333,
    "SCRUBJAY_QDRANT_API_KEY",
    "qdrant://host:6333/collection",
)
FALKORDB = Kind(
    "FalkorDB",
    ("falkordb", "falkordbs"),
    6379,
    "SCRUBJAY_FALKORDB_PASSWORD",
    "falkordb://host:6379/graph",
)


class Address(NamedTuple):
    """A server: `name` is the database, the collection or the graph in it."""

    kind: Kind
    host: str
    port: int
    name: str
    user: str = ""
    password: str = ""
    tls: bool = False
    timeout_s: float = TIMEOUT_S
    options: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """The URL without its password and its options."""
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = f"{self.kind.schemes[0]}{'s' if self.tls else ''}"
        return f"{scheme}://{user}{host}:{self.port}/{self.name}"

    def __repr__(self) -> str:
        """Show everything but the password."""
        return f"Address({self.shown!r})"


def address(url: str, kind: Kind, what: str) -> Address:
    """Read the URL of a server; refuse what is none of this kind, without repeating a password.

    The password may be in the URL, or in the environment, which is the better place. A `timeout_s` in
    the query of the URL says how long an answer may take; with Postgres, other options are libpq's.
    """
    from urllib.parse import parse_qsl, unquote, urlsplit

    if not kind.reads(url):
        scheme = url.partition("://")[0] if "://" in url else repr(without_login(url))
        raise InvalidInput(
            f"{what} is {scheme}, which is no {kind.name} URL; write {kind.example}"
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        wrong = "port" if "port" in str(error).casefold() else "host"
        raise InvalidInput(f"{what} has a wrong {wrong}; write {kind.example}") from None
    if any("@" in one for one in (parts.path, parts.query, parts.fragment)):
        # Read as it is, a part of the password would be the name of something, and be shown.
        raise InvalidInput(
            f"{what} has an @ after the host; in a user or a password write %2F for /, %3F for ?,"
            f" %23 for # and %40 for @: {kind.example}"
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not host:
        raise InvalidInput(f"{what} names no host; write {kind.example}")
    timeout_s = _timeout(options.pop("timeout_s", None), what)
    if options and kind is not POSTGRES:
        raise InvalidInput(
            f"{what}: {kind.name} takes no option {min(options)!r}; timeout_s is one"
        )
    name = unquote(parts.path.strip("/"))
    if "/" in name:
        raise InvalidInput(f"{what}: {name!r} is more than one name; write {kind.example}")
    return Address(
        kind,
        host,
        port or kind.port,
        name or "scrubjay",
        unquote(parts.username or ""),
        unquote(parts.password or "") or os.environ.get(kind.secret_env, ""),
        parts.scheme.casefold() == f"{kind.schemes[0]}s",
        timeout_s,
        tuple(sorted(options.items())),
    )


def _timeout(given: str | None, what: str) -> float:
    try:
        seconds = TIMEOUT_S if given is None else float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST_S:
        raise InvalidInput(f"{what}: timeout_s is {given!r}; give seconds above 0, 2 is usual")
    return seconds

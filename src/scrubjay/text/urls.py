"""Server URLs: parse them, name the store of a tenant there, and show them without passwords."""

# No annotations of __future__: see scrubjay.types.

import os
import re
from typing import NamedTuple

from scrubjay.errors import InvalidInput

TIMEOUT_S = 2.0  # one request to a replica; for Postgres, connecting
_MAX_TIMEOUT_S = 600.0
# The option of a Qdrant that lists no candidates for keyword search: the database searches alone.
KEYWORD, EXACT, SPARSE = "keyword", "exact", "sparse"
NO_SERVER = "none"  # overrides a replica URL of the settings for one call
TENANT_SCHEMA_PREFIX = "scrubjay_"
_TENANT = r"[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?"


class ServerKind(NamedTuple):
    """A kind of server: its URL schemes, and the environment variable for its password."""

    name: str
    schemes: tuple[str, ...]
    port: int
    secret_env: str
    example: str


POSTGRES = ServerKind(
    "Postgres",
    ("postgres", "postgresql"),
    5432,
    "SCRUBJAY_POSTGRES_PASSWORD",
    "postgres://user@host:5432/database",
)
QDRANT = ServerKind(
    "Qdrant",
    ("qdrant", "qdrants"),
    6333,
    "SCRUBJAY_QDRANT_API_KEY",
    "qdrant://host:6333/collection",
)
FALKORDB = ServerKind(
    "FalkorDB",
    ("falkordb", "falkordbs"),
    6379,
    "SCRUBJAY_FALKORDB_PASSWORD",
    "falkordb://host:6379/graph",
)


class ServerAddress(NamedTuple):
    """A parsed server URL; `name` is the database, collection or graph."""

    kind: ServerKind
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
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = f"{self.kind.schemes[0]}{'s' if self.tls else ''}"
        return f"{scheme}://{user}{host}:{self.port}/{self.name}"

    def __repr__(self) -> str:
        return f"ServerAddress({self.shown!r})"


def parse_server_url(url: str, kind: ServerKind, setting: str) -> ServerAddress:
    """Parse the URL of a server; InvalidInput names the setting and never repeats a password.

    A password may also come from the environment. `timeout_s` in the query sets the time-out; other
    options are passed to libpq (Postgres only).
    """
    from urllib.parse import parse_qsl, unquote, urlsplit

    scheme, separator, _ = url.partition("://")
    if scheme.casefold() not in kind.schemes:
        given = scheme if separator else repr(strip_credentials(url))
        raise InvalidInput(f"{setting} is {given}, not a {kind.name} URL; write {kind.example}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        invalid = "port" if "port" in str(error).casefold() else "host"
        raise InvalidInput(f"{setting} has an invalid {invalid}; write {kind.example}") from None
    if any("@" in part for part in (parts.path, parts.query, parts.fragment)):
        # Otherwise a part of the password would be taken for the name, and shown.
        raise InvalidInput(
            f"{setting} has an @ after the host; in a user or a password write %2F for /, %3F for ?,"
            f" %23 for # and %40 for @: {kind.example}"
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not host:
        raise InvalidInput(f"{setting} has no host; write {kind.example}")
    timeout_s = _timeout(options.pop("timeout_s", None), setting)
    if kind is QDRANT and options.get(KEYWORD, SPARSE) not in (EXACT, SPARSE):
        raise InvalidInput(
            f"{setting}: {KEYWORD} is {options[KEYWORD]!r}; give {SPARSE} or {EXACT}"
        )
    known = {KEYWORD} if kind is QDRANT else set()
    if kind is not POSTGRES and (unknown := sorted({*options} - known)):
        only = (
            f"the options are {KEYWORD} and timeout_s" if known else "the only option is timeout_s"
        )
        raise InvalidInput(f"{setting}: {kind.name} has no option {unknown[0]!r}; {only}")
    name = unquote(parts.path.strip("/"))
    if "/" in name:
        raise InvalidInput(f"{setting}: {name!r} is more than one name; write {kind.example}")
    return ServerAddress(
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


def _timeout(given: str | None, setting: str) -> float:
    try:
        seconds = TIMEOUT_S if given is None else float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MAX_TIMEOUT_S:
        raise InvalidInput(
            f"{setting}: timeout_s is {given!r}; give seconds above 0 and up to {_MAX_TIMEOUT_S:g}"
        )
    return seconds


class ReplicaAddresses(NamedTuple):
    """The replicas of a store; None where the database serves vectors or graph."""

    vectors: ServerAddress | None = None
    graph: ServerAddress | None = None


NO_REPLICAS = ReplicaAddresses()


def parse_replica_urls(vectors: str | None, graph: str | None) -> ReplicaAddresses:
    """Parse the URLs of the replicas; "none" means no replica."""
    vectors, graph = (None if url == NO_SERVER else url for url in (vectors, graph))
    if vectors is None and graph is None:
        return NO_REPLICAS
    return ReplicaAddresses(
        None if vectors is None else parse_server_url(vectors, QDRANT, "vectors"),
        None if graph is None else parse_server_url(graph, FALKORDB, "graph"),
    )


def is_server_url(place: str) -> bool:
    return "://" in place


def strip_credentials(text: str, *, keep_user: bool = False) -> str:
    """Return a URL, or a text that ends in one, without its credentials and its query.

    Everything up to the last @ goes, because a password may contain any character. In an HTTP URL, a
    path or a model name may begin with @. Text without a scheme is read as `user:password@host`.
    """
    before, separator, rest = text.partition("://")
    if not separator:
        return text.rpartition("@")[2]
    http = before.casefold().endswith(("http", "https"))
    login = re.match(r".*(?<![/#])@" if http else ".*@", rest, re.DOTALL)
    place, _, query = rest[login.end() if login else 0 :].partition("?")
    user = f"{login[0][:-1].partition(':')[0]}@" if login and keep_user else ""
    _, hash_, model = query.partition("#")
    return f"{before}://{user}{place}{hash_}{model}"


def check_tenant(tenant: str) -> str:
    """Return a tenant's name; InvalidInput when it cannot be a part of a file name."""
    if not re.fullmatch(_TENANT, tenant):
        raise InvalidInput(
            f"the tenant is {tenant!r}; give 1 to 40 lower-case letters, digits, - or _, such as acme"
        )
    return tenant


def tenant_schema(tenant: str | None) -> str:
    return "scrubjay" if tenant is None else f"{TENANT_SCHEMA_PREFIX}{check_tenant(tenant)}"


def tenant_file(path: str, tenant: str | None) -> str:
    """Return the database file of a tenant: `notes.acme.db` beside `notes.db`."""
    if tenant is None or path == ":memory:" or is_server_url(path):
        return path
    stem, suffix = os.path.splitext(path)
    return f"{stem}.{tenant}{suffix}"

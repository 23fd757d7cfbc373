"""How the servers are that the settings name: there, of a version that will do, with what is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import MissingExtra, ScrubjayError
from scrubjay.ops.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrubjay.config import Settings
    from scrubjay.text.urls import ServerAddress
    from scrubjay.types.reports import ServerState


def postgres(settings: Settings) -> Iterator[Finding]:
    """Examine a store that Postgres keeps; nothing is made where there is none yet."""
    from scrubjay.text.urls import POSTGRES, parse_server_url, tenant_schema

    yield postgres_at(
        lambda: (
            parse_server_url(settings.db, POSTGRES, "the store"),
            tenant_schema(settings.tenant),
        )
    )


def postgres_at(place: Callable[[], tuple[ServerAddress, str]]) -> Finding:
    """Examine the store in a schema of a Postgres; a place that cannot be read is a finding, too."""

    def look() -> Finding:
        from scrubjay.storage.postgres.existing import found_in

        read, schema = place()
        found = found_in(read, schema)
        versions = f"PostgreSQL {found.version}, pgvector {found.pgvector or 'not installed'}"
        if found.schema is None:
            return Finding("store", "missing", f"{read.shown}: {versions}; nothing is stored yet")
        return Finding("store", "ok", f"{read.shown}, schema {found.schema}: {versions}")

    return _looked("store", look)


def told(states: Sequence[ServerState]) -> Iterator[Finding]:
    """Say how the servers of an open store are, by what it knows of them."""
    for one in states:
        name = f"{one.tier} server"
        if one.reason:
            yield Finding(name, "failed", one.reason)
        elif one.behind:
            detail = f"{one.place} has yet to be told of {one.behind:,} changes"
            yield Finding(name, "degraded", detail)
        else:
            yield Finding(name, "ok", f"{one.place} knows everything")


def tiers(settings: Settings) -> Iterator[Finding]:
    """Examine the servers of the vectors and of the graph."""
    from scrubjay.text.urls import FALKORDB, QDRANT, parse_server_url

    if settings.vectors is not None:
        named = settings.vectors

        def qdrant() -> Finding:
            from scrubjay.storage.qdrant.client import QdrantServer

            read = parse_server_url(named, QDRANT, "vectors")
            server = QdrantServer(read)
            try:
                server.ping()
            finally:
                server.close()
            return Finding("vectors server", "ok", f"{read.shown} answers")

        yield _looked("vectors server", qdrant)
    if settings.graph is not None:
        place = settings.graph

        def falkordb() -> Finding:
            from scrubjay.storage.falkordb.client import FalkorServer

            read = parse_server_url(place, FALKORDB, "graph")
            server = FalkorServer(read, "")
            try:
                server.ping()
            finally:
                server.close()
            return Finding("graph server", "ok", f"{read.shown} answers")

        yield _looked("graph server", falkordb)


def _looked(name: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except MissingExtra as missing:
        return Finding(name, "failed", str(missing), missing.command)
    except ScrubjayError as error:
        return Finding(name, "failed", str(error))

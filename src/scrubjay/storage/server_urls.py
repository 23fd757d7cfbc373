"""Which tiers of a store are on servers of their own, and which store is a tenant's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from scrubjay.storage.addresses import Address


class Servers(NamedTuple):
    """The addresses of the vector tier and of the graph; None where the store itself has them."""

    vectors: Address | None = None
    graph: Address | None = None


NO_SERVERS = Servers()
NONE = "none"  # said where the settings name a server, and this call wants none


def servers_of(vectors: str | None, graph: str | None) -> Servers:
    """Read the URLs of the tiers; refuse what is none. The word "none" is no server."""
    vectors, graph = (None if one == NONE else one for one in (vectors, graph))
    if vectors is None and graph is None:
        return NO_SERVERS
    from scrubjay.storage.addresses import FALKORDB, QDRANT, address

    return Servers(
        None if vectors is None else address(vectors, QDRANT, "vectors"),
        None if graph is None else address(graph, FALKORDB, "graph"),
    )


def is_server(place: str) -> bool:
    """True when a place is a URL and no file."""
    return "://" in place


TENANTS = "scrubjay_"  # how the schema of a tenant begins
_TENANT = r"[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?"


def tenant_named(tenant: str) -> str:
    """Return the name of a tenant; refuse one that could not be a part of a file's name."""
    import re

    if not re.fullmatch(_TENANT, tenant):
        raise InvalidInput(
            f"the tenant is {tenant!r}; give 1 to 40 small letters, digits, - or _, such as acme"
        )
    return tenant


def schema_of(tenant: str | None) -> str:
    """Return the schema of Postgres in which a tenant's store is, or the only one."""
    return "scrubjay" if tenant is None else f"{TENANTS}{tenant_named(tenant)}"


def tenants_file(path: str, tenant: str | None) -> str:
    """Return the file of a tenant: beside that of the store, with the tenant in its name."""
    if tenant is None or path == ":memory:" or is_server(path):
        return path
    stem, ending = os.path.splitext(path)
    return f"{stem}.{tenant}{ending}"

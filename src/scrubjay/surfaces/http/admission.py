"""Who a token is, and who may ask without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.access import access_of
from scrubjay.surfaces.callers import Principal, principal_of

if TYPE_CHECKING:
    from scrubjay.surfaces.callers import OpenStores
    from scrubjay.surfaces.http.entry import FindPrincipal


def has_tokens(stores: OpenStores) -> bool:
    """True where the server's own store holds a token."""
    with stores.lend(Principal()) as store:
        return access_of(store).any()


def admission(stores: OpenStores, *, loopback: bool) -> FindPrincipal:
    """Return what finds who asks, by the tokens of the server's own store.

    Only on loopback, and only while there is no token at all, whoever is on this machine may ask.
    """

    def find(secret: str | None) -> Principal | None:
        if secret is None:
            return Principal() if loopback and not has_tokens(stores) else None
        with stores.lend(Principal()) as store:
            found = access_of(store).find(secret)
        return None if found is None else principal_of(found)

    return find

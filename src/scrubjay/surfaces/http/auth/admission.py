"""Who a token is, and who may ask without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.sharing.api_keys import access_of
from scrubjay.surfaces.callers import ANYBODY, principal_of

if TYPE_CHECKING:
    from scrubjay.sharing.api_keys import Token
    from scrubjay.surfaces.callers import OpenStores, Principal


class Admission:
    """Finds who asks, by the tokens of the place that is served.

    `own` is whoever asks without a token: only on loopback, and only while the store asks for none. Where
    that is somebody of one tenant, the server is that tenant's alone, and no other's token opens it.
    """

    def __init__(self, stores: OpenStores, *, loopback: bool, own: Principal = ANYBODY) -> None:
        self._stores = stores
        self._loopback = loopback
        self._own = own
        self._asks = False

    def __call__(self, secret: str | None) -> Principal | None:
        """Return who has this secret, or who may ask without one; None where nobody may."""
        if secret is None:
            return self._own if self._loopback and not self.asks() else None
        with self._stores.lend(ANYBODY) as store:
            found = access_of(store).find(secret)
        return principal_of(found) if found is not None and self._is_ours(found) else None

    def asks(self) -> bool:
        """True where nobody may ask without a token.

        A server that has asked goes on, unless the store says that nobody needs one: a file that somebody
        took away and an empty one in its place must not open the door.
        """
        with self._stores.lend(ANYBODY) as store:
            said = access_of(store).asks()
        if said is not None:
            self._asks = said
        return self._asks

    def has_token(self) -> bool:
        """True where there is a token that somebody can come in with."""
        with self._stores.lend(ANYBODY) as store:
            return any(map(self._is_ours, access_of(store).list()))

    def _is_ours(self, token: Token) -> bool:
        return self._own.tenant in (None, token.tenant)

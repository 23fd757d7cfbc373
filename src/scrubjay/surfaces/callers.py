"""Who asks through a door, and the stores that are open for them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import StoreError
from scrubjay.types.key_scopes import SCOPES

if TYPE_CHECKING:
    from scrubjay.sharing.api_keys import Token
    from scrubjay.store import Store


class Principal(NamedTuple):
    """Somebody who asks: whose store they see, and what they may do there.

    `name` is that of their token; empty for whoever needs none. Without a user they see everything in it.
    """

    name: str = ""
    scopes: tuple[str, ...] = SCOPES
    tenant: str | None = None
    user: str | None = None

    def may(self, scope: str) -> bool:
        """True when that is allowed; who may write may read, and an admin may do both.

        A scope that is not known allows nothing, and is allowed to nobody: a newer scrubjay may have it.
        """
        return scope in SCOPES and any(one in SCOPES[SCOPES.index(scope) :] for one in self.scopes)


ANYBODY = Principal()  # sees all of the server's own place, and may do everything there


def principal_of(token: Token) -> Principal:
    """Return who asks with a token."""
    return Principal(token.name, token.scopes, token.tenant, token.user)


class OpenStores:
    """Stores that are open, one for each tenant and person, opened when first asked for.

    At most `most` stay open: the one that was not used for the longest time is closed when nobody uses it.
    """

    def __init__(self, open_for: Callable[[Principal], Store], most: int = 32) -> None:
        self._open_for = open_for
        self._most = most
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str | None, str | None], _Lent] = OrderedDict()
        self._closed = False

    @contextmanager
    def lend(self, who: Principal) -> Iterator[Store]:
        """Give the store of somebody for as long as they use it; one that is not there yet is made.

        Once the stores are closed this is a StoreError. One that cannot be opened is tried again by
        whoever asks next.
        """
        key = (who.tenant, who.user)
        lent = self._take(key)
        try:
            with lent.opening:  # others' stores are opened meanwhile
                if lent.store is None:
                    lent.store = self._open_for(who)
            yield lent.store
        finally:
            self._give_back(key, lent)

    @property
    def open_now(self) -> list[tuple[str | None, str | None]]:
        """Whose stores are open: tenant and person, the one used last at the end."""
        with self._lock:
            return [key for key, one in self._open.items() if one.store is not None]

    @contextmanager
    def lend_open(self, key: tuple[str | None, str | None]) -> Iterator[Store | None]:
        """Give a store only if it is open already, and do not count that as a use."""
        with self._lock:
            lent = self._open.get(key)
            if lent is None or lent.store is None:
                lent = None
            else:
                lent.users += 1
        if lent is None:
            yield None
            return
        try:
            yield lent.store
        finally:
            self._give_back(key, lent)

    def each_tenant(self, only: str | None = None) -> Iterator[tuple[str | None, Store]]:
        """Give one open store of each tenant, whoever has it open; that of a store without one is None.

        `only` leaves out all others: a server of one tenant has the store of the tokens open as well.
        """
        for tenant, key in {key[0]: key for key in self.open_now}.items():
            if only in (None, tenant):
                with self.lend_open(key) as store:
                    if store is not None:
                        yield tenant, store

    def close(self) -> None:
        """Close every store; what is lent is closed when it comes back. Twice is fine."""
        with self._lock:
            self._closed = True
            idle = [one for one in self._open.values() if not one.users]
            self._open.clear()
        for one in idle:
            one.close()

    def _take(self, key: tuple[str | None, str | None]) -> _Lent:
        with self._lock:
            if self._closed:
                raise StoreError("the server is stopping; ask again once it has started")
            lent = self._open.setdefault(key, _Lent())
            lent.users += 1
            self._open.move_to_end(key)
            return lent

    def _give_back(self, key: tuple[str | None, str | None], lent: _Lent) -> None:
        gone: list[_Lent] = []
        with self._lock:
            lent.users -= 1
            if not lent.users:
                if self._closed:
                    gone.append(lent)
                elif lent.store is None:  # it could not be opened
                    self._open.pop(key, None)
            for other, one in list(self._open.items()):
                if len(self._open) <= self._most:
                    break
                if not one.users:
                    gone.append(self._open.pop(other))
        for one in gone:
            one.close()


class _Lent:
    def __init__(self) -> None:
        self.store: Store | None = None
        self.users = 0
        self.opening = threading.Lock()

    def close(self) -> None:
        if self.store is not None:
            self.store.close()

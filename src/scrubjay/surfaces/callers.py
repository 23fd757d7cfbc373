"""Callers of a server or agent connection, and the stores that are open for them."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import scrubjay
from scrubjay import config
from scrubjay.config import make_folder
from scrubjay.errors import StoreError
from scrubjay.runtime.closing import close_all
from scrubjay.text.urls import is_server_url
from scrubjay.types.key_scopes import SCOPES

if TYPE_CHECKING:
    from scrubjay.models.shared import SharedModels
    from scrubjay.sharing.api_keys import Token
    from scrubjay.store import Store
    from scrubjay.types import Results

WRITER_WAIT_S = 10.0  # for another process that writes to the database


class Principal(NamedTuple):
    """A caller: the tenant and user whose data they see, and the scopes of what they may do.
    `name` is that of the API key, '' without one. Without a user they see everything of the tenant."""

    name: str = ""
    scopes: tuple[str, ...] = SCOPES
    tenant: str | None = None
    user: str | None = None

    def may(self, scope: str) -> bool:
        """True when the scope is allowed; write includes read, admin includes both.
        An unknown scope, perhaps from a newer version, grants nothing and is granted by none."""
        return scope in SCOPES and any(
            granted in SCOPES[SCOPES.index(scope) :] for granted in self.scopes
        )


UNRESTRICTED = Principal()  # full access to the server's own database


def principal_of(key: Token) -> Principal:
    return Principal(key.name, key.scopes, key.tenant, key.user)


_StoreKey = tuple[str | None, str | None]  # tenant and user


class OpenStores:
    """Open stores, one for each tenant and user, opened at their first use.
    At most `max_open` stay open: the least recently used one is closed once it is not in use."""

    def __init__(self, open_for: Callable[[Principal], Store], max_open: int = 32) -> None:
        self._open_for = open_for
        self._max_open = max_open
        self._lock = threading.Lock()
        self._entries: OrderedDict[_StoreKey, _Entry] = OrderedDict()
        self._closed = False

    @contextmanager
    def lend(self, caller: Principal) -> Iterator[Store]:
        """Provide the store of a caller while the context lasts; open or create it if needed.
        StoreError once the stores are closed. A store that fails to open is tried again next time."""
        key = (caller.tenant, caller.user)
        entry = self._take(key)
        try:
            with entry.opening:  # does not block the stores of others
                if entry.store is None:
                    entry.store = self._open_for(caller)
            yield entry.store
        finally:
            self._give_back(key, entry)

    @property
    def open_now(self) -> list[_StoreKey]:
        """Tenant and user of each open store, the most recently used last."""
        with self._lock:
            return [key for key, entry in self._entries.items() if entry.store is not None]

    @contextmanager
    def _lend_open(self, key: _StoreKey) -> Iterator[Store | None]:
        """Provide a store only if it is open; this does not count as a use."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.store is not None:
                entry.users += 1
            else:
                entry = None
        if entry is None:
            yield None
            return
        try:
            yield entry.store
        finally:
            self._give_back(key, entry)

    def each_tenant(self, only: str | None = None) -> Iterator[tuple[str | None, Store]]:
        """Yield one open store of each tenant (None: the store without one).
        `only` restricts this to one tenant: its server also has the store with the API keys open."""
        for tenant, key in {key[0]: key for key in self.open_now}.items():
            if only in (None, tenant):
                with self._lend_open(key) as store:
                    if store is not None:
                        yield tenant, store

    def close(self) -> None:
        """Close every store; one in use is closed when it is given back. Safe to call twice."""
        with self._lock:
            self._closed = True
            idle = [entry for entry in self._entries.values() if not entry.users]
            self._entries.clear()
        close_all(entry.close for entry in idle)

    def _take(self, key: _StoreKey) -> _Entry:
        with self._lock:
            if self._closed:
                raise StoreError("the server is stopping; try again after it has started")
            entry = self._entries.setdefault(key, _Entry())
            entry.users += 1
            self._entries.move_to_end(key)
            return entry

    def _give_back(self, key: _StoreKey, entry: _Entry) -> None:
        unused: list[_Entry] = []
        with self._lock:
            entry.users -= 1
            if not entry.users:
                if self._closed:
                    unused.append(entry)
                elif entry.store is None:  # it failed to open
                    self._entries.pop(key, None)
            for other_key, other in list(self._entries.items()):
                if len(self._entries) <= self._max_open:
                    break
                if not other.users:
                    unused.append(self._entries.pop(other_key))
        close_all(other.close for other in unused)


class _Entry:
    def __init__(self) -> None:
        self.store: Store | None = None
        self.users = 0
        self.opening = threading.Lock()

    def close(self) -> None:
        if self.store is not None:
            self.store.close()


def with_listeners(
    open_for: Callable[[Principal], Store], *listeners: Callable[[Results], None]
) -> Callable[[Principal], Store]:
    """Return a function that opens stores whose searches call the listeners and are counted by hour."""

    def notify(results: Results) -> None:
        for listener in listeners:
            listener(results)

    def open_store(caller: Principal) -> Store:
        store = open_for(caller)
        store.on_search = notify
        store.count_every_search()
        return store

    return open_store


def store_opener(db: str | None, user: str | None) -> Callable[[Principal], Store]:
    """Return a function that opens the database `db`, or the configured one, for a caller.
    `user` applies to callers whose API key names no user; the default is that of the settings. All stores
    share one copy of each model, loaded in the background from the first opening on. Until then searches
    use keywords only and report it."""
    shared: list[SharedModels] = []
    lock = threading.Lock()

    def models() -> SharedModels:
        # Imported late: an MCP handshake opens no store and needs no models.
        from scrubjay.models.shared import SharedModels

        with lock:
            if not shared:
                shared.append(SharedModels())
            return shared[0]

    def open_for(caller: Principal) -> Store:
        own = caller.user if caller.user is not None else config.load(db=db, user=user).user
        _make_parent_folder(db)
        store = scrubjay.open(db, tenant=caller.tenant, user=own)
        store.share_models(models())
        # A waiting writer occupies a thread that other callers need.
        store._context.db.wait_s = WRITER_WAIT_S
        return store

    return open_for


def _make_parent_folder(db: str | None) -> None:
    """Create the folder of a database, but not the folders above, which a typing error would name.
    An MCP client starts us with a path such as .scrubjay/project.db before that folder exists."""
    if db is None or db == ":memory:" or is_server_url(db):
        return
    folder = os.path.dirname(os.path.abspath(os.path.expanduser(db)))
    if not os.path.exists(folder) and os.path.isdir(os.path.dirname(folder)):
        make_folder(folder)

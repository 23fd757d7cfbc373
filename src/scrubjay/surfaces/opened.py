"""How a door opens the store of whoever asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import scrubjay

if TYPE_CHECKING:
    from scrubjay.models.shared import SharedModels
    from scrubjay.service import Store
    from scrubjay.surfaces.callers import Principal
    from scrubjay.types import Results

WRITER_WAIT_S = 10.0  # for another who writes to the store


def watched(
    open_for: Callable[[Principal], Store], *listeners: Callable[[Results], None]
) -> Callable[[Principal], Store]:
    """Return what opens a store so that all of these are told of each search in it."""

    def tell(found: Results) -> None:
        for listener in listeners:
            listener(found)

    def opened(who: Principal) -> Store:
        store = open_for(who)
        store.on_search = tell
        return store

    return opened


def opener(db: str | None, user: str | None) -> Callable[[Principal], Store]:
    """Return what opens the store at a place, or the configured one, for somebody.

    `user` is who asks where their token names nobody. All stores share one copy of each model, which is
    loaded in the background from the first opening on: until then searches are by word, and say so.
    """
    made: list[SharedModels] = []
    making = threading.Lock()

    def models() -> SharedModels:
        # Imported late: a handshake opens no store and needs nothing of models.
        from scrubjay.models.shared import SharedModels

        with making:
            if not made:
                made.append(SharedModels())
            return made[0]

    def open_for(who: Principal) -> Store:
        store = scrubjay.open(db, tenant=who.tenant, user=who.user or user)
        store.share_models(models())
        # Whoever waits keeps a thread that others want.
        store._db.wait_s = WRITER_WAIT_S
        return store

    return open_for

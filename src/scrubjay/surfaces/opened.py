"""How a door opens the store of whoever asks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import scrubjay
from scrubjay import config
from scrubjay.parts.opening import make_folder
from scrubjay.text.urls import is_server_url

if TYPE_CHECKING:
    from scrubjay.models.shared import SharedModels
    from scrubjay.store import Store
    from scrubjay.surfaces.callers import Principal
    from scrubjay.types import Results

WRITER_WAIT_S = 10.0  # for another who writes to the store


def watched(
    open_for: Callable[[Principal], Store], *listeners: Callable[[Results], None]
) -> Callable[[Principal], Store]:
    """Return what opens a store so that all of these are told of each search in it.

    The store counts by itself which tier found what, as a page shows it over time.
    """

    def tell(found: Results) -> None:
        for listener in listeners:
            listener(found)

    def opened(who: Principal) -> Store:
        store = open_for(who)
        store.on_search = tell
        store.count_every_search()
        return store

    return opened


def opener(db: str | None, user: str | None) -> Callable[[Principal], Store]:
    """Return what opens the store at a place, or the configured one, for somebody.

    `user` is who asks where their token names nobody; without one it is that of the settings. The folder
    of a place that was named is made, if it is the only one that is not there. All stores share one copy
    of each model, which is loaded in the background from the first opening on: until then searches are by
    word, and say so.
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
        own = who.user if who.user is not None else config.load(db=db, user=user).user
        _make_folder(db)
        store = scrubjay.open(db, tenant=who.tenant, user=own)
        store.share_models(models())
        # Whoever waits keeps a thread that others want.
        store._db.wait_s = WRITER_WAIT_S
        return store

    return open_for


def _make_folder(db: str | None) -> None:
    """Make the folder of a store that is named, but not those above it, which a typing error would name.

    A client that starts a server hands it a path such as .scrubjay/project.db, and nobody is there to
    make the folder first.
    """
    if db is None or db == ":memory:" or is_server_url(db):
        return
    folder = os.path.dirname(os.path.abspath(os.path.expanduser(db)))
    if not os.path.exists(folder) and os.path.isdir(os.path.dirname(folder)):
        make_folder(folder)

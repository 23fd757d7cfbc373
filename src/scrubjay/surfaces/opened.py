"""How a door opens the store of whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import scrubjay

if TYPE_CHECKING:
    from scrubjay.service import Store
    from scrubjay.surfaces.callers import Principal


def opener(db: str | None, user: str | None) -> Callable[[Principal], Store]:
    """Return what opens the store at a place, or the configured one, for somebody.

    `user` is who asks where their token names nobody.
    """

    def open_for(who: Principal) -> Store:
        return scrubjay.open(db, tenant=who.tenant, user=who.user or user)

    return open_for

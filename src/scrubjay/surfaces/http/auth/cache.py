"""Who was let in a moment ago: to look a token up anew for each request took longer than to search."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.surfaces.callers import Principal

FRESH_S = 1.0  # so much later a token that was revoked is refused
_MOST = 1000


class Remembered:
    """Who has which secret, for a second; of the secrets only the hashes are kept.

    Only those who were let in: a token that was made just now is good at once.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: OrderedDict[bytes, tuple[float, Principal]] = OrderedDict()

    def who(self, secret: str | None) -> Principal | None:
        """Return who this was, if that was a moment ago."""
        seen = self._seen.get(_key(secret))
        if seen is None or self._clock() - seen[0] >= FRESH_S:
            return None
        return seen[1]

    def note(self, secret: str | None, asked_s: float, who: Principal) -> None:
        """Remember who it is, as it was when that was asked."""
        key = _key(secret)
        self._seen[key] = (asked_s, who)
        self._seen.move_to_end(key)
        while len(self._seen) > _MOST:
            self._seen.popitem(last=False)

    def now(self) -> float:
        """Return the time that `note` wants."""
        return self._clock()


def _key(secret: str | None) -> bytes:
    return b"" if secret is None else sha256(secret.encode("utf-8", "surrogatepass")).digest()

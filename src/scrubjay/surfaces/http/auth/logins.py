"""Who is signed in at the page: sessions and one-time links, in memory, of which only hashes are kept.

A session has two halves. A browser sends a cookie to every port of a host, so the cookie alone must not do;
the key is kept by the page, which no page of another port can read.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple

IDLE_S = 12 * 3600.0  # since it was last used
LIFE_S = 7 * 24 * 3600.0  # since it began: a page left open at Health asks for ever
MOST_SESSIONS = 1000
MOST_OF_ONE = 50  # of one token, so that nobody drives out the others
LINK_S = 600
_MOST_LINKS = 100
_BYTES = 32


class Halves(NamedTuple):
    """What a browser gets: a cookie that no script reads, and a key that no other port reads."""

    cookie: str
    key: str

    def __repr__(self) -> str:
        """Show neither."""
        return "Halves()"


class Session(NamedTuple):
    """One session. `token` is that with which it began, None for one of a link."""

    id: bytes
    token: str | None

    def __repr__(self) -> str:
        """Show no secret."""
        return "Session()"


class _Kept(NamedTuple):
    session: Session
    key_hash: bytes
    begun_s: float
    used_s: float


class Sessions:
    """The sessions of one server, which end with it. Only the thread of the loop asks."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: OrderedDict[bytes, _Kept] = OrderedDict()  # the one used last at the end
        self._links: OrderedDict[bytes, float] = OrderedDict()  # until when each is good

    def link(self) -> str:
        """Return a code that lets somebody in once, for a few minutes."""
        code = secrets.token_urlsafe(_BYTES)
        self._links[_hash(code)] = self._clock() + LINK_S
        while len(self._links) > _MOST_LINKS:
            self._links.popitem(last=False)
        return code

    def take(self, code: str) -> bool:
        """Use a code up; False where it was used before, is too old, or never was."""
        return self._links.pop(_hash(code), 0.0) > self._clock()

    def begin(self, token: str | None) -> Halves:
        """Begin a session of a token, or of a link; the oldest go where there are too many."""
        halves = Halves(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES))
        self._forget_idle()
        same = [id for id, one in self._open.items() if one.session.token == token]
        for id in same[: max(0, len(same) + 1 - MOST_OF_ONE)]:
            del self._open[id]
        while len(self._open) >= MOST_SESSIONS:
            self._open.popitem(last=False)
        id, now = _hash(halves.cookie), self._clock()
        self._open[id] = _Kept(Session(id, token), _hash(halves.key), now, now)
        return halves

    def find(self, cookies: Iterable[str], key: str) -> Session | None:
        """Return the session of these halves, and note that it was used.

        There may be several cookies of one name: another server of this host can set one, too.
        """
        self._forget_idle()
        given, now = _hash(key), self._clock()
        for id in map(_hash, cookies):
            one = self._open.get(id)
            if one is not None and hmac.compare_digest(one.key_hash, given):
                if now - one.begun_s >= LIFE_S:
                    self.end(one.session)
                    continue
                self._open[id] = one._replace(used_s=now)
                self._open.move_to_end(id)
                return one.session
        return None

    def end(self, session: Session) -> None:
        """End a session; one that has ended already may be ended again."""
        self._open.pop(session.id, None)

    def _forget_idle(self) -> None:
        now = self._clock()
        while self._open:
            id, oldest = next(iter(self._open.items()))
            if now - oldest.used_s < IDLE_S:
                return
            del self._open[id]


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()

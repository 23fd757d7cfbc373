"""Who somebody is: by the token they send, by their session at the page, or because nobody needs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.sharing.api_keys import is_whole
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http.auth.cache import Remembered
from scrubjay.surfaces.http.auth.login_cookie import from_a_page, halves_of, origin_of
from scrubjay.surfaces.http.origin_check import unmapped
from scrubjay.surfaces.http.problems import Problem, retry
from scrubjay.surfaces.http.rate_limit import Buckets

if TYPE_CHECKING:
    from starlette.types import Scope

    from scrubjay.surfaces.http.auth.logins import Session, Sessions
    from scrubjay.surfaces.http.workers import Workers

WRONG_PER_S = 5.0  # wrong tokens of one address; nobody types that fast
_CHALLENGE = 'Bearer realm="scrubjay"'

FindPrincipal = Callable[[str | None], Principal | None]
"""Return who has this secret, or who may ask without one; None where nobody may."""


class Known:
    """Finds out who asks, and counts those who were wrong."""

    def __init__(self, find: FindPrincipal, desk: Workers, sessions: Sessions) -> None:
        self._find = find
        self._desk = desk
        self._sessions = sessions
        self._remembered = Remembered()
        self._wrong = Buckets(WRONG_PER_S)

    async def who(self, scope: Scope) -> Principal:
        """Return who sent a request; a Problem that says what to do where that is nobody."""
        secret = _secret_of(scope)
        if secret is not None:
            return await self.with_token(secret, scope)
        if (of_session := await self.signed_in(scope)) is not None:
            return of_session
        who = await self.found(None)
        if who is None:
            raise no_token("this server asks for a token: send Authorization: Bearer TOKEN")
        if from_a_page(scope):
            # Whoever is on this machine may ask, but not every page that somebody has open there.
            said = f"a browser has to be signed in here, or to send a token; {_how_by_link(scope)}"
            raise no_token(said)
        return who

    async def with_token(self, secret: str, scope: Scope) -> Principal:
        """Return who has this token; a Problem where nobody has."""
        whole = is_whole(secret)
        # Looked up however many wrong ones came before: behind a proxy all have one address, and junk
        # of one must not lock out the others.
        who = await self.found(secret) if whole else None
        if who is not None:
            return who
        said = (
            "the token is not valid here: it is unknown, revoked, expired or for another tenant"
            if whole
            else "the token is not valid: it is mistyped or cut short"
        )
        raise self.wrong(scope, said)

    async def signed_in(self, scope: Scope) -> Principal | None:
        """Return whose session a request belongs to; None where it names none, a Problem if that is over."""
        cookies, key = halves_of(scope)
        if not key:
            return None
        session = self._sessions.find(cookies, key)
        if session is None:
            raise no_token(
                "you are no longer signed in: the server was started anew, or you were away for long;"
                f" {await self._how(scope)}"
            )
        return await self._of(session)

    async def found(self, secret: str | None) -> Principal | None:
        """Return who has this secret, as it was a second ago at most; without one, who needs none."""
        if (known := self._remembered.who(secret)) is not None:
            return known
        asked_s = self._remembered.now()
        who = await self._desk.do(lambda: self._find(secret))
        if who is not None:
            self._remembered.note(secret, asked_s, who)
        return who

    def wrong(self, scope: Scope, said: str) -> Problem:
        """Return the problem of a wrong secret; another one where too many came from there."""
        if wait_s := self._wrong.take(unmapped((scope.get("client") or ("",))[0])):
            return too_many("too many wrong tokens came from your address", wait_s)
        return no_token(said, ', error="invalid_token"')

    async def _of(self, session: Session) -> Principal:
        who = await self.found(session.token)
        if who is None:
            self._sessions.end(session)
            if session.token is None:
                raise no_token("this server asks for a token now; sign in with one")
            raise no_token(
                "the token with which you signed in was revoked or has expired; sign in with another"
            )
        return who

    async def _how(self, scope: Scope) -> str:
        is_open = await self.found(None) is not None
        return _how_by_link(scope) if is_open else "sign in with a token"


def _how_by_link(scope: Scope) -> str:
    another = f"curl -X POST {origin_of(scope)}/session/link"
    return f"open the link that scrubjay serve printed, or a new one: {another}"


def _secret_of(scope: Scope) -> str | None:
    """Return the token of a request, or None where none was sent; another scheme is a wrong one."""
    given: list[bytes] = [value for name, value in scope["headers"] if name == b"authorization"]
    if not given:
        return None
    scheme, _, secret = given[0].decode("latin-1").strip().partition(" ")
    if len(given) > 1 or scheme.lower() != "bearer" or not secret.strip():
        raise no_token("the Authorization header is not one that is known: send Bearer TOKEN")
    return secret.strip()


def no_token(said: str, more: str = "") -> Problem:
    """Return the problem of somebody who is not known."""
    return Problem("no-token", said, {"WWW-Authenticate": f"{_CHALLENGE}{more}"})


def too_many(said: str, wait_s: float) -> Problem:
    """Return the problem of somebody who asks too often."""
    return Problem("too-many", f"{said}; wait {max(wait_s, 0.1):.1f} seconds", retry(wait_s))

"""At the entry: who asks, by their token, and whether they asked too often."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.access import is_whole
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http.buckets import Buckets
from scrubjay.surfaces.http.guard import is_guarded, unmapped
from scrubjay.surfaces.http.problems import Problem, retry
from scrubjay.surfaces.http.settings import TOKEN_RATE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.surfaces.http.workers import Workers

WRONG_PER_S = 5.0  # wrong tokens of one address; nobody types that fast
_CHALLENGE = 'Bearer realm="scrubjay"'

FindPrincipal = Callable[[str | None], Principal | None]
"""Return who has this secret, or who may ask without one; None where nobody may."""


class Entry:
    """Finds out who asks below /v1, /mcp and /metrics, and puts them at `request.state.principal`."""

    def __init__(
        self, app: ASGIApp, find: FindPrincipal, desk: Workers, rate_per_s: float | None
    ) -> None:
        self._app = app
        self._find = find
        self._desk = desk
        self._of_tokens = Buckets(TOKEN_RATE if rate_per_s is None else rate_per_s)
        self._of_nobody = Buckets(rate_per_s)
        self._wrong = Buckets(WRONG_PER_S)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let somebody in, or refuse them before anything of their request is read."""
        if scope["type"] == "http" and is_guarded(scope["path"]):
            who = await self._who(scope)
            scope.setdefault("state", {})["principal"] = who
            self._count(who)
        await self._app(scope, receive, send)

    async def _who(self, scope: Scope) -> Principal:
        secret = _secret_of(scope)
        address = unmapped((scope.get("client") or ("",))[0])
        whole = secret is None or is_whole(secret)
        # Looked up however many wrong ones came before: behind a proxy all have one address, and junk
        # of one must not lock out the others.
        who = await self._desk.do(lambda: self._find(secret)) if whole else None
        if who is not None:
            return who
        if secret is None:
            raise _no_token("this server asks for a token: send Authorization: Bearer TOKEN")
        if wait_s := self._wrong.take(address):
            raise _too_many("too many wrong tokens came from your address", wait_s)
        said = (
            "the token is not valid here: it is unknown, revoked, expired or for another tenant"
            if whole
            else "the token is not valid: it is mistyped or cut short"
        )
        raise _no_token(said, ', error="invalid_token"')

    def _count(self, who: Principal) -> None:
        buckets = self._of_tokens if who.name else self._of_nobody
        if wait_s := buckets.take((who.name, who.tenant, who.user)):
            raise _too_many("you ask more often than this server allows", wait_s)


def _secret_of(scope: Scope) -> str | None:
    """Return the token of a request, or None where none was sent; another scheme is a wrong one."""
    given: list[bytes] = [value for name, value in scope["headers"] if name == b"authorization"]
    if not given:
        return None
    scheme, _, secret = given[0].decode("latin-1").strip().partition(" ")
    if len(given) > 1 or scheme.lower() != "bearer" or not secret.strip():
        raise _no_token("the Authorization header is not one that is known: send Bearer TOKEN")
    return secret.strip()


def _no_token(said: str, more: str = "") -> Problem:
    return Problem("no-token", said, {"WWW-Authenticate": f"{_CHALLENGE}{more}"})


def _too_many(said: str, wait_s: float) -> Problem:
    return Problem("too-many", f"{said}; wait {max(wait_s, 0.1):.1f} seconds", retry(wait_s))

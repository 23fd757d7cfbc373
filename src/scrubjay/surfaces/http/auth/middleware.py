"""At the entry: who asks, and whether they asked too often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.http.auth.authenticate import too_many
from scrubjay.surfaces.http.origin_check import is_guarded
from scrubjay.surfaces.http.rate_limit import Buckets
from scrubjay.surfaces.http.settings import TOKEN_RATE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.surfaces.callers import Principal
    from scrubjay.surfaces.http.auth.authenticate import Known

SIGNING_IN = "/session"  # where somebody who is not known becomes known


class Entry:
    """Finds out who asks on guarded paths, and puts them at `request.state.principal`."""

    def __init__(self, app: ASGIApp, known: Known, rate_per_s: float | None) -> None:
        self._app = app
        self._known = known
        self._of_tokens = Buckets(TOKEN_RATE if rate_per_s is None else rate_per_s)
        self._of_nobody = Buckets(rate_per_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let somebody in, or refuse them before anything of their request is read."""
        path = scope["path"] if scope["type"] == "http" else ""
        if is_guarded(path) and path != SIGNING_IN:
            who = await self._known.who(scope)
            scope.setdefault("state", {})["principal"] = who
            self._count(who)
        await self._app(scope, receive, send)

    def _count(self, who: Principal) -> None:
        buckets = self._of_tokens if who.name else self._of_nobody
        if wait_s := buckets.take((who.name, who.tenant, who.user)):
            raise too_many("you ask more often than this server allows", wait_s)

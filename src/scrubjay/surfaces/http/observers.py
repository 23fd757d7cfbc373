"""Who watches a server: figures for Prometheus and for the page, and the spans of OpenTelemetry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.responses import Response

from scrubjay.surfaces import telemetry
from scrubjay.surfaces.callers import OpenStores
from scrubjay.surfaces.figures import OTHER, Figures
from scrubjay.surfaces.http.metrics import Metrics
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.opened import watched
from scrubjay.surfaces.verbs import READ

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope

    from scrubjay.store import Store
    from scrubjay.surfaces.callers import Principal
    from scrubjay.surfaces.http.workers import Workers


class Seen:
    """One request that is watched; `status` is set when it was answered."""

    status = 0
    took_s = 0.0


class Watch:
    """Sees every request and every search of a server."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.figures = Figures()
        self._telemetry = telemetry.start()

    def stores(
        self, open_for: Callable[[Principal], Store], tenant: str | None = None
    ) -> OpenStores:
        """Return stores whose searches are seen, and counted; of a server of one tenant, with that one."""
        listeners = (self.metrics.searched, self.figures.searched, self._telemetry.searched)
        stores = OpenStores(watched(open_for, *listeners))
        self.metrics.follow(stores, tenant)
        return stores

    @contextmanager
    def request(self, scope: Scope) -> Iterator[Seen]:
        """See a request, from its beginning to its end."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        seen, begun = Seen(), time.perf_counter()
        self.metrics.began()
        with self._telemetry.request(scope["method"], headers) as span:
            try:
                yield seen
            finally:
                seen.took_s = time.perf_counter() - begun
                route = scope.get("route_name", OTHER)
                span.answered(scope["method"], route, seen.status)
                self.metrics.ended(route, scope["method"], seen.status, seen.took_s)

    def close(self) -> None:
        """Send what is left to send."""
        self._telemetry.close()


class MetricsPage:
    """`/metrics`: counts of everybody who is served, so it is for those who are bound to no part of them.

    Where the server is of one tenant or person alone (`own`), those who are bound to that one see it.
    """

    def __init__(self, watch: Watch, desk: Workers, own: Principal) -> None:
        self._watch = watch
        self._desk = desk
        self._own = own

    async def __call__(self, request: Request) -> Response:
        """Answer Prometheus."""
        check_whole(request.state.principal, self._own)
        page, media_type = await self._desk.do(self._watch.metrics.page)
        return Response(page, headers={"Content-Type": media_type})


def check_whole(who: Principal, own: Principal) -> None:
    """Refuse figures of everybody to those who may not see everybody's."""
    whole = who.tenant in (None, own.tenant) and who.user in (None, own.user)
    if not whole or not who.may(READ):
        raise Problem(
            "not-allowed",
            "the figures are of everybody that this server serves; ask with a token that names no"
            " tenant and no person but the server's own",
        )

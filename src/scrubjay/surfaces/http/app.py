"""The HTTP door: the page, `/v1`, `/mcp`, `/metrics`, `/livez`, `/readyz`, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scrubjay._version import __version__
from scrubjay.surfaces.callers import ANYBODY, Principal
from scrubjay.surfaces.http.auth.authenticate import FindPrincipal, Known
from scrubjay.surfaces.http.auth.login_routes import LinkPage, SessionPage
from scrubjay.surfaces.http.auth.logins import Sessions
from scrubjay.surfaces.http.auth.middleware import SIGNING_IN, Entry
from scrubjay.surfaces.http.figures_route import FiguresPage
from scrubjay.surfaces.http.health import Readiness, livez
from scrubjay.surfaces.http.middleware import Outer
from scrubjay.surfaces.http.observers import MetricsPage, Watch
from scrubjay.surfaces.http.openapi import document
from scrubjay.surfaces.http.origin_check import Guard
from scrubjay.surfaces.http.page import BY_ACCEPT, page, page_file
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.surfaces.http.v1 import JSON_TYPE, Asking, allow, not_by
from scrubjay.surfaces.http.workers import Workers

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import Receive, Scope, Send

    from scrubjay.surfaces.callers import OpenStores

    Endpoint = Callable[[Request], Awaitable[Response]]

THREADS, MOST_WAITING = 16, 500
_DESK_THREADS, _DESK_WAITING = 4, 1000


class Doors(NamedTuple):
    """What the app stands on: the stores, who is let in, and how much.

    `own` is who asks without a token, whose store is the server's own. `names` are the Host names that are
    right beside those of loopback. Without `mcp` there is no `/mcp`.
    """

    stores: OpenStores
    find: FindPrincipal
    settings: ServerSettings
    watch: Watch
    workers: Workers
    desk: Workers
    sessions: Sessions
    own: Principal = ANYBODY
    names: tuple[str, ...] = ()
    mcp: Server[Any] | None = None

    @classmethod
    def of(
        cls,
        stores: OpenStores,
        find: FindPrincipal,
        settings: ServerSettings,
        watch: Watch,
        *,
        own: Principal = ANYBODY,
        names: tuple[str, ...] = (),
        mcp: Server[Any] | None = None,
    ) -> Doors:
        """Return doors with threads of their own: many for the store, a few for the entry."""
        workers = Workers(THREADS, MOST_WAITING, "asking", THREADS // 2)
        desk = Workers(_DESK_THREADS, _DESK_WAITING, "entry")
        return cls(stores, find, settings, watch, workers, desk, Sessions(), own, names, mcp)


def make_app(doors: Doors) -> Starlette:
    """Return the app that answers requests."""
    most_bytes = int(doors.settings.max_body_mb * 1e6)
    known = Known(doors.find, doors.desk, doors.sessions)
    session = SessionPage(known, doors.sessions, doors.stores, doors.workers)
    figures = FiguresPage(doors.watch.figures, doors.stores, doors.workers, doors.own)
    routes = [
        _get("/", _index),
        _get("/ui/{name}", page_file),
        Route(SIGNING_IN, _Any(session)),
        Route(f"{SIGNING_IN}/link", _Any(LinkPage(known, doors.sessions))),
        _get("/livez", livez),
        _get("/readyz", Readiness(doors.stores, doors.desk, doors.own)),
        _get("/metrics", MetricsPage(doors.watch, doors.desk, doors.own)),
        _get("/v1/openapi.json", _openapi),
        _get("/v1/figures", figures),
        Route("/v1/{verb}", _Any(Asking(doors.stores, doors.workers, most_bytes))),
    ]
    running = []
    if doors.mcp is not None:
        from scrubjay.surfaces.http.mcp_mount import McpDoor

        door = McpDoor(doors.mcp, most_bytes)
        running.append(door.run)
        routes.append(Route("/mcp", door))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for run in running:
                await stack.enter_async_context(run())
            yield

    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: _not_there},
        middleware=[
            Middleware(Outer, doors.watch),
            Middleware(Guard, doors.names),
            Middleware(Entry, known, doors.settings.rate_per_s),
        ],
    )
    app.router.redirect_slashes = False
    return app


def _get(path: str, endpoint: Endpoint) -> Route:
    methods = ("GET", "HEAD")

    async def answer(request: Request) -> Response:
        request.scope["route_name"] = path
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allow(methods)})
        if request.method not in methods:
            raise not_by(request.method, methods)
        return await endpoint(request)

    return Route(path, _Any(answer))


class _Any:
    """An endpoint for every method, so that a wrong one is answered as we answer; Starlette has GET only."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._endpoint(Request(scope, receive))
        await response(scope, receive, send)


async def _index(request: Request) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return page(request)
    return JSONResponse(
        {
            "name": "scrubjay",
            "version": __version__,
            "verbs": "/v1/openapi.json",
            "mcp": "/mcp",
            "live": "/livez",
            "ready": "/readyz",
            "metrics": "/metrics",
            "figures": "/v1/figures",
        },
        headers=BY_ACCEPT,
    )


async def _openapi(request: Request) -> Response:
    return Response(document(), media_type=JSON_TYPE)


def _not_there(request: Request, error: Exception) -> Response:
    raise Problem(
        "not-found", "there is nothing under this path; see /v1/openapi.json for what there is"
    )

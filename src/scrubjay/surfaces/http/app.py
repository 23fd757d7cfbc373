"""The ASGI app: web UI, `/v1`, `/mcp`, `/metrics`, `/livez` and `/readyz` behind one middleware stack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from scrubjay._version import __version__
from scrubjay.surfaces.callers import UNRESTRICTED, OpenStores, Principal
from scrubjay.surfaces.http.auth import LOGIN_PATH, Authenticator, AuthMiddleware, FindCaller
from scrubjay.surfaces.http.health import ReadyEndpoint, livez
from scrubjay.surfaces.http.logins import LoginEndpoints, Logins
from scrubjay.surfaces.http.metrics import Monitoring, MonitoringEndpoints
from scrubjay.surfaces.http.middleware import RequestMiddleware
from scrubjay.surfaces.http.openapi import document
from scrubjay.surfaces.http.origin_check import OriginCheck, no_such_path
from scrubjay.surfaces.http.request_input import check_method
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.surfaces.http.v1 import JSON_TYPE, VerbEndpoint
from scrubjay.surfaces.http.web_ui import VARY_ACCEPT, index_page, web_ui_file
from scrubjay.surfaces.http.workers import Workers

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    Endpoint = Callable[[Request], Awaitable[Response]]

THREADS, MAX_QUEUED = 16, 500
AUTH_THREADS, _AUTH_MAX_QUEUED = 4, 1000


class ServerContext(NamedTuple):
    """The parts that the app uses.
    `own` is the caller without an API key, whose store is the server's own. `names` are Host names
    that are accepted besides loopback. Links sign in with `owner_key`. Without `mcp`, `/mcp` does not
    exist."""

    stores: OpenStores
    find_caller: FindCaller
    settings: ServerSettings
    monitoring: Monitoring
    workers: Workers
    auth_workers: Workers
    logins: Logins
    own: Principal = UNRESTRICTED
    names: tuple[str, ...] = ()
    owner_key: str | None = None
    mcp: Server[Any] | None = None

    def __repr__(self) -> str:
        return "ServerContext()"

    @classmethod
    def create(
        cls,
        stores: OpenStores,
        find_caller: FindCaller,
        settings: ServerSettings,
        monitoring: Monitoring,
        *,
        own: Principal = UNRESTRICTED,
        names: tuple[str, ...] = (),
        owner_key: str | None = None,
    ) -> ServerContext:
        """Return a context with new threads: many for the stores, a few for authentication."""
        workers = Workers(THREADS, MAX_QUEUED, "asking", THREADS // 2)
        auth_workers = Workers(AUTH_THREADS, _AUTH_MAX_QUEUED, "auth")
        parts = (stores, find_caller, settings, monitoring, workers, auth_workers, Logins())
        return cls(*parts, own, names, owner_key)


def make_app(server: ServerContext) -> Starlette:
    max_bytes = int(server.settings.max_body_mb * 1e6)
    max_answer_bytes = int(server.settings.max_answer_mb * 1e6)
    stores, workers, own = server.stores, server.workers, server.own
    authenticator = Authenticator(
        server.find_caller, server.auth_workers, server.logins, server.owner_key
    )
    login = LoginEndpoints(authenticator, server.logins, stores, workers)
    monitoring = MonitoringEndpoints(server.monitoring, stores, workers, server.auth_workers, own)
    verbs = VerbEndpoint(stores, workers, max_bytes, max_answer_bytes)
    routes = [
        _route("/", _index),
        _route("/ui/{path:path}", web_ui_file, route_name="/ui/{name}"),
        _route(LOGIN_PATH, login.session, ("GET", "HEAD", "POST", "DELETE")),
        _route(f"{LOGIN_PATH}/link", login.link, ("POST",)),
        _route("/livez", livez),
        _route("/readyz", ReadyEndpoint(stores, server.auth_workers, own)),
        _route("/metrics", monitoring.metrics),
        _route("/v1/openapi.json", _openapi),
        _route("/v1/figures", monitoring.figures),
        Route("/v1/{verb}", _AnyMethod(verbs.answer)),
    ]
    mcp: McpEndpoint | None = None
    if server.mcp is not None:
        from scrubjay.surfaces.http.mcp_mount import McpEndpoint

        mcp = McpEndpoint(server.mcp, max_bytes)
        routes.append(Route("/mcp", mcp))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with mcp.run() if mcp else nullcontext():
            yield

    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: _not_found},
        middleware=[
            Middleware(RequestMiddleware, server.monitoring),
            Middleware(OriginCheck, server.names),
            Middleware(AuthMiddleware, authenticator, server.settings.rate_per_s),
        ],
    )
    app.router.redirect_slashes = False
    return app


def _route(
    path: str, endpoint: Endpoint, methods: tuple[str, ...] = ("GET", "HEAD"), route_name: str = ""
) -> Route:
    async def answer(request: Request) -> Response:
        request.scope["route_name"] = route_name or path
        return check_method(request, methods) or await endpoint(request)

    return Route(path, _AnyMethod(answer))


class _AnyMethod:
    """Passes every method to an endpoint: Starlette would answer a wrong one in plain text."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._endpoint(Request(scope, receive))
        await response(scope, receive, send)


async def _index(request: Request) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return index_page(request)
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
        headers=VARY_ACCEPT,
    )


async def _openapi(request: Request) -> Response:
    return Response(document(), media_type=JSON_TYPE)


def _not_found(request: Request, error: Exception) -> Response:
    raise no_such_path()

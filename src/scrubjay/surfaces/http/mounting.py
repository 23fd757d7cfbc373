"""`/mcp`: the MCP server on the same port, behind the same entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrubjay.surfaces.http.bodies import check_json_type, read_body
from scrubjay.surfaces.http.messages import check_message
from scrubjay.surfaces.http.v1 import not_by

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from starlette.types import Message, Receive, Scope, Send

    from scrubjay.surfaces.callers import Principal

_METHODS = ("GET", "POST", "DELETE")
_MOST_SESSIONS = 1000


class McpDoor:
    """An ASGI app that hands requests to the SDK, each in the name of its principal."""

    def __init__(self, server: Server[Any], most_bytes: int) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        self._most_bytes = most_bytes
        self._sessions = StreamableHTTPSessionManager(
            app=server, max_request_body_size=most_bytes, max_sessions=_MOST_SESSIONS
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        """Return what keeps the sessions while the server runs."""
        return self._sessions.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: a message, a stream of messages, or the end of a session."""
        from starlette.requests import Request
        from starlette.responses import Response

        request = Request(scope, receive)
        if request.method == "OPTIONS":
            allowed = {"Allow": ", ".join((*_METHODS, "OPTIONS"))}
            await Response(status_code=204, headers=allowed)(scope, receive, send)
            return
        if request.method not in _METHODS:
            raise not_by(request.method, _METHODS)
        scope["route_name"] = "/mcp"
        # The SDK binds a session to whoever began it, so that nobody else's id opens it.
        scope["user"] = _user_of(request.state.principal)
        if request.method == "POST":
            check_json_type(request)
            body = await read_body(request, self._most_bytes)
            check_message(body)
            receive = _again(body, receive)
        await self._sessions.handle_request(scope, receive, send)


def principal_in(context: ServerRequestContext[Any, Any]) -> Principal:
    """Return who asks, as the entry found them."""
    request: Any = context.request
    found: Principal = request.state.principal
    return found


def _user_of(who: Principal) -> AuthenticatedUser:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    owner = "\n".join(("" if one is None else f"={one}") for one in (who.tenant, who.user))
    return AuthenticatedUser(
        AccessToken(token="", client_id=who.name, scopes=list(who.scopes), subject=owner)
    )


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a body that was read already, then whatever comes after it."""
    left = [body]

    async def read() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return read

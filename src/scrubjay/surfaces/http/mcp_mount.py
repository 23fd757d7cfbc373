"""`/mcp`: the MCP server on the same port, behind the same entry."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from scrubjay.errors import Unavailable
from scrubjay.surfaces.http.bodies import ClientGone, check_json_type, check_keys, read_body
from scrubjay.surfaces.http.mcp_messages import check_message
from scrubjay.surfaces.http.mcp_sessions import IDLE_S, MOST_SESSIONS, Sessions
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.http.v1 import not_by

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractAsyncContextManager

    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from starlette.requests import Request
    from starlette.types import Message, Receive, Scope, Send

    from scrubjay.surfaces.callers import Principal
    from scrubjay.surfaces.http.workers import Workers
    from scrubjay.surfaces.mcp.server import InThread

T = TypeVar("T")

_METHODS = ("GET", "POST", "DELETE")
_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"


class McpDoor:
    """An ASGI app that hands requests to the SDK, each in the name of its principal."""

    def __init__(self, server: Server[Any], most_bytes: int) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        self._most_bytes = most_bytes
        self._counted = Sessions()
        # Answers are JSON: a stream of events is cut off when the server is told to stop, and whoever
        # waits for an answer in it does not learn that the call was carried out.
        self._sessions = StreamableHTTPSessionManager(
            app=server,
            json_response=True,
            session_idle_timeout=IDLE_S,
            max_request_body_size=most_bytes,
            max_sessions=MOST_SESSIONS,
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
            check_keys(body)
            check_message(body)
            receive = _again(body, receive)
        await self._handled(request, receive, send)

    async def _handled(self, request: Request, receive: Receive, send: Send) -> None:
        """Let the SDK answer, and see which session begins, is used, or ends by that."""
        given, told = request.headers.get(_SESSION), None
        with ExitStack() as stack:
            if given is not None:
                stack.enter_context(self._counted.used(given))
            elif request.method == "POST" and _shakes_hands(request):
                told = stack.enter_context(self._counted.begun(request.state.principal))

            async def seen(message: Message) -> None:
                if message["type"] == "http.response.start":
                    named = {name.lower(): value for name, value in message.get("headers", ())}
                    begun = named.get(_SESSION.encode())
                    if told is not None and begun is not None and message["status"] < 400:
                        told(begun.decode("latin-1"))
                    if given is not None and _is_over(request.method, message["status"]):
                        self._counted.ended(given)
                await send(message)

            answering = self._sessions.handle_request(request.scope, receive, seen)
            if request.method == "POST":
                await _unless_gone(answering, request)
            else:
                await answering


async def _unless_gone(answering: Coroutine[Any, Any, None], request: Request) -> None:
    """Wait for an answer, but only while somebody is there to take it.

    The SDK waits for ever for that of a request whose id another has, too. Threads go on to their end.
    """
    answer = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(_hung_up(request.receive))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in (answer, gone):
            one.cancel()
        await asyncio.gather(answer, gone, return_exceptions=True)
    if answer.cancelled():
        raise ClientGone
    answer.result()


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _shakes_hands(request: Request) -> bool:
    """True for a client of a version that has sessions; one that names none begins with a handshake."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    version = request.headers.get(_VERSION)
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _is_over(method: str, status: int) -> bool:
    return method == "DELETE" and status < 300


def threads_of(workers: Workers) -> InThread:
    """Return what carries out the calls of agents: the same threads that HTTP has, in the same share."""

    async def in_thread(who: Principal, work: Callable[[], T]) -> T:
        try:
            return await workers.do(work, who)
        except Problem as busy:
            raise Unavailable(f"the server is busy: {busy.detail}") from None

    return in_thread


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

"""`/mcp`: the MCP server on the same port, with the same authentication and limits."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from scrubjay.errors import Unavailable
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http import request_input
from scrubjay.surfaces.http.problems import Problem, retry_after
from scrubjay.surfaces.http.workers import Workers

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    from scrubjay.surfaces.mcp.server import InThread

T = TypeVar("T")

IDLE_S = 600.0  # then a session ends; its client starts another
MAX_SESSIONS = 1000
MAX_SESSIONS_PER_CALLER = 100
_SESSION_HEADER = "mcp-session-id"


class McpEndpoint:
    """ASGI app that passes requests to the SDK, each for its own caller."""

    def __init__(self, server: Server[Any], max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._counted = McpSessions()
        # Answers are JSON: an event stream is cut off at shutdown, and its client would not learn that
        # its call was executed.
        self._manager = StreamableHTTPSessionManager(
            app=server,
            json_response=True,
            session_idle_timeout=IDLE_S,
            max_request_body_size=max_bytes,
            max_sessions=MAX_SESSIONS,
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        options = request_input.check_method(request, ("GET", "POST", "DELETE"))
        if options is not None:
            await options(scope, receive, send)
            return
        scope["route_name"] = "/mcp"
        # The SDK binds a session to the user that started it, so that its id is of no use to others.
        scope["user"] = _sdk_user(request.state.principal)
        if request.method == "POST":
            request_input.check_json_type(request)
            body = await request_input.read_body(request, self._max_bytes)
            _check_message(body)
            receive = _replay(body, receive)
        await self._handle(request, receive, send)

    async def _handle(self, request: Request, receive: Receive, send: Send) -> None:
        session_id, started = request.headers.get(_SESSION_HEADER), None
        with ExitStack() as stack:
            if session_id is not None:
                stack.enter_context(self._counted.used(session_id))
            elif request.method == "POST" and _starts_session(request):
                started = stack.enter_context(self._counted.starting(request.state.principal))

            async def track(message: Message) -> None:
                if message["type"] == "http.response.start":
                    headers = {name.lower(): value for name, value in message.get("headers", ())}
                    new_id = headers.get(_SESSION_HEADER.encode())
                    if started is not None and new_id is not None and message["status"] < 400:
                        started(new_id.decode("latin-1"))
                    ends = request.method == "DELETE" and message["status"] < 300
                    if session_id is not None and ends:
                        self._counted.ended(session_id)
                await send(message)

            answering = self._manager.handle_request(request.scope, receive, track)
            if request.method == "POST":
                await _until_disconnect(answering, request)
            else:
                await answering


@dataclass
class _Session:
    caller: Principal
    used_s: float
    in_progress: int = 0


class McpSessions:
    """Counts the sessions of each caller; the SDK's own limit would let one caller take them all.
    Learns of their ends from the requests, by the same rules as the SDK."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: dict[str, _Session] = {}
        self._starting: Counter[Principal] = Counter()

    @contextmanager
    def starting(self, caller: Principal) -> Iterator[Callable[[str], None]]:
        """Reserve a session; yield the function to call with its id. A Problem at the limit."""
        idle_since_s = self._clock() - IDLE_S
        for session_id, session in list(self._sessions.items()):
            if not session.in_progress and session.used_s < idle_since_s:
                del self._sessions[session_id]
        own = sum(session.caller == caller for session in self._sessions.values())
        own += self._starting[caller]
        if own >= MAX_SESSIONS_PER_CALLER:
            raise _too_many(f"you have {own} sessions open")
        if len(self._sessions) + self._starting.total() >= MAX_SESSIONS:
            raise _too_many("too many sessions are open")
        self._starting[caller] += 1

        def started(session_id: str) -> None:
            self._sessions[session_id] = _Session(caller, self._clock())

        try:
            yield started
        finally:
            self._starting -= Counter((caller,))  # forgets a caller at zero

    @contextmanager
    def used(self, session_id: str) -> Iterator[None]:
        session = self._sessions.get(session_id)
        if session is None:
            yield
            return
        session.in_progress += 1
        try:
            yield
        finally:
            session.in_progress -= 1
            session.used_s = self._clock()

    def ended(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)


def _too_many(why: str) -> Problem:
    detail = f"{why}; end unused ones, or wait: they end after {IDLE_S / 60:g} minutes without use"
    return Problem("busy", detail, retry_after(60))


def _check_message(body: bytes) -> None:
    """Refuse ambiguous JSON, and JSON that is no JSON-RPC message: the SDK's error for it is long.
    What is not JSON at all is left to the SDK, whose error is short."""
    try:
        message = request_input.loads_unambiguous(body)
    except (ValueError, RecursionError):
        return
    if (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method", ""), str)
        and any(part in message for part in ("method", "result", "error"))
    ):
        return
    raise Problem(
        "malformed",
        "this is not an MCP message; send a JSON object with jsonrpc, method and, for an answer, an id,"
        ' such as {"jsonrpc": "2.0", "id": 1, "method": "ping"}',
    )


async def _until_disconnect(answering: Coroutine[Any, Any, None], request: Request) -> None:
    """Wait for an answer while the client is connected. A call that runs in a thread is not stopped.
    The SDK would wait for ever for the answer to a request whose id is used by another one, too."""
    answer = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(_disconnect(request.receive))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        answer.cancel()
        gone.cancel()
        await asyncio.gather(answer, gone, return_exceptions=True)
    if answer.cancelled():
        raise request_input.ClientGone
    answer.result()


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _starts_session(request: Request) -> bool:
    """True for a client whose protocol version has sessions, or that names no version."""
    version = request.headers.get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def threads_of(workers: Workers) -> InThread:
    """Return a function that runs MCP calls in the threads of HTTP, within the same limits."""

    async def in_thread(caller: Principal, work: Callable[[], T]) -> T:
        try:
            return await workers.do(work, caller)
        except Problem as busy:
            raise Unavailable(f"the server is busy: {busy.detail}") from None

    return in_thread


def principal_in(context: ServerRequestContext[Any, Any]) -> Principal:
    request: Any = context.request
    caller: Principal = request.state.principal
    return caller


def _sdk_user(caller: Principal) -> AuthenticatedUser:
    owner = "\n".join("" if part is None else f"={part}" for part in (caller.tenant, caller.user))
    return AuthenticatedUser(
        AccessToken(token="", client_id=caller.name, scopes=list(caller.scopes), subject=owner)
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that repeats a body that was read, then goes on."""
    left = [body]

    async def read() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return read

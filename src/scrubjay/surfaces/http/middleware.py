"""Outermost middleware: request id, access log, security headers, errors as problem+json."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrubjay.errors import ScrubjayError
from scrubjay.surfaces.http.problems import MEDIA_TYPE, Problem, problem_of, retry_after
from scrubjay.surfaces.http.request_input import ClientGone
from scrubjay.surfaces.render.json import line
from scrubjay.surfaces.render.terminal import one_line

if TYPE_CHECKING:
    from scrubjay.surfaces.http.metrics import Monitoring

log = logging.getLogger(__name__)
access_log = logging.getLogger("scrubjay.access")
_VALID_ID = re.compile(r"[A-Za-z0-9._~+/=:-]{1,128}")
_CLIENT_GONE = 499  # in the log only: the client disconnected
_DEFAULT_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)


class RequestMiddleware:
    """Gives each request an id, turns errors into problems, and writes one log line a request."""

    def __init__(self, app: ASGIApp, monitoring: Monitoring) -> None:
        self._app = app
        self._monitoring = monitoring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = _Response(scope, send)
        with self._monitoring.request(scope) as record:
            await self._respond(scope, receive, response)
            record.status = response.status or _CLIENT_GONE
        key_name = getattr(scope["state"].get("principal"), "name", "")
        access_log.info(
            "%s %s %d %.1f ms %s %s",
            scope["method"],
            one_line(scope["path"])[:200],
            record.status,
            record.took_s * 1000,
            response.request_id,
            key_name or "-",
        )

    async def _respond(self, scope: Scope, receive: Receive, response: _Response) -> None:
        try:
            await self._app(scope, receive, response.send)
            await response.end_stream()
        except ClientGone:
            return
        except Problem as problem:
            await response.send_problem(problem)
        except ScrubjayError as error:
            await response.send_problem(_problem_for(error, scope, response.request_id))
        except asyncio.CancelledError:  # the time for a graceful shutdown is over
            await response.send_problem(
                Problem("busy", "the server is being stopped", retry_after())
            )
        except Exception:  # a bug: the client gets an id to quote, the log the traceback
            log.exception("request %s failed", response.request_id)
            detail = f"see the server's log for request {response.request_id}"
            await response.send_problem(Problem("failed", detail))


class _Response:
    """The response to one request, as far as it was sent."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self._streaming = False
        self.status = 0
        self.request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = self.request_id

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            names = {name.lower() for name, _ in headers}
            missing = [header for header in _DEFAULT_HEADERS if header[0] not in names]
            request_id = (b"x-request-id", self.request_id.encode())
            message = {**message, "headers": [*headers, *missing, request_id]}
            self._streaming = any(value.startswith(b"text/event-stream") for _, value in headers)
        elif not message.get("more_body", False):
            self._streaming = False
        await self._send(message)

    async def end_stream(self) -> None:
        """End an event stream that just stops, as those of MCP do when the server stops."""
        if self._streaming:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def send_problem(self, problem: Problem) -> None:
        if self.status:
            return
        body = line(problem.body(self.request_id)).encode()
        headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(body)), **problem.headers}
        encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self.send(
            {"type": "http.response.start", "status": problem.status, "headers": encoded}
        )
        await self.send({"type": "http.response.body", "body": body})


def _problem_for(error: ScrubjayError, scope: Scope, request_id: str) -> Problem:
    caller = scope.get("state", {}).get("principal")
    problem = problem_of(error, is_admin=caller is not None and caller.may("admin"))
    if problem.status >= 500:
        log.warning("request %s: %s", request_id, one_line(str(error)))
    return problem


def _request_id(scope: Scope) -> str:
    """Return the client's X-Request-Id if it is safe in a log, or a new id."""
    for name, value in scope["headers"]:
        given: str = value.decode("latin-1") if name == b"x-request-id" else ""
        if _VALID_ID.fullmatch(given):
            return given
    return uuid4().hex

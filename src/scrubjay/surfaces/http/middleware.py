"""Around every request: its id, its line in the log, headers of every answer, and errors as problems."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING
from uuid import uuid4

from scrubjay.errors import ScrubjayError
from scrubjay.surfaces.http.bodies import ClientGone
from scrubjay.surfaces.http.problems import MEDIA_TYPE, Problem, problem_of, retry
from scrubjay.surfaces.render.terminal import one_line

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from scrubjay.surfaces.http.observers import Watch

log = logging.getLogger(__name__)
access = logging.getLogger("scrubjay.access")
_SANE = re.compile(r"[A-Za-z0-9._~+/=:-]{1,128}")
_GONE = 499  # in the log only: whoever asked hung up
_ALWAYS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)


class Outer:
    """Gives each request an id, answers errors as problems, and writes one line of each to the log."""

    def __init__(self, app: ASGIApp, watch: Watch) -> None:
        self._app = app
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens within."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(scope, send)
        with self._watch.request(scope) as seen:
            await self._answer(scope, receive, answer)
            seen.status = answer.status or _GONE
        who = getattr(scope["state"].get("principal"), "name", "")
        access.info(
            "%s %s %d %.1f ms %s %s",
            scope["method"],
            one_line(scope["path"])[:200],
            seen.status,
            seen.took_s * 1000,
            answer.request_id,
            who or "-",
        )

    async def _answer(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        try:
            await self._app(scope, receive, answer.send)
            await answer.end_stream()
        except ClientGone:
            return
        except Problem as problem:
            await answer.tell(problem)
        except ScrubjayError as error:
            await answer.tell(_of_ours(error, scope, answer.request_id))
        except asyncio.CancelledError:  # the time to finish is over
            await answer.tell(Problem("busy", "the server is being stopped", retry()))
        except Exception:  # whatever it is: the log has it, the client its number
            log.exception("request %s failed", answer.request_id)
            said = f"the server's log says why, under {answer.request_id}"
            await answer.tell(Problem("failed", said))


class _Answer:
    """What is sent for one request."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self._streaming = False
        self.status = 0
        self.request_id = _id_of(scope)
        scope.setdefault("state", {})["request_id"] = self.request_id

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            more = [one for one in _ALWAYS if one[0] not in names]
            own = (b"x-request-id", self.request_id.encode())
            message = {**message, "headers": [*given, *more, own]}
            self._streaming = any(one[1].startswith(b"text/event-stream") for one in given)
        elif not message.get("more_body", False):
            self._streaming = False
        await self._send(message)

    async def end_stream(self) -> None:
        """End a stream of events that just stops, as those of MCP do when the server is told to stop."""
        if self._streaming:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def tell(self, problem: Problem) -> None:
        """Answer with a problem, unless an answer has begun."""
        if self.status:
            return
        from scrubjay.surfaces.render.json import line

        body = line(problem.body(self.request_id)).encode()
        headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(body)), **problem.headers}
        named = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self.send(
            {"type": "http.response.start", "status": problem.status, "headers": named}
        )
        await self.send({"type": "http.response.body", "body": body})


def _of_ours(error: ScrubjayError, scope: Scope, request_id: str) -> Problem:
    who = scope.get("state", {}).get("principal")
    problem = problem_of(error, told_all=who is not None and who.may("admin"))
    if problem.status >= 500:
        log.warning("request %s: %s", request_id, one_line(str(error)))
    return problem


def _id_of(scope: Scope) -> str:
    """Return the id that a client gave, if it can stand in a log, or a new one."""
    for name, value in scope["headers"]:
        given: str = value.decode("latin-1") if name == b"x-request-id" else ""
        if _SANE.fullmatch(given):
            return given
    return uuid4().hex

"""The connection below HTTP: what is no HTTP is a problem, too, and nobody holds a place for ever."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING
from uuid import uuid4

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from scrubjay.surfaces.http.descriptors import most_connections
from scrubjay.surfaces.http.middleware import access
from scrubjay.surfaces.http.problems import MEDIA_TYPE, Problem, retry

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

HEAD_TIME_S = 10.0  # for the lines of a request, from the first byte to the last
READING_TIME_S = 30.0  # for a client that takes nothing of its answer
UNSENT_BYTES = (
    128 * 1024
)  # in the system's hands; of what is there we cannot see how much is taken
LINGER_S = 10.0  # for the rest of a body that was answered before it was read
MOST_HEAD_BYTES = 32 * 1024


class Wire(H11Protocol):
    """A connection with deadlines.

    uvicorn has one for a connection that is idle between two requests, but none for a request that comes
    byte by byte, nor for an answer that nobody takes.
    """

    _deadline: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, if there is a place for one more."""
        super().connection_made(transport)
        _keep_little(transport)
        if len(self.connections) > most_connections():
            self._refuse(Problem("busy", "too many connections are open", retry()))
            return
        self._close_in(HEAD_TIME_S)

    def data_received(self, data: bytes) -> None:
        """Read what came; the lines of a request must be complete in time."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            if self._deadline is None:
                self._close_in(HEAD_TIME_S)
        elif self.conn.our_state is not h11.DONE:
            self._no_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of this one, but not for ever."""
        super().on_response_complete()
        if self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY:
            self._close_in(LINGER_S)

    def pause_writing(self) -> None:
        """Give a client that does not take its answer some time to do so."""
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        """Let the client go on."""
        super().resume_writing()
        self._no_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadlines with the connection."""
        self._no_deadline()
        self._no_reading()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say that this is no HTTP, as a problem like any other."""
        self._refuse(Problem("malformed", "this is not HTTP that the server understands"))

    def _refuse(self, problem: Problem) -> None:
        from scrubjay.surfaces.render.json import line

        request_id = uuid4().hex
        access.info("- - %d - %s -", problem.status, request_id)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not _begun(self.cycle):
            body = line(problem.body(request_id)).encode()
            headers = {
                "content-type": MEDIA_TYPE,
                "content-length": str(len(body)),
                "cache-control": "no-store",
                "x-content-type-options": "nosniff",
                "x-request-id": request_id,
                "connection": "close",
                **problem.headers,
            }
            for event in (
                h11.Response(status_code=problem.status, headers=list(headers.items())),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _close_in(self, seconds: float) -> None:
        self._no_deadline()
        self._deadline = self.loop.call_later(seconds, self.transport.close)

    def _no_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _watch_reading(self) -> None:
        """Cut off a client that takes nothing for a while; one that is slow may go on."""
        left = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() < left:
                self._watch_reading()
            else:
                self.transport.abort()

        self._no_reading()
        self._reading = self.loop.call_later(READING_TIME_S, look)

    def _no_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None


def _keep_little(transport: asyncio.Transport) -> None:
    """Let the system hold little of an answer: it would take megabytes at once, then none for minutes."""
    connection = transport.get_extra_info("socket")
    try:
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        else:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNSENT_BYTES)
    except OSError:  # it is closed already, or the system has no such bound
        return


def _begun(cycle: RequestResponseCycle | None) -> bool:
    return cycle is not None and cycle.response_started and not cycle.response_complete

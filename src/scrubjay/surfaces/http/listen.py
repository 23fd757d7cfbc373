"""Socket, connections with time limits, graceful shutdown and logging of `scrubjay serve`.
What uvicorn limits itself is set in `http_server`: idle connections (timeout_keep_alive), headers that
arrive in pieces (h11_max_incomplete_event_size), the time for a shutdown. `HttpConnection` adds the rest."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import FrameType
from typing import Any
from uuid import uuid4

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.surfaces.http.middleware import access_log
from scrubjay.surfaces.http.origin_check import MAX_HEADER_BYTES
from scrubjay.surfaces.http.problems import MEDIA_TYPE, Problem, retry_after
from scrubjay.surfaces.render.json import line
from scrubjay.text.api_key_format import mask_secrets

log = logging.getLogger(__name__)
SHUTDOWN_S = 20  # for requests in progress
HEADER_TIMEOUT_S = 10.0  # from the first byte of a request to the end of its headers
WRITE_TIMEOUT_S = 30.0  # for a client that reads nothing of its response
LINGER_S = 10.0  # for the rest of a body whose response was sent before it was read
MAX_CONNECTIONS = 1000
_UNSENT_BYTES = 128 * 1024  # in the system's buffer: we cannot see how much a client has read
_WANTED_DESCRIPTORS = 8192  # macOS allows any number here, and enforces a lower one later
_KEEP_ALIVE_S = 15
BACKLOG = 2048
# asyncio accepts as many connections at once as its backlog. Where the process can open no more files, each
# attempt fails: with 2,048 of them that was two thousand log lines a second.
_ACCEPT_BATCH = 16
_LOG_FULL_EVERY_S = 60.0
_MIN_LEFT_S = 1.0
_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def bind(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_ADDRCONFIG
        )
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(
            f"no host {host!r} ({why}); use an address of this machine, such as 127.0.0.1"
        ) from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        else:  # on Windows SO_REUSEADDR would let two servers share one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # type: ignore[attr-defined,unused-ignore]
        listening.bind(address)
        # Linux reports only here that another server listens on the port.
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"cannot listen on {host} port {port} ({error.strerror}); choose another port with --port,"
            " or 0 for a free one"
        ) from None
    listening.setblocking(False)
    return listening


def is_loopback(listening: socket.socket) -> bool:
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def browser_urls(listening: socket.socket, names: Sequence[str] = ()) -> list[str]:
    """Return the URLs at which a browser reaches a socket, that of this machine first.
    A socket that listens everywhere has loopback and, for other machines, `names` or an address."""
    host, port = listening.getsockname()[:2]
    if not ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        return [url_of(listening)]
    others = names or [address for address in [_own_address()] if address]
    return [f"http://{name}:{port}" for name in ("127.0.0.1", *others)]


def _own_address() -> str:
    """Return the address of this machine in its network; '' without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; the system only chooses a route
        except OSError:
            return ""
        return str(probe.getsockname()[0])


@lru_cache(maxsize=1)
def max_connections() -> int:
    """Return the limit of connections: half of the file descriptors, the databases get the rest.
    Raises the limit of descriptors as far as allowed: macOS starts with 256."""
    return min(MAX_CONNECTIONS, max(1, _max_descriptors() // 2))


def _max_descriptors() -> int:
    try:
        import resource
    except ImportError:  # Windows, where only memory is the limit
        return _WANTED_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = _WANTED_DESCRIPTORS if hard == unlimited else min(_WANTED_DESCRIPTORS, hard)
    if soft != unlimited and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError):  # then it stays as it is
            pass
    return _WANTED_DESCRIPTORS if soft == unlimited else soft


class HttpConnection(H11Protocol):
    """A connection with time limits, whose protocol errors are problems like any other.
    uvicorn limits only the time between two requests. It has no limit for headers that come byte by byte,
    for a body that is sent on after its response, or for a response that is not read. Its limit_concurrency
    counts a connection only once its headers are complete, so that idle ones could use up all file
    descriptors, and answers in plain text."""

    _deadline: asyncio.TimerHandle | None = None
    _write_deadline: asyncio.TimerHandle | None = None  # cancelled twice, it does no harm

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _limit_send_buffer(transport)
        if len(self.connections) > max_connections():
            self._refuse(Problem("busy", "too many connections are open", retry_after()))
            return
        self._close_in(HEADER_TIMEOUT_S)

    def data_received(self, data: bytes) -> None:
        """Read data; the headers of a request must be complete in time."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            if self._deadline is None:
                self._close_in(HEADER_TIMEOUT_S)
        elif self.conn.our_state is not h11.DONE:
            self._cancel_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for a limited time for the rest of this one."""
        super().on_response_complete()
        if self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY:
            self._close_in(LINGER_S)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_write_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        self._cancel_write_deadline()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(Problem("malformed", "the request is not valid HTTP/1.1"))

    def _refuse(self, problem: Problem) -> None:
        request_id = uuid4().hex
        access_log.info("- - %d - %s -", problem.status, request_id)
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not _is_responding(self.cycle):
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
        self._cancel_deadline()
        self._deadline = self.loop.call_later(seconds, self.transport.close)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _watch_reading(self) -> None:
        """Drop a client that reads nothing for a while; a slow one may go on."""
        unsent = self.transport.get_write_buffer_size()

        def check() -> None:
            if self.transport.get_write_buffer_size() < unsent:
                self._watch_reading()
            else:
                self.transport.abort()

        self._write_deadline = self.loop.call_later(WRITE_TIMEOUT_S, check)

    def _cancel_write_deadline(self) -> None:
        if self._write_deadline is not None:
            self._write_deadline.cancel()


def _is_responding(cycle: RequestResponseCycle | None) -> bool:
    return cycle is not None and cycle.response_started and not cycle.response_complete


def _limit_send_buffer(transport: asyncio.Transport) -> None:
    """Let the system buffer little: it would take megabytes at once, then nothing for minutes."""
    connection = transport.get_extra_info("socket")
    try:
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
        else:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES)
    except OSError:  # closed already, or not supported by the system
        return


class HttpServer(uvicorn.Server):
    """A server that calls back when it listens, shuts down gracefully, and at once on a second signal."""

    def __init__(self, config: uvicorn.Config, on_listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_listening = on_listening
        self._full_logged_s = float("-inf")
        self._stopping_since_s: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            asyncio.get_running_loop().set_exception_handler(self._log_uncaught)
            for listening in sockets or ():  # asyncio has set the backlog to _ACCEPT_BATCH
                listening.listen(BACKLOG)
            self._on_listening()

    @property
    def left_s(self) -> float:
        """Seconds left for requests in progress since the shutdown began; at least 1."""
        limit_s = self.config.timeout_graceful_shutdown or 0
        now_s = time.monotonic()
        since_s = now_s if self._stopping_since_s is None else self._stopping_since_s
        return max(_MIN_LEFT_S, since_s + limit_s - now_s)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping_since_s = time.monotonic()
        await super().shutdown(sockets)

    def _log_uncaught(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log an uncaught error; "too many open files" only once a minute."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _OUT_OF_DESCRIPTORS:
            loop.default_exception_handler(context)
        elif time.monotonic() - self._full_logged_s > _LOG_FULL_EVERY_S:
            self._full_logged_s = time.monotonic()
            log.error("cannot accept connections (%s); raise ulimit -n", error.strerror)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: gracefully at the first signal, at once at the second.
        What was answered is committed by then; what was not is stored completely or not at all. uvicorn's
        own handler would also raise the signal again after the shutdown."""
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True


def http_server(
    app: Starlette, on_listening: Callable[[], None], *, shutdown_s: int = SHUTDOWN_S
) -> HttpServer:
    config = uvicorn.Config(
        app,
        http=HttpConnection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=shutdown_s,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        backlog=_ACCEPT_BATCH,
    )
    return HttpServer(config, on_listening)


class MaskingFormatter(logging.Formatter):
    """Masks API keys in log lines: clients put them into paths, request ids and error messages."""

    def format(self, record: logging.LogRecord) -> str:
        return mask_secrets(super().format(record))


def log_to_stderr() -> None:
    """Write requests and errors to standard error, one line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(MaskingFormatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    for name, level in (
        ("scrubjay", logging.WARNING),
        ("scrubjay.access", logging.INFO),
        ("uvicorn", logging.ERROR),
        ("mcp", logging.ERROR),
        ("asyncio", logging.ERROR),
    ):
        logging.getLogger(name).setLevel(level)
        if "." not in name:
            logging.getLogger(name).handlers = [handler]
            logging.getLogger(name).propagate = False

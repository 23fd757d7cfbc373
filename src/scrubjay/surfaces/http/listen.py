"""Listening: the socket, the process's signals, the log, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.surfaces.http.log_masking import Masking
from scrubjay.surfaces.http.protocol import MOST_HEAD_BYTES, Wire

if TYPE_CHECKING:
    from types import FrameType

    from starlette.applications import Starlette

log = logging.getLogger(__name__)
FINISH_S = 20  # for what is under way when the server is told to stop
_KEEP_ALIVE_S = 15
_LINE = 2048  # connections that nobody has taken yet
# Of them, so many are taken in one go. Where the process may open nothing more, each of these attempts
# fails: with as many as wait, that was two thousand lines in the log a second.
_AT_ONCE = 16
_FULL_EVERY_S = 60.0
_LEAST_LEFT_S = 1.0
_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_SIGNALS = ("SIGINT", "SIGTERM", "SIGBREAK")


def bind(host: str, port: int) -> socket.socket:
    """Return a socket at that address; one clear sentence where there can be none."""
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_ADDRCONFIG
        )
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(
            f"there is no host {host!r} ({why}); give an address of this machine, such as 127.0.0.1"
        ) from None
    family, kind, protocol, _, address = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        else:  # on Windows that would let two servers have one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # type: ignore[attr-defined,unused-ignore]
        made.bind(address)
        # Linux says only here that another server listens on the port.
        made.listen(_LINE)
    except OSError as error:
        made.close()
        raise Unavailable(
            f"cannot listen on {host} port {port} ({error.strerror}); choose another with --port, or 0"
            " for any that is free"
        ) from None
    made.setblocking(False)
    return made


def is_loopback(listening: socket.socket) -> bool:
    """True where only this machine can reach the socket."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def url_of(listening: socket.socket) -> str:
    """Return where a socket is found."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def reached_at(listening: socket.socket, names: Sequence[str] = ()) -> list[str]:
    """Return where a browser finds a socket, on this machine first; `names` are those that were allowed.

    Of one that listens everywhere, that is loopback and, for other machines, a name or an address.
    """
    host, port = listening.getsockname()[:2]
    if not ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        return [url_of(listening)]
    others = names or [found for found in [_own_address()] if found]
    return [f"http://{one}:{port}" for one in ("127.0.0.1", *others)]


def _own_address() -> str:
    """Return the address that this machine has towards others; empty without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # nothing is sent; the system chooses how it would be
        except OSError:
            return ""
        return str(asked.getsockname()[0])


class Listener(uvicorn.Server):
    """A server that says when it listens, finishes what is under way, and ends at once if told twice."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening
        self._full_since_s = float("-inf")
        self._told_s: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            asyncio.get_running_loop().set_exception_handler(self._odd)
            for one in (
                sockets or ()
            ):  # asyncio has made the line as short as what it takes in one go
                one.listen(_LINE)
            self._listening()

    @property
    def left_s(self) -> float:
        """Seconds that are left to finish what is under way, since it was told to stop; 1 at the least."""
        finish_s = self.config.timeout_graceful_shutdown or 0
        begun_s = time.monotonic() if self._told_s is None else self._told_s
        return max(_LEAST_LEFT_S, begun_s + finish_s - time.monotonic())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish, whoever said so."""
        self._told_s = time.monotonic()
        await super().shutdown(sockets)

    def _odd(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log what nobody caught; that nothing more can be opened, once a minute."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _FULL:
            loop.default_exception_handler(context)
        elif time.monotonic() - self._full_since_s > _FULL_EVERY_S:
            self._full_since_s = time.monotonic()
            log.error(
                "no connection can be taken (%s); raise the limit: ulimit -n", error.strerror
            )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals that mean to stop; uvicorn would raise them again after a good end."""
        known = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        try:
            before = {one: signal.signal(one, self.handle_exit) for one in known}
        except ValueError:  # not in the main thread, where whoever runs this stops it
            yield
            return
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: the first time in good order, the second time at once.

        What was answered is in the store by then, and what was not is there as a whole or not at all.
        """
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True


def listener(
    app: Starlette, listening: Callable[[], None], *, finish_s: int = FINISH_S
) -> Listener:
    """Return a server of an app; `run([socket])` serves until it is told to stop."""
    config = uvicorn.Config(
        app,
        http=Wire,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=finish_s,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        backlog=_AT_ONCE,
    )
    return Listener(config, listening)


def log_to_stderr() -> None:
    """Write the log to standard error, a line each: requests, and what went wrong."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Masking("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
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

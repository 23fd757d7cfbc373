"""A connection to Postgres that notices when the server has stopped to answer.

The server ends a statement that takes too long, but a server that hangs does not. Nor does its machine tell:
it goes on to acknowledge what arrives. So whoever waits for long asks, on a connection of its own, whether
there is still somebody.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Generator
from typing import Any

import psycopg

QUIET_S = 5.0  # of silence, before one asks
ANSWER_S = 5.0  # for the answer to that
_LOOK_EVERY_S = 0.1
_MAY_WE_ENCRYPT = struct.pack(
    "!ii", 8, 80877103
)  # a server says yes or no before it knows who asks

Waiting = Generator[Any, Any, Any]


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that waits only as long as the server is there."""

    def wait(
        self, gen: Waiting, interval: float = _LOOK_EVERY_S, timeout: float | None = None
    ) -> Any:
        """Wait for what was asked; an OperationalError where the server does not answer any more."""
        if timeout is None:  # which psycopg 3.2 does not know
            return super().wait(self._watched(gen), interval)
        return super().wait(self._watched(gen), interval, timeout)

    def _watched(self, gen: Waiting) -> Waiting:
        """Go on with what is waited for, and after some silence ask whether that makes sense."""
        heard_s = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                now_s = time.monotonic()
                if ready:
                    heard_s = now_s
                elif now_s - heard_s > QUIET_S:
                    if not self._is_there():
                        self.close()  # whatever comes later would be taken for another answer
                        raise psycopg.OperationalError(
                            f"nothing was heard of it for {time.monotonic() - heard_s:.0f} s"
                        )
                    heard_s = time.monotonic()
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _is_there(self) -> bool:
        """Ask the server a question that any client may ask."""
        try:
            with self._reached() as asking:
                asking.settimeout(ANSWER_S)
                asking.sendall(_MAY_WE_ENCRYPT)
                asking.recv(1)
        except OSError:
            return False
        return True

    def _reached(self) -> socket.socket:
        info = self.info
        if not info.host.startswith(("/", "@")):
            return socket.create_connection((info.hostaddr or info.host, info.port), ANSWER_S)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.settimeout(ANSWER_S)
        try:
            path = f"{info.host}/.s.PGSQL.{info.port}"
            made.connect(f"\0{path[1:]}" if path.startswith("@") else path)
        except OSError:
            made.close()
            raise
        return made

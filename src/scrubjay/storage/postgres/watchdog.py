"""A Postgres connection that notices when the server no longer answers.

The server stops a statement that takes too long, but a server that hangs does not. Its machine does not
show that either: it goes on to acknowledge packets. So after some silence we send a request on a second
connection.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Generator
from typing import Any

import psycopg

QUIET_S = 5.0  # of silence before the check
ANSWER_S = 5.0  # for its answer
_INTERVAL_S = 0.1
_SSL_REQUEST = struct.pack("!ii", 8, 80877103)  # a server answers it before authentication

Waiting = Generator[Any, Any, Any]


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that waits only as long as the server is alive."""

    def wait(
        self, gen: Waiting, interval: float = _INTERVAL_S, timeout: float | None = None
    ) -> Any:
        """Wait for a result; OperationalError when the server no longer answers."""
        if timeout is None:  # psycopg 3.2 does not have this parameter
            return super().wait(self._watched(gen), interval)
        return super().wait(self._watched(gen), interval, timeout)

    def _watched(self, gen: Waiting) -> Waiting:
        heard_s = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                now_s = time.monotonic()
                if ready:
                    heard_s = now_s
                elif now_s - heard_s > QUIET_S:
                    if not self._is_alive():
                        self.close()  # a late result would be taken for that of another statement
                        raise psycopg.OperationalError(
                            f"no data for {time.monotonic() - heard_s:.0f} s"
                        )
                    heard_s = time.monotonic()
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _is_alive(self) -> bool:
        try:
            with self._second_connection() as second:
                second.settimeout(ANSWER_S)
                second.sendall(_SSL_REQUEST)
                second.recv(1)
        except OSError:
            return False
        return True

    def _second_connection(self) -> socket.socket:
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

"""A model hub that misbehaves on request, on a port of this machine."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Hub:
    """What the server has, how it behaves, and what it was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    """By the last part of the path."""
    dies_after: list[int] = field(default_factory=list)
    """Bytes after which each next answer breaks off."""
    ignores_range: bool = False
    wait_seconds: float = 0.0
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(path, Range header) of every request."""


@pytest.fixture
def empty_hub() -> Iterator[Hub]:
    """Serve nothing yet, until the test ends."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self, hub)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answer(request: BaseHTTPRequestHandler, hub: Hub) -> None:
    """Answer one GET, with a Range if asked for and known."""
    wanted = request.headers.get("Range", "")
    hub.asked.append((request.path, wanted))
    time.sleep(hub.wait_seconds)
    body = hub.files.get(request.path.rpartition("/")[2])
    if body is None:
        request.send_error(404)
        return
    start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
    if start >= len(body) and wanted:
        request.send_error(416)
        return
    if wanted and not hub.ignores_range:
        request.send_response(206)
        request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        body = body[start:]
    else:
        request.send_response(200)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    limit = hub.dies_after.pop(0) if hub.dies_after else len(body)
    with suppress(ConnectionError):  # the one who asked may have been killed
        request.wfile.write(body[:limit])
    request.close_connection = True

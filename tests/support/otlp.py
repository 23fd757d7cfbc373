"""A receiver of OTLP over HTTP on this machine, which decodes what it is sent."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Received:
    """The spans that came, and under which service."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.raw = b""
        self.url = ""

    def named(self, name: str) -> Any:
        (span,) = [one for one in self.spans if one.name == name]
        return span


@contextmanager
def receiver() -> Iterator[Received]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            received.raw += body
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                names = [
                    one.value.string_value
                    for one in resource.resource.attributes
                    if one.key == "service.name"
                ]
                received.services.update(names)
                for scope in resource.scope_spans:
                    received.spans.extend(scope.spans)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    received.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

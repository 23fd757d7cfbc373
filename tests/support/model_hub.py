"""A model hub and the host to which it sends people for large files, on two ports of this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import unquote

COMMIT = "c0ffee" * 6 + "beef"


class Asked(NamedTuple):
    """One request, as it came."""

    host: str
    method: str
    file: str
    range: str
    authorization: str


@dataclass
class ModelHub:
    """What the hub has, how it behaves, and what it was asked."""

    url: str = ""
    store_url: str = ""
    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    revisions: set[str] = field(default_factory=lambda: {"main", COMMIT})
    gated_by: str = ""
    """The token without which nothing is shown."""
    says_nothing: bool = False
    """Neither checksums nor commits are stated, as by a plain mirror."""
    dies_after: list[int] = field(default_factory=list)
    """Bytes after which each next large file breaks off."""
    spoils: bool = False
    """Other bytes are sent than were announced."""
    asked: list[Asked] = field(default_factory=list)

    def of(self, method: str) -> list[str]:
        """The files for which the hub itself was asked, by method."""
        return [one.file for one in self.asked if (one.host, one.method) == ("hub", method)]


@contextmanager
def serving() -> Iterator[ModelHub]:
    """Serve an empty hub until the block ends."""
    hub = ModelHub()
    servers = [_server(hub, "hub"), _server(hub, "store")]
    hub.url, hub.store_url = (f"http://127.0.0.1:{one.server_port}" for one in servers)
    threads = [
        threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
        for one in servers
    ]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def _server(hub: ModelHub, host: str) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            _answer(self, hub, host)

        def do_HEAD(self):
            _answer(self, hub, host)

        def log_message(self, *args):
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def _answer(request: BaseHTTPRequestHandler, hub: ModelHub, host: str) -> None:
    owner, name, _, revision, *file = map(unquote, request.path.strip("/").split("/"))
    path = "/".join(file)
    wanted, secret = (request.headers.get(one, "") for one in ("Range", "Authorization"))
    hub.asked.append(Asked(host, request.command, path, wanted, secret))
    files = hub.repos.get(f"{owner}/{name}")
    body = (files or {}).get(path)
    is_large = path.endswith((".onnx", "_data"))
    if host == "store":
        _send(request, hub, body or b"", wanted)
    elif files is None or (hub.gated_by and secret != f"Bearer {hub.gated_by}"):
        _refuse(request, 401, "RepoNotFound" if files is None else "GatedRepo")
    elif revision not in hub.revisions and not revision.startswith("moved-"):
        _refuse(request, 404, "RevisionNotFound")
    elif body is None:
        _refuse(request, 404, "EntryNotFound")
    elif is_large:
        stated = {"X-Linked-Etag": f'"{hashlib.sha256(body).hexdigest()}"'}
        stated |= {"X-Linked-Size": str(len(body)), "X-Repo-Commit": COMMIT}
        _redirect(request, f"{hub.store_url}{request.path}", {} if hub.says_nothing else stated)
    elif not revision.startswith("moved-"):
        place = f"/{owner}/{name}/cache/moved-{revision.replace('/', '-')}/{path}"
        _redirect(request, place, {} if hub.says_nothing else {"X-Repo-Commit": COMMIT})
    else:
        _send(request, hub, body, wanted)


def _refuse(request: BaseHTTPRequestHandler, status: int, code: str) -> None:
    request.send_response(status)
    request.send_header("X-Error-Code", code)
    request.send_header("Content-Length", "0")
    request.end_headers()


def _redirect(request: BaseHTTPRequestHandler, place: str, headers: dict[str, str]) -> None:
    request.send_response(307)
    for name, value in {"Location": place, "Content-Length": "0", **headers}.items():
        request.send_header(name, value)
    request.end_headers()


def _send(request: BaseHTTPRequestHandler, hub: ModelHub, body: bytes, wanted: str) -> None:
    git = hashlib.sha1(f"blob {len(body)}\0".encode() + body).hexdigest()
    sent = body[::-1] if hub.spoils else body
    start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
    request.send_response(206 if wanted else 200)
    if wanted:
        request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
    if not hub.says_nothing:
        request.send_header("ETag", f'W/"{git}"')
        request.send_header("X-Repo-Commit", COMMIT)
    request.send_header("Content-Length", str(len(body) - start))
    request.end_headers()
    if request.command == "GET":
        limit = hub.dies_after.pop(0) if hub.dies_after else len(body)
        with suppress(ConnectionError):
            request.wfile.write(sent[start:][:limit])
    request.close_connection = True

"""Reject requests by Host, Origin and Sec-Fetch-Site, and by odd sizes, lengths and paths.
A web site can make a browser send requests to an address of this machine, under the site's own
name if that name resolves to this machine (DNS rebinding). The browser's Host, Origin and
Sec-Fetch-Site reveal it."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.surfaces.http.problems import Problem

LOOPBACK = ("localhost", "127.0.0.1", "::1")
PROTECTED = ("/v1", "/mcp", "/metrics", "/session")
MAX_PATH_BYTES = 512
MAX_QUERY_BYTES = 16 * 1024
MAX_HEADER_BYTES = 32 * 1024
_CLOSE = {"Connection": "close"}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_OWN_SITE = ("same-origin", "none")


def is_protected(path: str) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in PROTECTED)


class OriginCheck:
    """Middleware that passes on requests for this server that no other web site has caused."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = frozenset(_normalized(name) for name in (*LOOPBACK, *names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _check_sizes(scope)
            _check_length(scope)
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            self._check_host(scope, headers.get(b"host", ""))
            _check_origin(scope, headers)
            _check_path(scope)
        await self._app(scope, receive, send)

    def _check_host(self, scope: Scope, host: str) -> None:
        name = _host_name(host)
        # An IP address in the URL cannot be a rebound name.
        address = without_ipv6_mapping((scope.get("server") or ("",))[0])
        if name is None or (name not in self._names and name != _normalized(address)):
            raise Problem(
                "wrong-host",
                f"Host is {host[:80]!r}, which is not a name of this server; to allow it, start the"
                " server with --allow-host NAME",
            )


def _check_origin(scope: Scope, headers: dict[bytes, str]) -> None:
    origin = headers.get(b"origin")
    if origin is not None and not _is_same(origin, headers.get(b"host", "")):
        raise Problem(
            "other-origin",
            f"Origin is {origin[:80]!r}; only this server's own web UI may send requests",
        )
    site = headers.get(b"sec-fetch-site", "none")
    if site not in _OWN_SITE and is_protected(scope["path"]):
        raise Problem(
            "other-origin", "the request comes from another web site; only this server's own may"
        )


def _check_sizes(scope: Scope) -> None:
    """Limit path, query string and headers.
    uvicorn's h11_max_incomplete_event_size limits only headers that arrive in several pieces."""
    if len(scope["raw_path"]) > MAX_PATH_BYTES or len(scope["query_string"]) > MAX_QUERY_BYTES:
        limits = f"the limits are {MAX_PATH_BYTES} bytes for a path, {MAX_QUERY_BYTES} for a query"
        raise Problem("too-long", f"{limits}; send the rest in the body of a POST", _CLOSE)
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        detail = f"the headers have more than {MAX_HEADER_BYTES} bytes; send fewer"
        raise Problem("large-head", detail, _CLOSE)


def _check_length(scope: Scope) -> None:
    """Refuse a body with two lengths: a proxy in front of us may see its end elsewhere."""
    if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
        detail = "the request has Content-Length and Transfer-Encoding; send one of them"
        raise Problem("malformed", detail, _CLOSE)


def _check_path(scope: Scope) -> None:
    """Refuse a path that another program might normalize to a different one."""
    path, raw = scope["path"], scope["raw_path"]
    odd = not path.isprintable() or "\\" in path or "//" in path or not path.startswith("/")
    if odd or any(part in (".", "..") for part in path.split("/")) or b"%" in raw:
        raise no_such_path()


def no_such_path() -> Problem:
    return Problem("not-found", "no such path; /v1/openapi.json lists the paths")


def _is_same(origin: str, host: str) -> bool:
    """True where origin and Host agree, with either scheme: a proxy may terminate TLS."""
    try:
        parts = urlsplit(origin)
        default_port = _DEFAULT_PORTS.get(parts.scheme)
        requested = urlsplit(f"//{host}")
        return (
            default_port is not None
            and parts.hostname is not None
            and parts.hostname == requested.hostname
            and not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
            and (parts.port or default_port) == (requested.port or default_port)
        )
    except ValueError:
        return False


def _host_name(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    is_plain = parts.netloc == host and "@" not in host and not parts.path
    return _normalized(parts.hostname) if is_plain and parts.hostname else None


def without_ipv6_mapping(address: str) -> str:
    """Return an address as people write it: a dual-stack socket shows IPv4 as ::ffff:a.b.c.d."""
    bare = address.lower().removeprefix("::ffff:")
    return bare if "." in bare else address


def _normalized(name: str) -> str:
    return name.strip("[]").lower().removesuffix(".")

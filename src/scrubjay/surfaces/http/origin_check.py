"""Who is let near: requests that name this server, come from no other site, and have a plain path.

A page of another site can send requests to an address of this machine, under its own name if that name is
made to mean this machine (DNS rebinding). Its browser tells: by Host, Origin and Sec-Fetch-Site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrubjay.surfaces.http.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "::1")
GUARDED = ("/v1", "/mcp", "/metrics", "/session")
LONGEST_PATH = 512
LONGEST_QUERY = 16 * 1024
MOST_HEADER_BYTES = 32 * 1024
_CLOSE = {"Connection": "close"}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_OWN_SITE = ("same-origin", "none")


def is_guarded(path: str) -> bool:
    """True for paths below which there is something to protect."""
    return any(path == one or path.startswith(f"{one}/") for one in GUARDED)


class Guard:
    """Lets through what was meant for this server, by somebody who may mean it."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = frozenset(_bare(one) for one in (*LOOPBACK, *names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the first lines of a request, and at nothing else."""
        if scope["type"] == "http":
            _check_sizes(scope)
            _check_length(scope)
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            self._check_host(scope, headers.get(b"host", ""))
            _check_origin(scope, headers)
            _check_path(scope)
        await self._app(scope, receive, send)

    def _check_host(self, scope: Scope, host: str) -> None:
        name = _name_of(host)
        # Who writes the address itself was not sent here by a name.
        reached = unmapped((scope.get("server") or ("",))[0])
        if name is None or (name not in self._names and name != _bare(reached)):
            raise Problem(
                "wrong-host",
                f"Host is {host[:80]!r}, which is none of this server's names; if it is to be one, start"
                " the server with --allow-host NAME",
            )


def _check_origin(scope: Scope, headers: dict[bytes, str]) -> None:
    origin = headers.get(b"origin")
    if origin is not None and not _same(origin, headers.get(b"host", "")):
        raise Problem(
            "other-origin",
            f"Origin is {origin[:80]!r}; only pages of this server itself may ask it",
        )
    site = headers.get(b"sec-fetch-site", "none")
    if site not in _OWN_SITE and is_guarded(scope["path"]):
        raise Problem("other-origin", "a page of another site asks; only this server's own may")


def _check_sizes(scope: Scope) -> None:
    """Refuse first lines that no sensible client sends; uvicorn lets in whatever comes in one piece."""
    if len(scope["raw_path"]) > LONGEST_PATH or len(scope["query_string"]) > LONGEST_QUERY:
        said = f"a path has at most {LONGEST_PATH} bytes, what follows it {LONGEST_QUERY}"
        raise Problem("too-long", f"{said}; send the rest in the body of a POST", _CLOSE)
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADER_BYTES:
        said = f"the headers have more than {MOST_HEADER_BYTES} bytes; send fewer"
        raise Problem("large-head", said, _CLOSE)


def _check_length(scope: Scope) -> None:
    """Refuse a body with two lengths: what stands before us may end it elsewhere than we do."""
    if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
        said = "the request has Content-Length and Transfer-Encoding; send one of them"
        raise Problem("malformed", said, _CLOSE)


def _check_path(scope: Scope) -> None:
    """Refuse a path that another program might read as another one."""
    path, raw = scope["path"], scope["raw_path"]
    odd = not path.isprintable() or "\\" in path or "//" in path or not path.startswith("/")
    if odd or any(part in (".", "..") for part in path.split("/")) or b"%" in raw:
        raise Problem(
            "not-found", "there is nothing under this path; see /v1/openapi.json for what there is"
        )


def _same(origin: str, host: str) -> bool:
    """True where an origin is the host that was asked; TLS may end before us, so either scheme may be."""
    try:
        parts = urlsplit(origin)
        usual = _DEFAULT_PORTS.get(parts.scheme)
        asked = urlsplit(f"//{host}")
        return (
            usual is not None
            and parts.hostname is not None
            and parts.hostname == asked.hostname
            and not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
            and (parts.port or usual) == (asked.port or usual)
        )
    except ValueError:
        return False


def _name_of(host: str) -> str | None:
    """Return the name in a Host header, or None where that is not one."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    plain = parts.netloc == host and "@" not in host and not parts.path
    return _bare(parts.hostname) if plain and parts.hostname else None


def unmapped(address: str) -> str:
    """Return an address as people write it: one of IPv4 on a socket of both kinds is ::ffff:a.b.c.d."""
    found = address.lower().removeprefix("::ffff:")
    return found if "." in found else address


def _bare(name: str) -> str:
    return name.strip("[]").lower().removesuffix(".")

"""Files of the web UI, served from the package under a strict content security policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from scrubjay.surfaces.http.problems import Problem
from scrubjay.types import NOTHING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
VARY_ACCEPT = {"Vary": "Accept"}  # `/` is the web UI for browsers and JSON for programs
_OPENER_POLICY = {"Cross-Origin-Opener-Policy": "same-origin"}


class _File(NamedTuple):
    body: bytes
    headers: dict[str, str]


@cache
def _files() -> dict[str, _File]:
    """Return every file by its path below `web/`; no other path is looked up."""
    return dict(_below(files("scrubjay.surfaces") / "web", ""))


def _below(folder: Traversable, prefix: str) -> Iterator[tuple[str, _File]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _below(entry, f"{prefix}{entry.name}/")
        elif media_type := _MEDIA_TYPES.get(entry.name.rpartition(".")[2]):
            yield prefix + entry.name, _file(media_type, entry.read_bytes())


def _file(media_type: str, body: bytes) -> _File:
    headers = {
        "Content-Type": media_type,
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
        # Checked on each visit and sent only when it changed: no old file survives an upgrade.
        "Cache-Control": "no-cache",
        "ETag": f'"{sha256(body).hexdigest()[:32]}"',
    }
    return _File(body, headers)


def index_page(request: Request) -> Response:
    return _respond(request, "index.html", VARY_ACCEPT)


async def web_ui_file(request: Request) -> Response:
    path = request.path_params["path"]
    if path not in _files():
        raise Problem("not-found", "the web UI has no such file")
    return _respond(request, path)


def _respond(request: Request, path: str, extra: Mapping[str, str] = NOTHING) -> Response:
    file = _files()[path]
    # Over plain HTTP from another machine a browser ignores the opener policy and logs an error. It
    # sends Sec-Fetch-Dest only where it honors the policy.
    opener = _OPENER_POLICY if "sec-fetch-dest" in request.headers else NOTHING
    headers = {**file.headers, **extra, **opener}
    cached = request.headers.get("if-none-match", "")
    if file.headers["ETag"] in (tag.strip().removeprefix("W/") for tag in cached.split(",")):
        del headers["Content-Type"]
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers)

"""The web page: its files, as they are in the package, under a policy that allows nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response

from scrubjay.surfaces.http.problems import Problem
from scrubjay.types import NOTHING

if TYPE_CHECKING:
    from starlette.requests import Request

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


BY_ACCEPT = {"Vary": "Accept"}  # of `/`: a page for people, JSON for programs
_ALONE = {"Cross-Origin-Opener-Policy": "same-origin"}  # who opened its window has no hold of it


class _File(NamedTuple):
    body: bytes
    headers: dict[str, str]


@cache
def _files() -> dict[str, _File]:
    """Every file of the page by its name; no other path is ever looked up."""
    folder = files("scrubjay.surfaces") / "web"
    found = {one.name: one for one in folder.iterdir() if _kind(one.name) in _TYPES}
    return {name: _file(name, one.read_bytes()) for name, one in found.items()}


def _file(name: str, body: bytes) -> _File:
    headers = {
        "Content-Type": _TYPES[_kind(name)],
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
        # Asked for each time, and sent only if it is another: after an upgrade no old file is left.
        "Cache-Control": "no-cache",
        "ETag": f'"{sha256(body).hexdigest()[:32]}"',
    }
    return _File(body, headers)


def _kind(name: str) -> str:
    return name.rpartition(".")[2]


def page(request: Request) -> Response:
    """Answer with the page itself."""
    return _answer(request, "index.html", BY_ACCEPT)


async def page_file(request: Request) -> Response:
    """Answer with a file that belongs to the page."""
    name = request.path_params["name"]
    if name not in _files():
        raise Problem("not-found", "the page has no such file")
    return _answer(request, name)


def _answer(request: Request, name: str, more: Mapping[str, str] = NOTHING) -> Response:
    file = _files()[name]
    # By plain HTTP from another machine a browser takes no such word, and says so as an error; it sends
    # this header where it does.
    alone = _ALONE if "sec-fetch-dest" in request.headers else NOTHING
    headers = {**file.headers, **more, **alone}
    known = request.headers.get("if-none-match", "")
    if file.headers["ETag"] in (one.strip().removeprefix("W/") for one in known.split(",")):
        del headers["Content-Type"]
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers)

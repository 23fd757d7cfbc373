"""The web page: its files, as they are in the package, under a policy that allows nothing else."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.responses import Response

from scrubjay.surfaces.http.problems import Problem

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


@cache
def _files() -> dict[str, bytes]:
    """Every file of the page by its name; no other path is ever looked up."""
    folder = files("scrubjay.surfaces") / "web"
    found = {one.name: one for one in folder.iterdir()}
    return {name: one.read_bytes() for name, one in found.items() if _kind(name) in _TYPES}


def _kind(name: str) -> str:
    return name.rpartition(".")[2]


async def page(request: Request) -> Response:
    """Answer with the page itself."""
    return _answer("index.html")


async def page_file(request: Request) -> Response:
    """Answer with a file that belongs to the page."""
    name = request.path_params["name"]
    if name not in _files():
        raise Problem("not-found", "the page has no such file")
    return _answer(name)


def _answer(name: str) -> Response:
    headers = {"Content-Security-Policy": POLICY}
    return Response(_files()[name], media_type=_TYPES[_kind(name)], headers=headers)

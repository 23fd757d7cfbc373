"""The two halves of a session as a browser sends them, and how the cookie is set."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import Scope

KEY_HEADER = "X-Scrubjay-Page"
# Every browser of today sends one of these with what a page asks. Not Sec-Fetch-Mode: Node.js sends that
# for programs.
_OF_BROWSERS = (b"origin", b"sec-fetch-site", b"sec-fetch-dest")


def from_a_page(scope: Scope) -> bool:
    """True for a request that a browser sent."""
    return any(name in _OF_BROWSERS for name, _ in scope["headers"])


def halves_of(scope: Scope) -> tuple[list[str], str]:
    """Return the cookies that may be half of a session, and the key, which is empty without one."""
    name = cookie_name(scope)
    keys = _values(scope, KEY_HEADER.lower().encode())
    pairs = (
        one.strip().partition("=") for text in _values(scope, b"cookie") for one in text.split(";")
    )
    return [value for named, _, value in pairs if named == name], keys[0] if len(keys) == 1 else ""


def cookie_name(scope: Scope) -> str:
    """Return the name of the cookie, with the port: two servers of a host share its cookies."""
    # The Guard has read this header already.
    port = urlsplit(f"//{_host(scope)}").port
    return f"scrubjay-{port or 'web'}"


def set_cookie(scope: Scope, value: str) -> str:
    """Return the header that sets the cookie; an empty value takes it away."""
    words = [f"{cookie_name(scope)}={value}", "Path=/", "HttpOnly", "SameSite=Strict"]
    if origin_of(scope).startswith("https:"):
        words.append("Secure")
    if not value:
        words.append("Max-Age=0")
    return "; ".join(words)


def origin_of(scope: Scope) -> str:
    """Return where the page is, as the browser says; without a word of it, by plain HTTP."""
    said = _values(scope, b"origin")
    return said[0] if said else f"http://{_host(scope)}"


def _host(scope: Scope) -> str:
    return _values(scope, b"host")[-1]


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for one, value in scope["headers"] if one == name]

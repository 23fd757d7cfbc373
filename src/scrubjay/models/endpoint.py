"""Where a model behind HTTP is, in one line: the address, and after a `#` the model's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.text.urls import strip_credentials

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_EXAMPLE = "http://localhost:11434/v1#qwen3:1.7b"
_MOST_TIMEOUT_S = 86_400.0


class Endpoint(NamedTuple):
    """A model's address and how to ask there. Its key is in no text made from it."""

    url: str
    model: str = ""
    api_key: str = ""
    timeout_s: float = 10.0
    dialect: str = ""

    @property
    def name(self) -> str:
        """The model's name, or the host where no model is named."""
        return self.model or _split(self.url).netloc

    @property
    def key(self) -> str:
        """What a cache knows the model by: its address and its name."""
        return f"{shown(self.url)}#{self.model}"

    def __repr__(self) -> str:
        key = "'***'" if self.api_key else "''"
        return (
            f"Endpoint(url={shown(self.url)!r}, model={self.model!r}, api_key={key},"
            f" timeout_s={self.timeout_s!r}, dialect={self.dialect!r})"
        )


def endpoint(
    spec: str, *, api_key: str = "", timeout_s: float = 10.0, dialect: str = ""
) -> Endpoint:
    """Read `http://localhost:11434/v1#qwen3:1.7b`; nothing is asked there yet.

    Raises `InvalidInput` where the line, the key or the time limit cannot be used.
    """
    url, _, model = spec.strip().partition("#")
    # A key out of a file ends with a line break, which no header can carry.
    return checked(
        Endpoint(url.rstrip("/"), model.strip(), api_key.strip(), timeout_s, dialect.strip())
    )


def checked(at: Endpoint) -> Endpoint:
    """Return the endpoint as it is, or raise `InvalidInput` saying what would be right."""
    _check_url(at.url)
    if not (at.api_key.isascii() and at.api_key.isprintable()):
        raise InvalidInput(
            f"the api key for {shown(at.url)} has characters that no header can carry;"
            " give it as one line of plain letters, digits and signs"
        )
    if not 0 < at.timeout_s <= _MOST_TIMEOUT_S:
        raise InvalidInput(
            f"the time limit {at.timeout_s!r} cannot be used; give seconds greater than 0"
            f" and at most {_MOST_TIMEOUT_S:g}"
        )
    return at


def with_path(url: str, path: str) -> str:
    """Return the address with another path; a query after it stays."""
    return _split(url)._replace(path=path).geturl()


def path_of(url: str) -> str:
    """Return the path of an address, without a slash at its end."""
    return _split(url).path.rstrip("/")


def shown(url: str) -> str:
    """Return an address as people may see it: what follows a `?` may be a secret."""
    return url.partition("?")[0]


def _split(url: str) -> SplitResult:
    from urllib.parse import urlsplit

    return urlsplit(url)


def _check_url(url: str) -> None:
    try:
        parts = _split(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput(
            f"the host or port in {strip_credentials(url)!r} cannot be read; a port is a number"
            f" from 1 to 65535, as in {_EXAMPLE}"
        ) from None
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            f"the address {strip_credentials(url)!r} was given with a name or password before the"
            " host; leave them out and give the key by the api key setting"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidInput(
            f"{strip_credentials(url)!r} is not the address of a model; it starts with http:// or"
            f" https:// and a host, as in {_EXAMPLE}"
        )
    if port == 0:
        raise InvalidInput(f"port 0 in {shown(url)!r} cannot be asked; a port is 1 to 65535")
    if not (parts.path + parts.query).isascii() or any(
        sign.isspace() or not sign.isprintable() for sign in url
    ):
        raise InvalidInput(
            f"the address {shown(url)!r} has spaces or letters that cannot be sent; write them"
            " as %20 and the like"
        )

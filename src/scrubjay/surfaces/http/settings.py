"""How a server is set up: the command line, then the environment, then `[server]` of the settings file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.options.mcp import TOOL_SETS

HOST, PORT = "127.0.0.1", 8765
BODY_MB = 10.0
TOKEN_RATE = 100.0  # requests a second of one token, where nothing else is said


class ServerSettings(NamedTuple):
    """Where a server listens, and what it lets in.

    Without a rate, a token has the usual one, and whoever needs no token has none.
    """

    host: str = HOST
    port: int = PORT
    tools: str = TOOL_SETS[0]
    allow_hosts: tuple[str, ...] = ()
    rate_per_s: float | None = None
    max_body_mb: float = BODY_MB


def server_settings(
    table: Mapping[str, Any], typed: Mapping[str, object], file: str = "the settings file"
) -> ServerSettings:
    """Return the settings of a server; refuse what cannot be one, saying where it stands."""
    known = ServerSettings._fields
    if unknown := sorted(set(table) - set(known)):
        from scrubjay.text.validation import nearest

        meant = nearest(unknown[0], known)
        raise InvalidInput(
            f"{file}: [server] has no {unknown[0]!r}{meant}; it takes {', '.join(known)}"
        )
    found: dict[str, Any] = {}
    for name in known:
        for where, given in (
            (f"--{name.replace('_', '-')}", typed.get(name)),
            (_VARIABLES[name], os.environ.get(_VARIABLES[name]) or None),
            (f"{file}: {name}", table.get(name)),
        ):
            if given is not None:
                found[name] = _READ[name](where, given)
                break
    return ServerSettings(**found)


def _text(where: str, given: object) -> str:
    if isinstance(given, str) and given.strip() and given.isprintable():
        return given.strip()
    raise InvalidInput(f"{where} is {given!r}; give a name or an address, such as {HOST}")


def _port(where: str, given: object) -> int:
    text = str(given)
    if not isinstance(given, bool) and text.isdecimal() and len(text) < 6 and int(text) < 65_536:
        return int(text)
    raise InvalidInput(f"{where} is {given!r}; give a port of 1 to 65535, or 0 for a free one")


def _tools(where: str, given: object) -> str:
    if given in TOOL_SETS:
        return str(given)
    raise InvalidInput(f"{where} is {given!r}; give one of {', '.join(TOOL_SETS)}")


def _names(where: str, given: object) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, Sequence):
        raise InvalidInput(f"{where} is {given!r}; give names, such as memory.example.org")
    return tuple(_text(where, one) for one in parts)


def _above_zero(most: float, example: str) -> Callable[[str, object], float]:
    def read(where: str, given: object) -> float:
        try:
            number = float(str(given).removesuffix("/s"))
        except ValueError:
            number = 0.0
        if isinstance(given, bool) or not 0 < number <= most:
            raise InvalidInput(
                f"{where} is {given!r}; give a number above 0, at most {most:g}, such as {example}"
            )
        return number

    return read


_READ: Mapping[str, Callable[[str, object], object]] = {
    "host": _text,
    "port": _port,
    "tools": _tools,
    "allow_hosts": _names,
    "rate_per_s": _above_zero(1e6, "50"),
    "max_body_mb": _above_zero(1024, f"{BODY_MB:g}"),
}
_VARIABLES = {
    "host": "SCRUBJAY_SERVER_HOST",
    "port": "SCRUBJAY_SERVER_PORT",
    "tools": "SCRUBJAY_SERVER_TOOLS",
    "allow_hosts": "SCRUBJAY_SERVER_ALLOW_HOSTS",
    "rate_per_s": "SCRUBJAY_SERVER_RATE_PER_S",
    "max_body_mb": "SCRUBJAY_SERVER_MAX_BODY_MB",
}

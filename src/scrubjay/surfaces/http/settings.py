"""Settings of a server: command line, then environment, then `[server]` in the settings file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs.operate import TOOL_SETS

HOST, PORT = "127.0.0.1", 8765
BODY_MB = 10.0
KEY_RATE = 100.0  # requests a second of one API key, unless set otherwise


class ServerSettings(NamedTuple):
    """Where a server listens, and what it accepts.

    Without a rate, API keys have KEY_RATE, and callers without a key no limit.
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
    """Return the settings of a server; InvalidInput names a wrong one and where it was set."""
    names = ServerSettings._fields
    if unknown := sorted(set(table) - set(names)):
        from scrubjay.text.validation import did_you_mean

        hint = did_you_mean(unknown[0], names)
        raise InvalidInput(
            f"{file}: [server] has no {unknown[0]!r}{hint}; it takes {', '.join(names)}"
        )
    values: dict[str, Any] = {}
    for name in names:
        variable = f"SCRUBJAY_SERVER_{name.upper()}"
        for where, given in (
            (f"--{name.replace('_', '-')}", typed.get(name)),
            (variable, os.environ.get(variable) or None),
            (f"{file}: {name}", table.get(name)),
        ):
            if given is not None:
                values[name] = _PARSERS[name](where, given)
                break
    return ServerSettings(**values)


def _text(where: str, given: object) -> str:
    if isinstance(given, str) and given.strip() and given.isprintable():
        return given.strip()
    raise InvalidInput(f"{where} is {given!r}; use a name or an address, such as {HOST}")


def _port(where: str, given: object) -> int:
    text = str(given)
    if not isinstance(given, bool) and text.isdecimal() and len(text) < 6 and int(text) < 65_536:
        return int(text)
    raise InvalidInput(f"{where} is {given!r}; use a port from 1 to 65535, or 0 for a free one")


def _tools(where: str, given: object) -> str:
    if given in TOOL_SETS:
        return str(given)
    raise InvalidInput(f"{where} is {given!r}; use one of {', '.join(TOOL_SETS)}")


def _names(where: str, given: object) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, Sequence):
        raise InvalidInput(f"{where} is {given!r}; use names, such as memory.example.org")
    return tuple(_text(where, name) for name in parts)


def _above_zero(maximum: float, example: str) -> Callable[[str, object], float]:
    def read(where: str, given: object) -> float:
        try:
            number = float(str(given).removesuffix("/s"))
        except ValueError:
            number = 0.0
        if isinstance(given, bool) or not 0 < number <= maximum:
            raise InvalidInput(
                f"{where} is {given!r}; use a number above 0 and up to {maximum:g}, such as {example}"
            )
        return number

    return read


_PARSERS: Mapping[str, Callable[[str, object], object]] = {
    "host": _text,
    "port": _port,
    "tools": _tools,
    "allow_hosts": _names,
    "rate_per_s": _above_zero(1e6, "50"),
    "max_body_mb": _above_zero(1024, f"{BODY_MB:g}"),
}

"""Settings of a server: command line, then environment, then `[server]` in the settings file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs.kinds import FLAG, NON_EMPTY, Kind, choice, number, texts, whole
from scrubjay.surfaces.verbs.operate import RECALL_TAGS, TOOL_SETS

HOST, PORT = "127.0.0.1", 8765
BODY_MB = 10.0
ANSWER_MB = 32.0
KEY_RATE = 100.0  # requests a second of one API key, unless set otherwise
_MAX_HOSTS = 1000


class ServerSettings(NamedTuple):
    """Where a server listens, and what it accepts.
    With `socket`, it listens on a Unix socket of that path, and not on host and port. Without a rate,
    API keys have KEY_RATE, and the owner and callers without a key no limit."""

    host: str = HOST
    port: int = PORT
    tools: str = TOOL_SETS[0]
    allow_hosts: tuple[str, ...] = ()
    rate_per_s: float | None = None
    max_body_mb: float = BODY_MB
    max_answer_mb: float = ANSWER_MB
    no_auth: bool = False
    socket: str | None = None
    recall_tags: str = RECALL_TAGS[0]


def _above_zero(maximum: float, example: str) -> Kind:
    right = f"a number above 0 and up to {maximum:g}, such as {example}"
    kind = number(right, {}, lambda value: 0 < value <= maximum)
    return kind._replace(read=lambda values: kind.read([values[-1].removesuffix("/s")]))


_NAME = NON_EMPTY._replace(
    right=f"a name or an address, such as {HOST}",
    accepts=lambda value: NON_EMPTY.accepts(value) and value.isprintable(),
    made=lambda _, value: value.strip(),
)
_PATH = NON_EMPTY._replace(
    right="the path of a socket, such as ~/.scrubjay/serve.sock",
    accepts=lambda value: NON_EMPTY.accepts(value) and "\0" not in value,
    made=lambda _, value: os.path.abspath(os.path.expanduser(value)),
)
_KINDS = {
    "host": _NAME,
    "port": whole(0, 65_535)._replace(right="a port from 1 to 65535, or 0 for a free one"),
    "tools": choice(*TOOL_SETS),
    "allow_hosts": texts(_NAME, 0, _MAX_HOSTS, "a name or names, such as memory.example.org"),
    "rate_per_s": _above_zero(1e6, "50"),
    "max_body_mb": _above_zero(1024, f"{BODY_MB:g}"),
    "max_answer_mb": _above_zero(1024, f"{ANSWER_MB:g}"),
    "no_auth": FLAG,
    "socket": _PATH,
    "recall_tags": choice(*RECALL_TAGS),
}


def server_settings(
    table: Mapping[str, Any], typed: Mapping[str, object], file: str = "the settings file"
) -> ServerSettings:
    """Return the settings of a server; InvalidInput names a wrong one and where it was set."""
    if unknown := sorted(set(table) - set(_KINDS)):
        from scrubjay.text.validation import did_you_mean

        hint = did_you_mean(unknown[0], _KINDS)
        raise InvalidInput(
            f"{file}: [server] has no {unknown[0]!r}{hint}; it takes {', '.join(_KINDS)}"
        )
    values: dict[str, Any] = {}
    for name, kind in _KINDS.items():
        variable = f"SCRUBJAY_SERVER_{name.upper()}"
        for where, given in (
            (f"--{name.replace('_', '-')}", typed.get(name)),
            (variable, os.environ.get(variable) or None),
            (f"{file}: {name}", table.get(name)),
        ):
            if given is not None:
                value = kind.take(where, kind.read([given]) if isinstance(given, str) else given)
                values[name] = tuple(map(str.strip, value)) if name == "allow_hosts" else value
                break
    return ServerSettings(**values)

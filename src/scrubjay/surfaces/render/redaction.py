"""Redaction: hide paths, server addresses and reasons from callers without the scope admin."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.text.urls import is_server_url

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json

SEE_LOG = "the log of the server has the reason"
NEEDS_ADMIN = "an API key with the scope admin shows the reason"
_REDACTED = ("status", "tiers", "servers")


def error_message(error: ScrubjayError, *, is_admin: bool) -> str:
    """Return the message of an error; errors of a store name files and servers."""
    if is_admin or isinstance(error, InvalidInput | NotFound):
        return str(error)
    return f"the store cannot be read or written now; {SEE_LOG}"


def redact(shape: Json, answer: str, *, is_admin: bool) -> Json:
    """Redact the JSON of a verb: a path keeps its file name, a server address its kind."""
    if is_admin or answer not in _REDACTED:
        return shape
    redacted: Json = _redact(shape)
    return redacted


def _redact(value: Any) -> Any:
    if isinstance(value, list):
        return [_redact(item) for item in value]
    if not isinstance(value, dict):
        return value
    redacted = {name: _redact(item) for name, item in value.items()}
    for name in ("path", "place"):
        if isinstance(place := redacted.get(name), str):
            kind, _, _ = place.partition("://")
            redacted[name] = kind if is_server_url(place) else os.path.basename(place)
    for name in ("reason", "why_pending"):
        if redacted.get(name):
            redacted[name] = NEEDS_ADMIN
    match redacted.get("failures"):
        case [_, *_]:
            redacted["failures"] = [NEEDS_ADMIN]
        case {**counts} if counts:
            redacted["failures"] = {NEEDS_ADMIN: sum(counts.values())}
    return redacted

"""What only somebody who runs a server is told: where its stores, files and other servers are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.text.urls import is_server_url

if TYPE_CHECKING:
    from scrubjay.errors import ScrubjayError
    from scrubjay.surfaces.render.json import Json

LOG_SAYS = "the server's log says why"
ADMINS_KNOW = "a token with the scope admin is told why"
_ABOUT_THE_STORE = ("status", "tiers", "servers")


def said_of(error: ScrubjayError, *, told_all: bool) -> str:
    """Return what an error says to somebody; what a store says names files and servers."""
    if told_all or isinstance(error, InvalidInput | NotFound):
        return str(error)
    return f"it cannot be read or written now; {LOG_SAYS}"


def shown(shape: Json, answer: str, *, told_all: bool) -> Json:
    """Return an answer of the schema `answer` as it is told to somebody.

    Of a path the name of the file is left, of a server its kind, and of reasons that there are some.
    """
    if told_all or answer not in _ABOUT_THE_STORE:
        return shape
    told: Json = _without_places(shape)
    return told


def _without_places(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_places(one) for one in value]
    if not isinstance(value, dict):
        return value
    told = {name: _without_places(one) for name, one in value.items()}
    for name in ("path", "place"):
        if isinstance(told.get(name), str):
            told[name] = _without_place(told[name])
    for name in ("reason", "why_pending"):
        if told.get(name):
            told[name] = ADMINS_KNOW
    match told.get("failures"):
        case [_, *_]:
            told["failures"] = [ADMINS_KNOW]
        case {**counts} if counts:
            told["failures"] = {ADMINS_KNOW: sum(counts.values())}
    return told


def _without_place(place: str) -> str:
    return place.partition("://")[0] if is_server_url(place) else os.path.basename(place)

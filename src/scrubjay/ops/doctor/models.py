"""How the reranker and the generator are: named, here, and answering at their address."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrubjay.config import offline
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models.breaker import paused_s
from scrubjay.models.download.pull import is_cached
from scrubjay.models.http_json import is_loopback
from scrubjay.models.registry import (
    CARDS,
    CORPUS,
    LATE,
    NONE,
    is_ready,
    load_generator,
    load_reranker,
)
from scrubjay.ops.doctor.finding import Finding
from scrubjay.runtime.command_hints import to_fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.config import Access, Settings

_CONNECT_S = 2.0
_EXAMPLES = {
    "reranker": "cross-encoder/ms-marco-MiniLM-L6-v2",
    "generator": "http://localhost:11434/v1#qwen3:1.7b",
}


def assistants(settings: Settings) -> Iterator[Finding]:
    """Examine what helps a search but is not needed for one."""
    yield _reranker(settings)
    yield _generator(settings)
    yield from _resting(settings.db)


def _reranker(settings: Settings) -> Finding:
    access = settings.reranker
    if access.spec == NONE:
        detail = "switched off: results are in the order of fusion"
        return Finding("reranker", "degraded", detail, _setting("reranker", LATE))
    if access.spec == LATE:
        return _late(settings)
    try:
        reranker = load_reranker(access)
    except (InvalidInput, NotFound, Unavailable) as error:
        return Finding("reranker", "failed", str(error), _setting("reranker", LATE))
    if not is_ready(reranker):
        detail = f"{reranker.name} is not on this machine: results are not reranked by it"
        fix = f"scrubjay models pull {reranker.name}" if "/" in reranker.name else ""
        return Finding("reranker", "missing", detail, fix)
    return _address("reranker", access, reranker.name)


def _late(settings: Settings) -> Finding:
    detail = f"late interaction on the token vectors of {settings.embedder}"
    card = CARDS.get(settings.embedder.partition("/")[0])
    if card is None or is_cached(card):
        return Finding("reranker", "ok", detail)
    fetch = to_fetch(settings.db_given)
    return Finding("reranker", "missing", f"{detail}, which is not on this machine", fetch)


def _generator(settings: Settings) -> Finding:
    access = settings.generator
    if access.spec == NONE:
        detail = "none is configured: queries are not expanded, nothing is sent anywhere"
        fix = _setting("generator", _EXAMPLES["generator"])
        return Finding("generator", "ok", f"{detail}; to have one: {fix}")
    if access.spec == CORPUS:
        return Finding("generator", "ok", "queries are expanded from the texts found first")
    try:
        generator = load_generator(access)
    except (InvalidInput, NotFound, Unavailable) as error:
        return Finding("generator", "failed", str(error), _setting("generator", NONE))
    return _address("generator", access, generator.name)


def _setting(role: str, value: str) -> str:
    """Return the command that chooses a model for this shell."""
    variable = f"SCRUBJAY_{role.upper()}"
    return f"set {variable}={value}" if os.name == "nt" else f"export {variable}='{value}'"


def _address(role: str, access: Access, name: str) -> Finding:
    """Say whether anybody listens at a model's address; nothing is asked of it."""
    if "://" not in access.spec:
        return Finding(role, "ok", name)
    parts = urlsplit(access.spec)
    if offline() and not is_loopback(access.spec):
        detail = f"{name}: SCRUBJAY_OFFLINE forbids to ask {parts.hostname}, another machine"
        return Finding(role, "degraded", detail)
    place = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    try:
        socket.create_connection(place, _CONNECT_S).close()
    except (OSError, ValueError) as error:  # ValueError: a name that no host can have
        why = getattr(error, "strerror", None) or error
        detail = f"{name}: nobody answers at {place[0]}:{place[1]} ({why})"
        return Finding(role, "degraded", detail, "start the server, then: scrubjay doctor")
    return Finding(role, "ok", f"{name} at {place[0]}:{place[1]}")


def _resting(db: str) -> Iterator[Finding]:
    """Say which models searches leave alone now, since they failed."""
    if not Path(db).is_file():
        return
    try:
        with closing(sqlite3.connect(f"{Path(db).absolute().as_uri()}?mode=ro", uri=True)) as file:
            rows = file.execute("SELECT key, value FROM kept WHERE kind = 'outage'").fetchall()
    except sqlite3.Error:  # an older schema, or no store: others say so
        return
    for key, kept in rows:
        left_s = paused_s(kept, time.time())
        if left_s > 0:
            detail = f"the {key} failed: searches leave it alone for another {left_s:.0f} s"
            yield Finding("outage", "degraded", detail)

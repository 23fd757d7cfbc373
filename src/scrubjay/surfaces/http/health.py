"""Health checks: `/livez` for the process, `/readyz` for the database."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from scrubjay.errors import ScrubjayError
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.http.problems import retry_after
from scrubjay.surfaces.http.workers import Workers
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.render.terminal import one_line
from scrubjay.text.urls import is_server_url

log = logging.getLogger(__name__)
_TIMEOUT_S = 5.0
MIN_FREE_BYTES = 4_000_000  # SQLite's log needs about this much before it is written back
_CACHE_S = 1.0  # the check needs no API key, so frequent calls must cost nothing


async def livez(request: Request) -> Response:
    return JSONResponse({"live": True})


class ReadyEndpoint:
    """`/readyz`: checks whether the server's own database can be read, at most once a second.
    The caller is not authenticated, so paths and reasons go to the log only."""

    def __init__(self, stores: OpenStores, workers: Workers, own: Principal) -> None:
        self._stores = stores
        self._workers = workers
        self._own = own
        self._lock = asyncio.Lock()
        self._state: Json = {}
        self._checked_s = float("-inf")

    async def __call__(self, request: Request) -> Response:
        async with self._lock:
            if time.monotonic() - self._checked_s > _CACHE_S:
                self._state = await self._check()
                self._checked_s = time.monotonic()
        if self._state["ready"]:
            return JSONResponse(self._state)
        return JSONResponse(self._state, 503, retry_after())

    async def _check(self) -> Json:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return {"ready": True, "degraded": await self._workers.do(self._degraded)}
        except TimeoutError:
            why = f"the database did not answer within {_TIMEOUT_S:g} seconds"
        except ScrubjayError as error:
            why = str(error)
        log.warning("not ready: %s", one_line(why))
        return {"ready": False, "degraded": ["store"]}

    def _degraded(self) -> list[str]:
        """Read the database, and return which of its parts are behind, missing or unusable.
        A read-only database is ready, since most requests read; it is reported as `writes`."""
        with self._stores.lend(self._own) as store:
            store._context.db.check_same()
            state = store.status()
            models = store._context.shared_models
            degraded = set() if models is None else set(models.failed())
        degraded |= {replica.tier for replica in state.servers if replica.behind or replica.reason}
        if state.failed:
            degraded.add("vectors")
        if not _is_writable(state.path):
            degraded.add("writes")
        return sorted(degraded)


def _is_writable(path: str) -> bool:
    """False for a file that must not be written or whose disk is full.
    Writes nothing to find out: a write would invalidate what every open store has cached in memory."""
    if path == ":memory:" or is_server_url(path):
        return True
    folder = os.path.dirname(os.path.abspath(path))
    allowed = os.access(path, os.W_OK) and os.access(folder, os.W_OK)
    return allowed and shutil.disk_usage(folder).free >= MIN_FREE_BYTES

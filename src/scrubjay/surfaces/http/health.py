"""`/livez` says that the process answers, `/readyz` that the store can be read."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from typing import TYPE_CHECKING

from scrubjay.errors import ScrubjayError
from scrubjay.surfaces.render.terminal import one_line
from scrubjay.text.urls import is_server_url

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from scrubjay.surfaces.callers import OpenStores, Principal
    from scrubjay.surfaces.http.workers import Workers
    from scrubjay.surfaces.render.json import Json

log = logging.getLogger(__name__)
_TIME_S = 5.0
LEAST_FREE_BYTES = 4_000_000  # SQLite's log wants that much for itself before it is written back
_FRESH_S = 1.0  # nobody needs a token to ask this, so asking often must cost nothing


async def livez(request: Request) -> Response:
    """Answer that the process is there."""
    from starlette.responses import JSONResponse

    return JSONResponse({"live": True})


class Readiness:
    """Looks whether the server's own store can be read, at most once a second.

    Whoever asks is not known, so neither places nor reasons are told: those are in the log.
    """

    def __init__(self, stores: OpenStores, desk: Workers, own: Principal) -> None:
        self._stores = stores
        self._desk = desk
        self._own = own
        self._lock = asyncio.Lock()
        self._seen: Json = {}
        self._seen_at = float("-inf")

    async def __call__(self, request: Request) -> Response:
        """Answer whether requests can be served now, and what is less than it could be."""
        from starlette.responses import JSONResponse

        async with self._lock:
            if time.monotonic() - self._seen_at > _FRESH_S:
                self._seen = await self._look()
                self._seen_at = time.monotonic()
        status = 200 if self._seen["ready"] else 503
        return JSONResponse(self._seen, status, None if status == 200 else {"Retry-After": "2"})

    async def _look(self) -> Json:
        try:
            async with asyncio.timeout(_TIME_S):
                return {"ready": True, "degraded": await self._desk.do(self._degraded)}
        except TimeoutError:
            why = f"the store did not answer within {_TIME_S:g} seconds"
        except ScrubjayError as error:
            why = str(error)
        log.warning("not ready: %s", one_line(why))
        return {"ready": False, "degraded": ["store"]}

    def _degraded(self) -> list[str]:
        """Read the store, and return which of its parts are behind, missing, or cannot be used.

        A store that can be read and not written is ready: most requests read. `writes` says so.
        """
        with self._stores.lend(self._own) as store:
            store._db.check_same()
            state = store.status()
            behind = set() if store._models is None else set(store._models.failed())
        behind |= {one.tier for one in state.servers if one.behind or one.reason}
        if state.failed:
            behind.add("vectors")
        if not _takes_writes(state.path):
            behind.add("writes")
        return sorted(behind)


def _takes_writes(path: str) -> bool:
    """True unless the store is a file that may not be written, or whose disk is full.

    Nothing is written to find out: every open store would have to read anew what it keeps in memory.
    """
    if path == ":memory:" or is_server_url(path):
        return True
    folder = os.path.dirname(os.path.abspath(path))
    allowed = os.access(path, os.W_OK) and os.access(folder, os.W_OK)
    return allowed and shutil.disk_usage(folder).free >= LEAST_FREE_BYTES

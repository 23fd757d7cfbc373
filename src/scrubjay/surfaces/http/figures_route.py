"""`/v1/figures`: how searches have gone and what the stores hold, as a page shows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from scrubjay.errors import StoreError
from scrubjay.storage.sql.overview import gauges
from scrubjay.surfaces.http.observers import check_whole
from scrubjay.surfaces.render.json import plain

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from scrubjay.store import Store
    from scrubjay.surfaces.callers import OpenStores, Principal
    from scrubjay.surfaces.figures import Figures
    from scrubjay.surfaces.http.workers import Workers
    from scrubjay.surfaces.render.json import Json

HITS_DAYS = 7  # of hits by the hour; the verb `hits` has them all


class FiguresPage:
    """The searches of this server since it began, and the stores that are open; none is opened for it."""

    def __init__(
        self, figures: Figures, stores: OpenStores, workers: Workers, own: Principal
    ) -> None:
        self._figures = figures
        self._stores = stores
        self._workers = workers
        self._own = own

    async def __call__(self, request: Request) -> Response:
        """Answer those who may see everybody's figures."""
        who: Principal = request.state.principal
        check_whole(who, self._own)
        # Not at the desk: a store that does not answer would keep everybody from being let in.
        return JSONResponse(await self._workers.do(self._shape, who))

    def _shape(self) -> Json:
        seen = self._figures.report()
        return {
            "since": _iso(seen.since_s),
            "searches": seen.searches,
            "degraded": seen.degraded,
            "stages": plain(seen.stages),
            "hours": [
                {
                    "at": _iso(one.began_s),
                    "searches": one.searches,
                    "degraded": one.degraded,
                    "without": one.without,
                }
                for one in seen.hours
            ],
            "tenants": self._tenants(),
        }

    def _tenants(self) -> list[Json]:
        found = []
        for tenant, store in self._stores.each_tenant(self._own.tenant):
            try:
                found.append({"tenant": tenant, **_of_store(store)})
            except StoreError:  # one that is missing says it; the others are told, too
                continue
        return found


def _of_store(store: Store) -> Json:
    hits = store.hits(since=datetime.now(UTC) - timedelta(days=HITS_DAYS))
    return {
        **plain(gauges(store._db)),
        "hits": [
            {"hour": plain(one.at), "tier": tier, "count": count}
            for one in hits.hours
            for tier, count in one.tiers.items()
        ],
    }


def _iso(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat()

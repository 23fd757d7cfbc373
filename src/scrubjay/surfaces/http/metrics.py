"""Metrics of a server: counters for Prometheus, figures for the web UI, spans for OpenTelemetry.
Labels are names of routes, stages, profiles and tenants. They contain no query, memory or user,
and their number is limited."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from scrubjay._version import __version__
from scrubjay.errors import MissingExtra, StoreError
from scrubjay.surfaces import telemetry
from scrubjay.surfaces.callers import OpenStores, Principal, with_listeners
from scrubjay.surfaces.figures import OTHER, Figures, every_step, lost_at
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.http.workers import Workers
from scrubjay.surfaces.render.json import Json, plain
from scrubjay.surfaces.verbs import READ
from scrubjay.types import Results
from scrubjay.types.reports import hits_by_source

try:
    import prometheus_client as prometheus
    from prometheus_client import Counter, Gauge, Histogram
    from prometheus_client.core import GaugeMetricFamily
    from prometheus_client.registry import Collector
except ModuleNotFoundError as missing:
    raise MissingExtra("prometheus-client", 'pip install "scrubjay[server]"') from missing

if TYPE_CHECKING:
    from scrubjay.store import Store

FIGURES_DAYS = 7  # of hits by the hour; the verb `hits` returns them all
_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MAX_LABELS = 100
_PREFIX = "scrubjay"


class Metrics:
    """Prometheus metrics of one server, in their own registry."""

    def __init__(self) -> None:
        self._registry = registry = prometheus.CollectorRegistry()
        self._routes, self._profiles = _Labels(), _Labels()
        self._stages, self._sources = _Labels(), _Labels()

        def counter(name: str, help: str, *labels: str) -> Counter:
            return Counter(name, help, labels, _PREFIX, registry=registry)

        def histogram(name: str, help: str, *labels: str) -> Histogram:
            return Histogram(name, help, labels, _PREFIX, buckets=_BUCKETS_S, registry=registry)

        def gauge(name: str, help: str) -> Gauge:
            return Gauge(name, help, namespace=_PREFIX, registry=registry)

        self._requests = counter(
            "http_requests", "Answered requests.", "route", "method", "status"
        )
        self._request_s = histogram("http_request_seconds", "Time to answer a request.", "route")
        self._in_flight = gauge("http_requests_in_flight", "Requests in progress.")
        self._searches = counter("searches", "Searches, through any interface.", "profile", "mode")
        of_stage = "Time of one stage of a search, including the stages inside it."
        self._stage_s = histogram("stage_seconds", of_stage, "stage")
        self._search_s = histogram("search_seconds", "Time of all stages of a search.", "profile")
        by_source = "Results found by a source; a result of two sources counts for both."
        self._hits = counter("hits", by_source, "tier")
        without = (
            "Searches without one of the sources; other: with a source that is not up to date."
        )
        self._degraded = counter("degraded_searches", without, "tier")
        gauge("start_time_seconds", "When this server was started.").set(time.time())
        versions = {"version": __version__, "python": platform.python_version()}
        prometheus.Info(_PREFIX, "Version of scrubjay.", registry=registry).info(versions)
        prometheus.ProcessCollector(registry=registry)  # memory and CPU time, on Linux only

    def follow(self, stores: OpenStores, tenant: str | None = None) -> None:
        """Also count what is in these stores at each scrape; with a tenant, in its stores only."""
        self._registry.register(_StoreCollector(stores, tenant))

    def began(self) -> None:
        """Count a request in progress; `ended` must follow."""
        self._in_flight.inc()

    def ended(self, route: str, method: str, status: int, took_s: float) -> None:
        """Count an answered request. The route is a pattern or OTHER, never the requested path."""
        self._in_flight.dec()
        route = self._routes.limit(route)
        method = method if method in _METHODS else OTHER
        self._requests.labels(route, method, str(status)).inc()
        self._request_s.labels(route).observe(took_s)

    def searched(self, results: Results) -> None:
        profile, _, mode = self._profiles.limit(results.profile).partition(":")
        self._searches.labels(profile, mode or "default").inc()
        self._search_s.labels(profile).observe(results.took_ms / 1000)
        for step in every_step(results.trace):
            self._stage_s.labels(self._stages.limit(step.stage)).observe(step.took_ms / 1000)
        for source, count in hits_by_source(results).items():
            self._hits.labels(self._sources.limit(source)).inc(count)
        for stage in lost_at(results):
            self._degraded.labels(self._stages.limit(stage)).inc()

    def page(self) -> tuple[bytes, str]:
        """Return the metrics and their content type. May block: it counts rows of the open stores."""
        return prometheus.generate_latest(self._registry), prometheus.CONTENT_TYPE_LATEST


class _Labels:
    """The first values of a label; all further ones become OTHER."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def limit(self, name: str) -> str:
        with self._lock:
            if name not in self._seen:
                if len(self._seen) >= _MAX_LABELS:
                    return OTHER
                self._seen.add(name)
        return name


class _StoreCollector(Collector):
    """Counts of the open stores, read at each scrape; opens none."""

    def __init__(self, stores: OpenStores, tenant: str | None) -> None:
        self._stores = stores
        self._tenant = tenant

    def describe(self) -> list[GaugeMetricFamily]:
        """Return nothing: the default would read every store."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the counts of each tenant; '' is the store without a tenant."""

        def gauge(name: str, help: str, *labels: str) -> GaugeMetricFamily:
            return GaugeMetricFamily(f"{_PREFIX}_{name}", help, labels=("tenant", *labels))

        opened = len(self._stores.open_now)
        yield GaugeMetricFamily(f"{_PREFIX}_open_stores", "Open stores.", opened)
        memories = gauge("memories", "Memories in an open store.")
        pending = gauge("pending_vectors", "Passages that are not embedded yet.")
        behind = gauge("outbox_changes", "Changes waiting for a replica.", "tier")
        for tenant, store in self._stores.each_tenant(self._tenant):
            try:
                counts = store._insight.gauges()
            except StoreError:  # its metrics are missing; those of the others are not
                continue
            memories.add_metric([tenant or ""], counts.memories)
            pending.add_metric([tenant or ""], counts.pending)
            for replica, count in counts.behind.items():
                behind.add_metric([tenant or "", replica], count)
        yield from (memories, pending, behind)


class RequestRecord:
    """One observed request; `status` is set when it is answered."""

    status = 0
    took_s = 0.0


class Monitoring:
    """Observes every request and every search of a server."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.figures = Figures()
        self._telemetry = telemetry.start()

    def open_stores(
        self, open_for: Callable[[Principal], Store], tenant: str | None = None
    ) -> OpenStores:
        """Return stores whose searches are observed; with a tenant, metrics count its stores only."""
        listeners = (self.metrics.searched, self.figures.searched, self._telemetry.searched)
        stores = OpenStores(with_listeners(open_for, *listeners))
        self.metrics.follow(stores, tenant)
        return stores

    @contextmanager
    def request(self, scope: Scope) -> Iterator[RequestRecord]:
        record, started_s = RequestRecord(), time.perf_counter()
        self.metrics.began()
        with self._telemetry.request(scope["method"], Headers(scope=scope)) as span:
            try:
                yield record
            finally:
                record.took_s = time.perf_counter() - started_s
                route = scope.get("route_name", OTHER)
                span.answered(scope["method"], route, record.status)
                self.metrics.ended(route, scope["method"], record.status, record.took_s)

    def close(self) -> None:
        self._telemetry.close()


class MonitoringEndpoints(NamedTuple):
    """`/metrics` and `/v1/figures`; neither opens a store."""

    monitoring: Monitoring
    stores: OpenStores
    workers: Workers
    auth_workers: Workers
    own: Principal

    async def metrics(self, request: Request) -> Response:
        _check_sees_all(request.state.principal, self.own)
        page, media_type = await self.auth_workers.do(self.monitoring.metrics.page)
        return Response(page, headers={"Content-Type": media_type})

    async def figures(self, request: Request) -> Response:
        caller: Principal = request.state.principal
        _check_sees_all(caller, self.own)
        # Not in the threads of authentication: a database that hangs would block all requests.
        return JSONResponse(await self.workers.do(self._figures, caller))

    def _figures(self) -> Json:
        report = self.monitoring.figures.report()
        return {
            "since": _iso(report.since_s),
            "searches": report.searches,
            "degraded": report.degraded,
            "stages": plain(report.stages),
            "hours": [
                {"at": _iso(at_s), "searches": count, "degraded": degraded, "without": without}
                for at_s, count, degraded, without in report.hours
            ],
            "tenants": self._tenants(),
        }

    def _tenants(self) -> list[Json]:
        shapes = []
        for tenant, store in self.stores.each_tenant(self.own.tenant):
            try:
                shapes.append({"tenant": tenant, **_store_figures(store)})
            except StoreError:  # this one is missing; the others are not
                continue
        return shapes


def _store_figures(store: Store) -> Json:
    hits = store.hits(since=datetime.now(UTC) - timedelta(days=FIGURES_DAYS))
    return {
        **plain(store._insight.gauges()),
        "hits": [
            {"hour": plain(hour.at), "tier": source, "count": count}
            for hour in hits.hours
            for source, count in hour.tiers.items()
        ],
    }


def _iso(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat()


def _check_sees_all(caller: Principal, own: Principal) -> None:
    """Refuse figures of all callers to a caller that is limited to a part.
    A server of one tenant or user (`own`) shows them to callers of that tenant and user."""
    sees_all = caller.tenant in (None, own.tenant) and caller.user in (None, own.user)
    if not sees_all or not caller.may(READ):
        raise Problem(
            "not-allowed",
            "these figures cover all users of this server; use an API key without a tenant and a user,"
            " or with the server's own",
        )

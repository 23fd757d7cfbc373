"""The figures of a server, as Prometheus reads them.

Labels are names of ours: routes, stages, profiles, tenants. No query, no memory, no person is in them, and
no list of them grows without an end.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrubjay._version import __version__
from scrubjay.errors import MissingExtra, StoreError
from scrubjay.insight.hit_counts import tiers_of
from scrubjay.storage.sql.overview import gauges
from scrubjay.surfaces.figures import OTHER, every_step, lost_at

try:
    from prometheus_client import (
        CONTENT_TYPE_LATEST,
        CollectorRegistry,
        Counter,
        Gauge,
        Histogram,
        Info,
        ProcessCollector,
        generate_latest,
    )
    from prometheus_client.core import GaugeMetricFamily
    from prometheus_client.registry import Collector
except ModuleNotFoundError as missing:
    raise MissingExtra("prometheus-client", 'pip install "scrubjay[server]"') from missing

if TYPE_CHECKING:
    from scrubjay.surfaces.callers import OpenStores
    from scrubjay.types import Results

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MOST_NAMES = 100


class Metrics:
    """What a server counts, in a registry of its own."""

    def __init__(self, stores: OpenStores | None = None) -> None:
        self._registry = one = CollectorRegistry()
        self._routes, self._profiles = _Names(), _Names()
        self._stages, self._tiers = _Names(), _Names()
        self._requests = Counter(
            "scrubjay_http_requests",
            "Requests that were answered.",
            ("route", "method", "status"),
            registry=one,
        )
        self._request_s = Histogram(
            "scrubjay_http_request_seconds",
            "Time until a request was answered.",
            ("route",),
            buckets=_SECONDS,
            registry=one,
        )
        self._in_flight = Gauge(
            "scrubjay_http_requests_in_flight", "Requests that are being answered.", registry=one
        )
        self._searches = Counter(
            "scrubjay_searches", "Searches, by any door.", ("profile", "mode"), registry=one
        )
        self._stage_s = Histogram(
            "scrubjay_stage_seconds",
            "Time of one stage of a search; that of a stage with others in it holds theirs.",
            ("stage",),
            buckets=_SECONDS,
            registry=one,
        )
        self._search_s = Histogram(
            "scrubjay_search_seconds",
            "Time of all stages of a search.",
            ("profile",),
            buckets=_SECONDS,
            registry=one,
        )
        self._hits = Counter(
            "scrubjay_hits",
            "Results that a tier found; one that two tiers found counts for both.",
            ("tier",),
            registry=one,
        )
        self._degraded = Counter(
            "scrubjay_degraded_searches",
            "Searches that had to do without a tier; other: with one that does not know everything.",
            ("tier",),
            registry=one,
        )
        started = Gauge(
            "scrubjay_start_time_seconds", "When this server was started.", registry=one
        )
        started.set(time.time())
        Info("scrubjay", "Which scrubjay this is.", registry=one).info(
            {"version": __version__, "python": platform.python_version()}
        )
        ProcessCollector(registry=one)  # memory and processor time, where Linux says them
        if stores is not None:
            self.follow(stores)

    def follow(self, stores: OpenStores, tenant: str | None = None) -> None:
        """Count what is in these stores, too, whenever the page is read; with a tenant, in theirs alone."""
        self._registry.register(_Stores(stores, tenant))

    def began(self) -> None:
        """A request has come in; `ended` must follow."""
        self._in_flight.inc()

    def ended(self, route: str, method: str, status: int, took_s: float) -> None:
        """A request was answered. The route is its pattern, or OTHER: never the path that was asked for."""
        self._in_flight.dec()
        route = self._routes.known(route)
        known = method if method in _METHODS else OTHER
        self._requests.labels(route, known, str(status)).inc()
        self._request_s.labels(route).observe(took_s)

    def searched(self, found: Results) -> None:
        """A store was searched; its `on_search` calls this."""
        profile, _, mode = self._profiles.known(found.profile).partition(":")
        self._searches.labels(profile, mode or "default").inc()
        self._search_s.labels(profile).observe(found.took_ms / 1000)
        for step in every_step(found.trace):
            self._stage_s.labels(self._stages.known(step.stage)).observe(step.took_ms / 1000)
        for tier, count in tiers_of(found).items():
            self._hits.labels(self._tiers.known(tier)).inc(count)
        for stage in lost_at(found):
            self._degraded.labels(self._stages.known(stage)).inc()

    def page(self) -> tuple[bytes, str]:
        """Return what Prometheus reads, and its content type. Open stores are counted, so it may block."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


class _Names:
    """The first names that come; all others are one."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def known(self, name: str) -> str:
        with self._lock:
            if name not in self._seen:
                if len(self._seen) >= _MOST_NAMES:
                    return OTHER
                self._seen.add(name)
        return name


class _Stores(Collector):
    """Counts of the stores that are open, read when they are asked for; none is opened for it."""

    def __init__(self, stores: OpenStores, tenant: str | None) -> None:
        self._stores = stores
        self._tenant = tenant

    def describe(self) -> list[GaugeMetricFamily]:
        """Say nothing in advance: to ask here would read every store."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Give the counts of each tenant; '' is the store without one."""
        opened = len(self._stores.open_now)
        yield GaugeMetricFamily("scrubjay_open_stores", "Stores that are open.", opened)
        memories = GaugeMetricFamily(
            "scrubjay_memories", "Memories in an open store.", labels=("tenant",)
        )
        pending = GaugeMetricFamily(
            "scrubjay_pending_vectors", "Passages that wait for a vector.", labels=("tenant",)
        )
        behind = GaugeMetricFamily(
            "scrubjay_outbox_changes",
            "Changes that a server has yet to be told.",
            labels=("tenant", "tier"),
        )
        for tenant, store in self._stores.each_tenant(self._tenant):
            try:
                counts = gauges(store._db)
            except StoreError:  # a figure that is missing says it; the others are asked for, too
                continue
            memories.add_metric([tenant or ""], counts.memories)
            pending.add_metric([tenant or ""], counts.pending)
            for tier, count in counts.behind.items():
                behind.add_metric([tenant or "", tier], count)
        yield from (memories, pending, behind)

"""What a server counts: for Prometheus, and for a page of figures."""

from __future__ import annotations

import threading

import pytest
from backends import a_memory, opened, pieces
from fakes import HashingEmbedder
from prometheus_client.parser import text_string_to_metric_families

import scrubjay
from scrubjay.storage.sql.overview import Gauges, gauges
from scrubjay.surfaces.callers import OpenStores, Principal, with_listeners
from scrubjay.surfaces.figures import Figures, Hour, StageTimes
from scrubjay.surfaces.http.metrics import Metrics
from scrubjay.types import Results, Step


@pytest.fixture
def stores(tmp_path, metrics):
    def open_for(who: Principal) -> scrubjay.Store:
        return scrubjay.open(
            tmp_path / "notes.db", tenant=who.tenant, user=who.user, embedder=HashingEmbedder()
        )

    made = OpenStores(with_listeners(open_for, metrics.searched))
    metrics.follow(made)
    yield made
    made.close()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def read(metrics: Metrics) -> dict[tuple[str, frozenset], float]:
    """Every value of the page, by its name and labels, read by Prometheus' own parser."""
    body, kind = metrics.page()
    assert kind.startswith("text/plain; version=")
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in text_string_to_metric_families(body.decode())
        for one in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return read(metrics).get((name, frozenset(labels.items())))


def test_requests_are_counted_by_route_method_and_status(metrics):
    """The time of each as well, and those that are not answered yet."""
    metrics.began()
    metrics.began()
    assert value(metrics, "scrubjay_http_requests_in_flight") == 2
    metrics.ended("/v1/{verb}", "POST", 200, 0.003)
    metrics.ended("/v1/{verb}", "BREW", 405, 0.0001)
    assert value(metrics, "scrubjay_http_requests_in_flight") == 0
    asked = {"route": "/v1/{verb}", "method": "POST", "status": "200"}
    assert value(metrics, "scrubjay_http_requests_total", **asked) == 1
    asked = {"route": "/v1/{verb}", "method": "other", "status": "405"}
    assert value(metrics, "scrubjay_http_requests_total", **asked) == 1
    times = {"route": "/v1/{verb}"}
    assert value(metrics, "scrubjay_http_request_seconds_count", **times) == 2
    assert value(metrics, "scrubjay_http_request_seconds_bucket", le="0.0025", **times) == 1
    assert value(metrics, "scrubjay_http_request_seconds_bucket", le="0.005", **times) == 2


def test_every_search_is_counted_through_whatever_door(metrics, stores):
    """By profile and mode, with each of its stages, the hits of each tier, and what was lost."""
    with stores.lend(Principal()) as store:
        store.add("The kettle whistles", id="kettle")
        store.pending(wait=True)
        plain = store.search("kettle")
        by_word = store.search("kettle", mode="keyword")
        novamem = store.search("kettle", profile="novamem")
    assert value(metrics, "scrubjay_searches_total", profile="default", mode="default") == 1
    assert value(metrics, "scrubjay_searches_total", profile="default", mode="keyword") == 1
    assert value(metrics, "scrubjay_searches_total", profile="novamem", mode="default") == 1
    assert value(metrics, "scrubjay_search_seconds_count", profile="default") == 2
    assert value(metrics, "scrubjay_stage_seconds_count", stage="recall") == 3
    assert "rrf" in [step.stage for step in plain.trace]
    (took_ms,) = [step.took_ms for step in plain.trace if step.stage == "rrf"]
    assert (value(metrics, "scrubjay_stage_seconds_sum", stage="rrf") or 0) >= took_ms / 1000
    (counted,) = [one.notes["hits"] for one in novamem.trace if one.stage == "count_hits"]
    assert counted["keyword"] == 1
    others = [name for hits in (plain, by_word) for hit in hits for name in hit.found]
    for tier, count in counted.items():
        assert value(metrics, "scrubjay_hits_total", tier=tier) == count + others.count(tier)
    assert others.count("keyword") == 2


def test_a_lost_tier_counts_once_a_search(metrics):
    """A tier that is there but does not know everything is another matter."""
    lost = Step("vector", 1.0, lost="no model")
    trace = (Step("recall", 2.0, branches=(lost, Step("keyword", 0.5))), lost)
    metrics.searched(Results("q", "default", degraded=("vector: no model",), trace=trace))
    metrics.searched(Results("q", "default", degraded=("vectors: behind",)))
    warned = (Step("adaptive", 0.1, notes={"warning": "not all feedback was counted"}),)
    metrics.searched(
        Results("q", "vault", degraded=("not all feedback was counted",), trace=warned)
    )
    metrics.searched(Results("q", "default"))
    assert value(metrics, "scrubjay_degraded_searches_total", tier="vector") == 1
    assert value(metrics, "scrubjay_degraded_searches_total", tier="other") == 1
    assert value(metrics, "scrubjay_degraded_searches_total", tier="adaptive") == 1


def test_a_server_of_one_tenant_tells_of_no_other(stores):
    """The store in which it looks tokens up is open, too, and is somebody else's."""
    metrics = Metrics()
    metrics.follow(stores, "acme")
    with stores.lend(Principal(tenant="acme")), stores.lend(Principal()) as other:
        other.add("Of nobody's tenant")
        assert value(metrics, "scrubjay_memories", tenant="acme") == 0
        assert value(metrics, "scrubjay_memories", tenant="") is None


def test_stores_are_counted_by_tenant_only_while_they_are_open(metrics, stores, tmp_path):
    """One that is not open is not opened for it; persons of a tenant share its line, and are not named."""
    with scrubjay.open(tmp_path / "notes.db", tenant="closed", embedder=False) as closed:
        closed.add("Nobody asks")
    with stores.lend(Principal(tenant="acme", user="ann")) as ann:
        ann.add_many({"text": f"number {n}"} for n in range(3))
        ann.pending(wait=True)
    with stores.lend(Principal(tenant="acme", user="ben")), stores.lend(Principal()):
        pass
    assert value(metrics, "scrubjay_open_stores") == 3
    assert value(metrics, "scrubjay_memories", tenant="acme") == 3
    assert value(metrics, "scrubjay_pending_vectors", tenant="acme") == 0
    assert value(metrics, "scrubjay_memories", tenant="") == 0
    page = metrics.page()[0]
    for name in (b"closed", b"ann", b"ben"):
        assert b'"%b"' % name not in page
    stores.close()
    assert value(metrics, "scrubjay_open_stores") == 0
    assert value(metrics, "scrubjay_memories", tenant="acme") is None


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_vectors_that_wait_and_changes_that_a_server_has_yet_to_be_told(kind, request):
    """In either database; a server that knows everything stands there with 0."""
    store = opened(kind, request)
    store.activate("some-model", 8)
    with store.db.write() as db:
        for tier in ("graph", "vectors"):
            db.execute("INSERT INTO projections (tier, place) VALUES (?, 'nowhere')", (tier,))
    for n in range(3):
        store.records.put(a_memory(f"m{n}"), pieces("some text", 2))
    assert gauges(store.db) == Gauges(3, 6, {"graph": 3, "vectors": 0})
    store.close()


def test_it_says_which_scrubjay_this_is_and_when_it_began(metrics):
    info = [labels for (name, labels) in read(metrics) if name == "scrubjay_info"]
    assert dict(info[0])["version"] == scrubjay.__version__
    assert value(metrics, "scrubjay_start_time_seconds") > 1.7e9


def test_names_that_others_choose_do_not_fill_the_memory(metrics):
    """A scanner's thousand paths and somebody's thousand profiles become one line."""
    for n in range(1000):
        metrics.began()
        metrics.ended(f"/{n}", "GET", 404, 0.0)
        metrics.searched(Results("q", f"p{n}", trace=(Step(f"tier {n}", 0.1),)))
    names = [name for name, _ in read(metrics)]
    assert names.count("scrubjay_http_requests_total") == 101
    assert names.count("scrubjay_searches_total") == 101
    assert names.count("scrubjay_stage_seconds_count") == 101


def test_two_servers_in_one_process_count_for_themselves(metrics):
    other = Metrics()
    other.searched(Results("q", "default"))
    assert value(metrics, "scrubjay_searches_total", profile="default", mode="default") is None


class TestFigures:
    def test_times_of_the_last_searches_and_searches_an_hour(self):
        """p50 and p95 as people count them; what is long past is let go."""
        now = [1_000_000 * 3600.0]
        figures = Figures(most_searches=100, most_hours=2, clock=lambda: now[0])
        assert figures.report().stages == ()
        for n in range(1, 201):  # the last hundred took 101 to 200 ms
            inner = Step("keyword", n / 2)
            trace = (Step("recall", n, branches=(inner,)),)
            figures.searched(Results("q", "default", trace=trace, took_ms=n + 1.0))
            now[0] += 36  # two hours in all
        late = [Step("keyword", 1.0), Step("vector", 1.0, lost="no model for 'q'")]
        lost = (Step("recall", 1.0, branches=tuple(late)),)
        figures.searched(Results("q", "default", degraded=("no model",), trace=lost))
        figures.searched(Results("q", "default", degraded=("no collection 'q'",), took_ms=1.0))
        report = figures.report()
        assert (report.since_s, report.searches, report.degraded) == (3_600_000_000, 202, 2)
        assert report.stages == (
            StageTimes("search", 100, 151.0, 196.0),
            StageTimes("recall", 99, 151.0, 196.0),
            StageTimes("keyword", 99, 75.5, 98.0),
            StageTimes("vector", 1, 1.0, 1.0),
        )
        assert report.hours == (
            Hour(3_600_003_600, 100, 0),
            Hour(3_600_007_200, 2, 2, {"vector": 1, "other": 1}),
        )

    def test_one_search_is_its_own_median(self):
        figures = Figures()
        figures.searched(Results("q", "default", took_ms=7.0))
        assert figures.report().stages == (StageTimes("search", 1, 7.0, 7.0),)

    def test_many_threads_lose_none(self):
        figures = Figures(most_searches=10)

        def ask() -> None:
            for _ in range(500):
                figures.searched(Results("q", "default", took_ms=1.0))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        report = figures.report()
        assert report.searches == sum(one.searches for one in report.hours) == 2000
        assert report.stages[0].searches == 10

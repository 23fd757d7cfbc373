"""`/v1/figures`: the same searches as `/metrics`, and each tenant's hits over time."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

import scrubjay
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http.app import AUTH_THREADS, ServerContext
from scrubjay.surfaces.http.auth import ApiKeyLookup
from scrubjay.surfaces.http.metrics import Monitoring
from scrubjay.surfaces.http.settings import ServerSettings

from .conftest import WAIT_S, Client, served, stores_at, validate


@pytest.fixture
def made(db):
    """Tokens of two tenants, of the store without one, and of a person."""
    with scrubjay.open(db, embedder=False) as store:
        access = store.api_keys
        return {
            "all": access.create("all", scopes=["write"]).secret,
            "acme": access.create("acme", scopes=["write"], tenant="acme").secret,
            "ann": access.create("ann", scopes=["admin"], user="ann").secret,
        }


@pytest.fixture
def client(db, made):
    watch = Monitoring()
    stores = watch.open_stores(
        lambda who: scrubjay.open(db, embedder=False, tenant=who.tenant, user=who.user)
    )
    context = ServerContext.create(
        stores, ApiKeyLookup(stores, loopback=True, no_auth=True), ServerSettings(), watch
    )
    with served(context) as one:
        yield one
    stores.close()
    watch.close()


def totals(page):
    """What Prometheus reads, added up over all labels."""
    found = {}
    for family in text_string_to_metric_families(page.decode()):
        for one in family.samples:
            found[one.name] = found.get(one.name, 0.0) + one.value
    return found


def test_figures_and_metrics_tell_of_the_same_searches(client, made):
    """NM-7: hits of each tier over time, of each tenant; and stages with their times."""
    whole, acme = Client(client.url, made["all"]), Client(client.url, made["acme"])
    whole.post("/v1/add", {"text": "The kettle whistles", "id": "kettle"})
    acme.post("/v1/add", {"text": "The teapot is cracked"})
    acme.post("/v1/add", {"text": "Another teapot"})
    for _ in range(3):
        assert whole.get("/v1/search?query=kettle").json["hits"][0]["id"] == "kettle"
    acme.get("/v1/search?query=teapot&profile=novamem")

    told = whole.get("/v1/figures").json
    counted = totals(whole.get("/metrics").body)

    validate("figures", told)
    assert told["searches"] == counted["scrubjay_searches_total"] == 4
    assert told["degraded"] == counted["scrubjay_degraded_searches_total"]
    stages = {one["stage"]: one for one in told["stages"]}
    assert stages["search"]["searches"] == counted["scrubjay_search_seconds_count"] == 4
    assert sum(one["searches"] for one in told["hours"]) == 4
    assert all(datetime.fromisoformat(one["at"]).tzinfo for one in told["hours"])
    tenants = {one["tenant"]: one for one in told["tenants"]}
    assert {name: one["memories"] for name, one in tenants.items()} == {None: 1, "acme": 2}
    by_tier = {
        name: {hit["tier"]: hit["count"] for hit in one["hits"]} for name, one in tenants.items()
    }
    assert by_tier[None]["keyword"] == 3
    assert by_tier["acme"]["keyword"] == 2
    hits = sum(count for tiers in by_tier.values() for count in tiers.values())
    assert hits == counted["scrubjay_hits_total"]


def test_figures_are_for_those_who_see_everybody(client, made):
    """As /metrics is: not for one tenant or one person, and not for a browser that is not signed in."""
    for name in ("acme", "ann"):
        answer = Client(client.url, made[name]).get("/v1/figures")
        assert answer.status == 403
        assert "all users" in answer.problem
    assert client.get("/v1/figures").status == 401
    assert Client(client.url, made["all"]).post("/v1/figures", {}).status == 405


def test_a_store_that_does_not_answer_keeps_nobody_out(db, made, monkeypatch):
    """Figures wait for it beside the searches, not where everybody's token is looked up."""
    asked, go_on = threading.Semaphore(0), threading.Event()

    def slow(store, since):
        asked.release()
        assert go_on.wait(WAIT_S)
        return hits(store, since=since)

    hits = scrubjay.Store.hits
    monkeypatch.setattr(scrubjay.Store, "hits", slow)
    stores = stores_at(db)
    context = ServerContext.create(
        stores, ApiKeyLookup(stores, loopback=True, no_auth=True), ServerSettings(), Monitoring()
    )
    got: list[int] = []
    with served(context) as client:
        whole = Client(client.url, made["all"])
        asking = [
            threading.Thread(target=lambda: got.append(whole.get("/v1/figures").status))
            for _ in range(AUTH_THREADS)
        ]
        for one in asking:
            one.start()
        for _ in asking:
            assert asked.acquire(timeout=WAIT_S)
        late = threading.Timer(5.0, go_on.set)  # so that a failure ends
        late.start()
        try:
            assert Client(client.url, made["acme"]).get("/v1/ls").status == 200
            assert not go_on.is_set()
        finally:
            late.cancel()
            go_on.set()
            for one in asking:
                one.join()
    stores.close()
    assert got == [200] * AUTH_THREADS


def test_a_server_of_one_tenant_tells_of_that_tenant_alone(db, made):
    """The store of nobody is open there, too: it keeps the tokens."""
    with scrubjay.open(db, embedder=False) as store:
        store.add("None of their business")
    stores, own = stores_at(db), Principal(tenant="acme")
    find = ApiKeyLookup(stores, loopback=True, own=own, no_auth=True)
    with served(
        ServerContext.create(stores, find, ServerSettings(), Monitoring(), own=own)
    ) as client:
        acme = Client(client.url, made["acme"])
        acme.post("/v1/add", {"text": "The teapot is cracked"})
        told = acme.get("/v1/figures").json["tenants"]
    stores.close()
    assert [(one["tenant"], one["memories"]) for one in told] == [("acme", 1)]

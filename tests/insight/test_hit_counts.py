"""Which tier found what is counted, beside the searches and never in their way."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from clocks import NOON

import scrubjay
from scrubjay import Hit, InvalidInput, Results, StoreError
from scrubjay.storage.sql.overview import SqlHitCounts
from scrubjay.surfaces.callers import Principal, with_listeners
from scrubjay.types import Found
from scrubjay.types.reports import Hits, HitsOfHour, hits_by_source


@pytest.fixture
def path(tmp_path, clock, embedder):
    """A store with a word in two memories, and a link to a third."""
    path = tmp_path / "n.db"
    with opened(path, clock, embedder) as store:
        store.add("a red car", id="a")
        store.add("a blue car", id="b")
        store.add("bread", id="c", links=[("a", 0.5)])
        store.pending()
    return path


def opened(path, clock, embedder):
    return scrubjay.open(path, profile="novamem", embedder=embedder, clock=clock)


def stored(store):
    return SqlHitCounts(store._context.db).since(0)


def test_a_hit_counts_for_each_tier_that_found_it(path, clock, embedder):
    """NM-7: of what is returned, and not of what was looked at."""
    with opened(path, clock, embedder) as store:
        found = store.search("red car", limit=2)
        assert len(found) == 2
        expected = {
            tier: sum(tier in hit.found for hit in found)
            for tier in ("keyword", "vector", "graph")
        }

        assert store.hits() == Hits(1, expected, (HitsOfHour(NOON, 1, expected),))
        assert expected["keyword"] == expected["vector"] == 2


def test_nothing_is_written_in_a_search_and_all_of_it_when_a_store_is_closed(
    path, clock, embedder
):
    """NM-7: gathered in memory."""
    with opened(path, clock, embedder) as store:
        for _ in range(3):
            store.search("car", weights="exact_id")
        assert stored(store) == {}
        counted = store.hits()

    with opened(path, clock, embedder) as store:
        hour = int(NOON.timestamp()) * 1_000_000
        assert stored(store) == {(hour, ""): 3, (hour, "keyword"): 6}
        assert store.hits() == counted
        status = store.status()
        assert (status.searches, status.hits) == (3, {"keyword": 6})


def test_hours_are_apart_and_can_be_asked_for(path, clock, embedder):
    """NM-7: by the hour, since a moment."""
    with opened(path, clock, embedder) as store:
        store.search("car", weights="exact_id")
        clock.advance(hours=2, minutes=30)
        store.search("bread", weights="exact_id")

        counted = store.hits()
        assert counted.searches == 2
        assert [(one.at, one.tiers["keyword"]) for one in counted.hours] == [
            (NOON, 2),
            (NOON + timedelta(hours=2), 1),
        ]
        later = store.hits(since=NOON + timedelta(hours=2, minutes=10))
        assert later == Hits(1, {"keyword": 1}, counted.hours[1:])
        assert store.hits(since=datetime(2027, 1, 1, tzinfo=UTC)) == Hits()
        with pytest.raises(InvalidInput, match="since"):
            store.hits(since="yesterdayish")


def test_two_processes_add_up(path, clock, embedder):
    """Counts of others are added to, not replaced."""
    with opened(path, clock, embedder) as one, opened(path, clock, embedder) as other:
        one.search("car", weights="exact_id")
        other.search("car", weights="exact_id")

    with opened(path, clock, embedder) as store:
        assert store.hits().searches == 2
        assert store.hits().tiers == {"keyword": 4}


def test_a_thread_writes_them_now_and_then(path, clock, embedder, monkeypatch):
    """A server that is never closed has them on its page all the same."""
    monkeypatch.setattr("scrubjay.insight.hit_counts._EVERY_S", 0.01)
    with opened(path, clock, embedder) as store:
        store.search("car", weights="exact_id")
        store._context.hit_counts._worker.join(30)

        assert sum(stored(store).values()) == 3
        store.search("car", weights="exact_id")
        assert store.hits().searches == 2


def test_a_store_that_cannot_be_written_loses_counts_and_nothing_else(
    path, clock, embedder, monkeypatch
):
    """NM-7: a search is not failed by it, nor is closing."""

    def busy(*_arguments):
        raise StoreError("somebody else is writing")

    with opened(path, clock, embedder) as store:
        monkeypatch.setattr(store._context.hit_counts._table, "add", busy)
        assert len(store.search("car", weights="exact_id")) == 2
        store._context.hit_counts._write()
        assert store.hits().searches == 1  # kept for the next time

    with opened(path, clock, embedder) as store:
        assert store.hits() == Hits()


def test_profiles_without_the_stage_are_not_counted(path, clock, embedder):
    """Only `count_hits` counts; it may be left out."""
    with opened(path, clock, embedder) as store:
        store.search("car", profile="default")
        store.search("car", overrides={"count_hits": False})

        assert store.hits() == Hits()


def test_a_server_counts_the_searches_of_every_profile(path, clock, embedder):
    """NM-7 for all: which list found how many of the results shown, under its own name."""
    with opened(path, clock, embedder) as store:
        store.count_every_search()
        plain = store.search("red car", profile="default")
        by_word = store.search("car", profile="default", mode="keyword")
        novamem = store.search("car", limit=1)
        expected = Counter(
            name
            for found in (plain, by_word)
            for hit in found
            for name, at in hit.found.items()
            if at.rank is not None
        )
        expected.update(novamem[0].found.keys())
        assert {"keyword", "vector"} <= set(novamem[0].found)
        assert expected["keyword"] >= 5

        assert store.hits().searches == 3
        assert store.hits().tiers == expected
        assert stored(store) == {}  # gathered in memory, as before

    with opened(path, clock, embedder) as store:
        assert (store.hits().searches, store.hits().tiers) == (3, expected)
        store.search("car", profile="default")  # and no longer, where nobody asked for it
        assert store.hits().searches == 3


def test_what_was_looked_up_afterwards_is_not_found_and_lists_of_a_kind_are_one():
    """Two ways in which a query was said again are one tier, and count once for a hit."""
    hits = (
        Hit("a", 1.0, "a", found={"lexical:1": Found(1, 1.0), "lexical:2": Found(3, 0.1)}),
        Hit("b", 0.5, "b", found={"keyword": Found(1, 1.0), "vector": Found(None, 0.2)}),
    )
    assert hits_by_source(Results("q", "gno", hits)) == {"lexical": 1, "keyword": 1}
    assert hits_by_source(Results("q", "gno")) == {}


def test_the_stores_of_a_server_count(path, clock, embedder):
    """What is opened for a server counts by itself."""
    open_for = with_listeners(lambda _: opened(path, clock, embedder), lambda _: None)
    with open_for(Principal()) as store:
        store.search("car", profile="default", mode="keyword")
        assert store.hits().tiers == {"keyword": 2}

"""Keyword search in a real Postgres with candidates from a real Qdrant: what Postgres alone finds."""

from __future__ import annotations

import random
import time

import pytest
from backends import InPostgres, a_memory, pieces
from qdrant_client import QdrantClient

import scrubjay
from scrubjay import InvalidInput
from scrubjay.storage.postgres import keyword as postgres_keyword
from scrubjay.storage.qdrant import keyword, sparse
from scrubjay.storage.qdrant.client import QdrantServer
from scrubjay.storage.qdrant.keyword import QdrantKeyword
from scrubjay.storage.qdrant.keyword_replica import QdrantKeywordReplica
from scrubjay.storage.replicas.breaker import Breaker
from scrubjay.storage.replicas.outbox import WORDS, Outbox, ReplicaSource
from scrubjay.storage.replicas.worker import ReplicaWorker
from scrubjay.storage.sql import keyword_ranking
from scrubjay.text.urls import QDRANT, parse_server_url
from scrubjay.types import Scope, Term

EVERYTHING = Scope()
COUNT = 300
# A few words are in most memories and most in a few, as in any text.
VOCABULARY = [f"word{n}" for n in range(120)]
WEIGHTS = {"context": 0.5}


class WithQdrant(InPostgres):
    """A store in Postgres whose words a Qdrant lists; `exact` is what Postgres alone finds."""

    def __init__(self, path: str, url: str) -> None:
        super().__init__(path)
        self.exact = self.keyword
        self.server = QdrantServer(parse_server_url(url, QDRANT, "vectors"))
        self.breaker = Breaker("vectors", self.server.ping)
        self.replica = QdrantKeywordReplica(self.db, self.server)
        self.keyword = self.listed = QdrantKeyword(self.db, self.server, self.breaker)
        self.outbox = Outbox(self.db)
        self.worker = ReplicaWorker(self.outbox, ReplicaSource(self.db), [self.replica], "test")

    def feed(self) -> None:
        """Send what waits."""
        assert self.worker.wait(60) == 0, self.worker.outage
        while self.worker.running:  # it would send what comes next as well
            time.sleep(0.01)

    def close(self) -> None:
        self.worker.stop()
        self.breaker.close()
        self.server.close()
        super().close()


@pytest.fixture
def listed(monkeypatch):
    """How often the server was asked, and the answer used or not."""
    monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    monkeypatch.setattr(postgres_keyword, "FEW", 0)
    used = []
    search = QdrantKeyword._search

    def noting(self, *given):
        used.append(search(self, *given))
        return used[-1]

    monkeypatch.setattr(QdrantKeyword, "_search", noting)
    return used


@pytest.fixture
def opened(postgres_url, qdrant_url, listed):
    store = WithQdrant(postgres_url, f"{qdrant_url}?timeout_s=60")
    yield store
    store.close()


def some(chance, most, least=0):
    weights = [1 / (rank + 2) for rank in range(len(VOCABULARY))]
    return " ".join(chance.choices(VOCABULARY, weights, k=chance.randint(least, most)))


def put(store, *memories):
    with store.records.transaction():
        for one in memories:
            store.records.put(one, pieces(one.text))


def filled(store, seed=1, count=COUNT):
    chance = random.Random(seed)
    put(
        store,
        *(
            a_memory(
                f"m{n:03}",
                some(chance, 30, 1),
                hours=n % 7,
                title=some(chance, 3),
                context=some(chance, 6) if n % 3 == 0 else "",
                type="message" if n % 5 == 0 else "note",
                namespace=("default", "user:ann")[n % 2],
            )
            for n in range(count)
        ),
    )
    return chance


def terms_of(chance, count):
    return [Term(((word,),)) for word in dict.fromkeys(some(chance, count, count).split())]


def rows(index, terms, scope=EVERYTHING, limit=10, weights=WEIGHTS, **options):
    found = index.search(terms, scope, limit, weights, **options)
    return [(row.id, round(row.score, 6)) for row in found.rows]


def by_density(index, terms, limit=10, scope=EVERYTHING):
    found = index.search_by_cover_density(terms, scope, limit, WEIGHTS)
    return [(row.id, round(row.score, 6)) for row in found.rows], found.ranked_by


def test_ids_scores_and_order_are_those_of_postgres_alone(opened, listed):
    """NM-2, R-11: one to five terms, those with all of them first or not, by BM25 and by cover density."""
    chance = filled(opened)
    opened.feed()
    scopes = (
        EVERYTHING,
        Scope(types=("note",)),
        Scope(namespaces=("user:ann",)),
        Scope(reader="ann"),
    )
    for at in range(40):
        terms, scope = terms_of(chance, 1 + at % 5), scopes[at % 4]
        for first in (True, False):
            wanted = rows(opened.exact, terms, scope, every_first=first)
            assert rows(opened.listed, terms, scope, every_first=first) == wanted, terms
        by_server = by_density(opened.listed, terms, 10, scope)
        assert by_server == by_density(opened.exact, terms, 10, scope)
    assert sum(listed) > len(listed) * 0.8  # and the server had a part in it


def test_what_the_server_does_not_have_yet_is_found_and_what_is_forgotten_is_not(opened, listed):
    """NM-2: new, changed and deleted memories, before the server is told, and its points after."""
    chance = filled(opened)
    opened.feed()
    terms = [Term(((VOCABULARY[0],),)), Term((("quartz",),))]
    put(
        opened, a_memory("m001", "quartz came instead"), a_memory("new", f"quartz {VOCABULARY[0]}")
    )
    best, *_ = rows(opened.listed, terms)
    with opened.records.transaction():
        opened.records.delete(["m000", best[0] if best[0] != "new" else "m002"])
    listed.clear()
    found = rows(opened.listed, terms)
    assert found == rows(opened.exact, terms)
    assert found[0][0] == "new"
    assert "m001" in dict(found)
    assert "m000" not in dict(rows(opened.listed, terms_of(chance, 2), limit=COUNT))
    assert listed[0]  # the server listed, although it was behind
    opened.feed()
    assert opened.replica.count() == COUNT - 1
    assert rows(opened.listed, terms) == found


def test_postgres_answers_alone_until_the_server_has_everything(opened, listed):
    """R-11: nothing attached, everything still to send, and a server that lost its collection."""
    chance = filled(opened)
    terms = terms_of(chance, 3)
    wanted = rows(opened.exact, terms)
    assert rows(opened.listed, terms) == wanted
    assert opened.outbox.attach(WORDS, opened.replica.place)
    assert rows(opened.listed, terms) == wanted
    opened.feed()
    assert not any(listed)
    assert rows(opened.listed, terms) == wanted
    assert listed.pop()
    lost = []
    opened.listed.on_loss = lambda: lost.append(True)
    client = QdrantClient(port=opened.server.address.port, check_compatibility=False)
    client.delete_collection(opened.server.words_collection_name())
    client.close()
    assert rows(opened.listed, terms) == wanted
    assert lost == [True]


def test_a_server_that_is_away_costs_no_result(opened, qdrant, listed):
    """R-6: Postgres answers alone, and a later search does not wait for the server again."""
    chance = filled(opened)
    opened.feed()
    terms = terms_of(chance, 3)
    wanted = rows(opened.exact, terms)
    opened.server.address = opened.server.address._replace(timeout_s=0.2)
    qdrant.pause()
    try:
        assert rows(opened.listed, terms) == wanted
        assert opened.breaker.reason
        assert rows(opened.listed, terms) == wanted
    finally:
        qdrant.resume()
    assert not any(listed)


def test_phrases_beginnings_and_heavier_fields_are_searched_by_postgres(opened, listed):
    """NM-2: what has no dimension on the server is found as before."""
    filled(opened)
    opened.feed()
    phrase, beginning = Term(((VOCABULARY[0], VOCABULARY[1]),)), Term((("word1*",),))
    plain = [Term(((VOCABULARY[2],),))]
    for terms in ([phrase, *plain], [beginning]):
        assert rows(opened.listed, terms) == rows(opened.exact, terms)
        assert by_density(opened.listed, terms) == by_density(opened.exact, terms)
    heavy = {"title": 3.0}
    assert rows(opened.listed, plain, weights=heavy) == rows(opened.exact, plain, weights=heavy)
    assert not any(listed)


def test_terms_that_share_a_dimension_are_told_apart_by_postgres(opened, listed, monkeypatch):
    """R-11: with eight dimensions for all terms, nothing is missed and nothing is wrong."""
    monkeypatch.setattr(sparse, "_DIMENSIONS", 8)
    sparse.dimension.cache_clear()
    chance = filled(opened)
    opened.feed()
    for _ in range(10):
        terms = terms_of(chance, 3)
        assert rows(opened.listed, terms) == rows(opened.exact, terms)
    sparse.dimension.cache_clear()


def test_a_changed_mean_length_has_every_vector_made_again(opened):
    """R-11: a store that grew from short texts to long ones is sent again once, and stays exact."""
    put(opened, *(a_memory(f"s{n}", f"{VOCABULARY[n % 9]} brief") for n in range(20)))
    opened.feed()
    chance = filled(opened)
    for _ in range(5):
        terms = terms_of(chance, 2)
        assert rows(opened.listed, terms) == rows(opened.exact, terms)
    assert opened.replica.is_outdated()
    opened.worker.recheck(WORDS)
    until = time.monotonic() + 60
    while opened.replica.is_outdated():
        assert time.monotonic() < until, "it was not sent again"
        time.sleep(0.02)
    opened.feed()
    for _ in range(5):
        terms = terms_of(chance, 2)
        assert rows(opened.listed, terms) == rows(opened.exact, terms)


def test_counts_of_a_large_store_are_used_again_until_it_has_grown(opened, monkeypatch):
    """R-11: a commit does not have every term counted again; one hundredth more memories do."""
    monkeypatch.setattr(keyword, "_LARGE", 0)
    monkeypatch.setattr(keyword, "_MAX_GROWTH", 0.01)
    filled(opened)
    opened.feed()
    term = Term(((VOCABULARY[3],),))
    before = opened.listed.rarity(term)
    put(opened, a_memory("one more", VOCABULARY[3]))
    assert opened.listed.rarity(term) == before != opened.exact.rarity(term)
    put(opened, *(a_memory(f"more {n}", VOCABULARY[3]) for n in range(4)))
    assert opened.listed.rarity(term) == opened.exact.rarity(term)


def a_large_store(postgres_url, vectors, embedder):
    return scrubjay.open(postgres_url, vectors=vectors, embedder=embedder, reranker=False)


def test_the_address_of_the_server_can_ask_for_the_exact_path(
    postgres_url, qdrant_url, embedder, listed
):
    """R-11: `?keyword=exact` neither asks the server for words nor sends any; without it, they are sent."""
    patient = f"{qdrant_url}?timeout_s=60"
    with a_large_store(postgres_url, patient, embedder) as store:
        store.add_many([{"text": f"the {word} came with amber {word}"} for word in VOCABULARY])
        store.pending()
        found = [hit.id for hit in store.search("amber word7", mode="keyword")]
        assert {state.tier for state in store.status().servers} == {"vectors", WORDS}
    assert any(listed)
    listed.clear()
    with a_large_store(postgres_url, f"{patient}&keyword=exact", embedder) as store:
        assert [hit.id for hit in store.search("amber word7", mode="keyword")] == found
        store.add("another text about amber")
        store.pending()
        assert {state.tier for state in store.status().servers} == {"vectors"}
    assert not listed
    with a_large_store(postgres_url, patient, embedder) as store:
        store.pending()
        hits = store.search("another amber", mode="keyword")
        assert hits[0].text == "another text about amber"
    assert any(listed)


def test_a_dropped_server_keeps_no_words_and_gets_them_again_when_it_is_filled(
    postgres_url, qdrant_url, embedder, listed
):
    """R-11: `reindex vectors --drop` deletes words with the vectors; `reindex vectors` sends both."""
    patient = f"{qdrant_url}?timeout_s=60"
    with a_large_store(postgres_url, patient, embedder) as store:
        store.add_many([{"text": f"{word} and amber"} for word in VOCABULARY])
        store.pending()
        store.search("amber", mode="keyword")
        words = store._context.tables.replicas._replicas[WORDS]
        assert words.count() == len(VOCABULARY)
        store.reindex("vectors", drop=True)
        assert words.count() == 0
        assert store.reindex("vectors").left == 0
        assert words.count() == len(VOCABULARY)


def test_an_unknown_way_to_search_by_word_is_refused():
    """R-11: the message names the two that exist."""
    with pytest.raises(InvalidInput, match="sparse or exact"):
        parse_server_url("qdrant://host/notes?keyword=fast", QDRANT, "vectors")

"""Servers are told what changed: all of it, in the end, whatever happens on the way."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from backends import SqliteWithFalkor, a_memory, pieces
from places import SUPPORT

from scrubjay import Unavailable
from scrubjay.errors import InvalidInput
from scrubjay.storage.qdrant.client import QdrantServer
from scrubjay.storage.qdrant.replica import QdrantReplica
from scrubjay.storage.qdrant.vectors import QdrantVectors
from scrubjay.storage.replicas import worker as replica_worker
from scrubjay.storage.replicas.outbox import Outbox, ReplicaSource
from scrubjay.storage.replicas.worker import ReplicaWorker
from scrubjay.text.urls import QDRANT, parse_server_url
from scrubjay.types import Scope

IDS = [f"m{n:02}" for n in range(12)]


@pytest.fixture
def opened(tmp_path, falkordb_url):
    """Opens the same store as often as one likes, each as another process would."""
    stores = []

    def one(who="one", name="notes.db", options=""):
        path, url = str(tmp_path / name), f"{falkordb_url}{options}"
        stores.append(SqliteWithFalkor(path, url, who))
        return stores[-1]

    yield one
    for store in stores:
        store.close()


@pytest.fixture
def store(opened):
    return opened()


def fill(store, ids=IDS):
    """Memories in a chain."""
    with store.records.transaction():
        for id_ in ids:
            store.records.put(a_memory(id_), pieces("text"))
        for a, b in pairwise(ids):
            store.graph.link(a, b, 0.5, "chain")


def scribble(store, chance, steps):
    """Add, change, move, forget and link at random."""
    for _ in range(steps):
        a, b = chance.sample(IDS, 2)
        with store.records.transaction():
            match chance.randrange(6):
                case 0 | 1:
                    store.records.put(
                        a_memory(
                            a,
                            hours=chance.randrange(99),
                            namespace=chance.choice(("mine", "theirs")),
                            topics=tuple(chance.sample(("sea", "sky", "land"), 2)),
                            owner=chance.choice((None, "ada")),
                        ),
                        pieces("text"),
                    )
                case 2:
                    store.records.delete([a])
                case 3:
                    store.graph.unlink(a, b, None)
                case _:
                    store.graph.link(a, b, chance.randrange(1, 9) / 8, chance.choice("kl"))


FIELDS = (
    "id namespace type topics collection session owner agent domain_label created_us"
    " valid_from_us valid_until_us"
).split()


def known(store):
    """Everything that the server knows of a store."""
    fields = ", ".join(f"m.{field}" for field in FIELDS)
    nodes = store.server.read(f"MATCH (m:Memory) RETURN {fields}", {}) or []
    links = store.server.read("MATCH (a)-[e:LINK]->(b) RETURN a.id, b.id, e.kind, e.strength", {})
    return sorted(nodes), sorted(links or [])


def true(store):
    """The same, as it stands in the records."""
    ids = store.records.ids(Scope())
    memories, gone = ReplicaSource(store.db).memories(ids)
    assert not gone
    nodes = [[list(v) if isinstance(v, tuple) else v for v in one[:-1]] for one in memories]
    return sorted(nodes), sorted(map(list, ReplicaSource(store.db).links_of(ids)))


def until(reached, timeout_s=60):
    """Wait for something that happens in the background."""
    end = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@pytest.mark.parametrize("seed", range(4))
def test_random_writes_end_up_in_the_server(seed, opened, monkeypatch):
    """Whatever is written while it is told, by two processes in small batches: the copy is exact."""
    monkeypatch.setattr(replica_worker, "BATCH", 3)
    stores = [opened("one"), opened("two")]
    chance = random.Random(seed)
    for _ in range(12):
        scribble(chance.choice(stores), chance, chance.randrange(12))
        match chance.randrange(3):
            case 0:
                chance.choice(stores).worker.wake()
            case 1:
                assert chance.choice(stores).worker.wait(30) == 0
                assert known(stores[0]) == true(stores[0])

    assert stores[1].worker.wait(30) == 0

    assert known(stores[0]) == true(stores[0])
    assert len(true(stores[0])[0]) > 3


def test_writers_and_feeders_at_the_same_time(opened, monkeypatch):
    """Two threads write and two feed, all at once."""
    monkeypatch.setattr(replica_worker, "BATCH", 5)
    stores = [opened("one"), opened("two")]

    def write(store, seed):
        chance = random.Random(seed)
        for _ in range(15):
            scribble(store, chance, 4)
            store.worker.wake()

    threads = [threading.Thread(target=write, args=(store, n)) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert stores[0].worker.wait(30) == 0
    until(lambda: known(stores[0]) == true(stores[0]))


def test_a_memory_that_came_back_has_lost_its_links(store):
    """Forgotten and written again between two batches: links of the first are not the second's."""
    fill(store)
    assert store.worker.wait(30) == 0

    store.records.delete(IDS[1:3])
    store.records.put(a_memory(IDS[1]), pieces("text"))
    store.graph.link(IDS[1], IDS[7], 0.25, "new")
    assert store.worker.wait(30) == 0

    assert known(store) == true(store)
    assert [one.id for one in store.graph.walk(IDS[:1], Scope(), 3, None)] == []


def test_lag_counts_what_waits(store):
    """A row for each change: status shows it, and nothing is noted for tiers that have no server."""
    fill(store, IDS[:3])
    assert store.outbox.count("graph") == 1 + 3 + 2  # forget everything, memories, links
    assert store.worker.pending() == 6
    assert store.outbox.count("vectors") == 0

    seen = []
    assert store.worker.wait(30, lambda done, all_: seen.append((done, all_))) == 0
    assert store.outbox.count("graph") == 0
    assert seen[-1] == (6, 6)
    while store.worker.running:  # it would send what comes next as well
        time.sleep(0.01)
    store.records.delete(IDS[:1])
    assert store.outbox.count("graph") == 1


def test_a_server_attached_later_is_told_everything(opened, falkordb_url):
    """Also one at another place; detached, nothing is noted any more."""
    store = opened()
    assert store.outbox.attached() == {"graph": store.replica.place}
    assert not store.outbox.attach("graph", store.replica.place)
    fill(store)
    assert store.worker.wait(30) == 0
    store.outbox.detach("graph")
    store.records.delete(IDS[:2])
    assert (store.outbox.count("graph"), store.outbox.attached()) == (0, {})
    assert store.worker.wait(30) == 0
    assert known(store) != true(store)

    assert store.outbox.attach("graph", store.replica.place)
    assert store.worker.wait(30) == 0
    assert known(store) == true(store)
    with pytest.raises(InvalidInput, match="scrubjay reindex graph --drop"):
        store.outbox.attach("graph", "falkordb://elsewhere/graph")
    assert store.outbox.count("graph") == 0


def test_again_clears_the_server_first(store):
    """`reindex`: what the records do not know is gone afterwards."""
    fill(store)
    assert store.worker.wait(30) == 0
    store.server.write("CREATE (:Memory {id: 'stray'})-[:LINK]->(:Memory {id: 'other'})", {})

    store.outbox.add_everything("graph")
    assert store.worker.wait(30) == 0

    assert known(store) == true(store)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["put", "remove", "put_links", "done"])
def test_a_killed_process_loses_nothing(point, opened, falkordb_url, monkeypatch):
    """kill -9 before, between and after telling: the next one goes on once the lease has run out."""
    store = opened()
    fill(store, [f"k{n:02}" for n in range(40)])
    store.records.delete(["k05", "k25"])

    feeder = subprocess.run(
        [sys.executable, SUPPORT / "feeder.py", store.path, falkordb_url, point],
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )

    assert feeder.returncode == -9
    assert 0 < store.outbox.count("graph") < 1 + 40 + 39 + 2
    assert store.worker.wait(30) == 0
    assert known(store) == true(store)


def test_one_at_a_time_feeds_and_whoever_is_late_has_it_told_again(store):
    """The lease: another may take it only when it has run out; then what the first told is told again."""
    fill(store)
    outbox = store.outbox
    assert outbox.lease("graph", "first", 60)
    assert outbox.lease("graph", "first", 60)
    assert not outbox.lease("graph", "second", 60)
    assert outbox.renew("graph", "first", -1)
    late = outbox.next("graph", 5)
    assert outbox.lease("graph", "second", 60)
    assert not outbox.renew("graph", "first", 60)
    rest = outbox.next("graph")
    assert outbox.done("graph", rest, "second", 60)
    assert outbox.count("graph") == 0

    assert not outbox.done("graph", late[1:], "first", 60)
    assert {note.id for note in outbox.next("graph")} == {note.id for note in late[1:]}
    assert not outbox.done("graph", late, "first", 60)
    assert outbox.count("graph") == 1 + len(IDS) + len(IDS) - 1
    assert outbox.lease("graph", "first", 60)  # the second let go of it when nothing was left


def test_what_a_late_feeder_undid_is_told_again(opened):
    """It removed a memory that another had told of since, with links: both are there in the end."""
    store, other = opened("one"), opened("two")
    fill(store)
    assert other.worker.wait(30) == 0
    until(lambda: other.worker.running is False)  # it has looked for more, and rests
    # The first has read that a memory is gone, and stands still for longer than its lease.
    store.records.delete(IDS[3:4])
    assert store.outbox.lease("graph", "one", -1)
    read = store.outbox.next("graph")
    assert [note.id for note in read] == IDS[3:4]
    # The second tells that it is back, with a link.
    store.records.put(a_memory(IDS[3]), pieces("text"))
    store.graph.link(IDS[3], IDS[9], 0.25, "new")
    assert other.worker.wait(30) == 0
    assert known(other) == true(other)
    # Now the first goes on.
    store.replica.remove(IDS[3:4])
    assert not store.outbox.done("graph", read, "one", 15)

    assert other.worker.wait(30) == 0
    assert known(other) == true(other)


def test_a_stopped_server_is_told_when_it_is_back(opened, falkordb, monkeypatch):
    """NM-6: writing goes on, the outage has a reason, and nobody has to start anything anew."""
    monkeypatch.setattr(replica_worker, "REST_S", 0.05)
    store = opened()
    fill(store)
    assert store.worker.wait(30) == 0
    falkordb.stop()
    try:
        scribble(store, random.Random(3), 20)
        left = store.worker.wait(30)
        assert left == store.outbox.count("graph") > 0
        assert "cannot be reached" in store.worker.outage["graph"]
    finally:
        falkordb.start()

    until(lambda: store.outbox.count("graph") == 0)
    until(lambda: not store.worker.outage)
    assert known(store) == true(store)


def test_a_server_that_lost_everything_is_told_everything(opened, falkordb, monkeypatch):
    """Killed without having saved: noticed by whoever finds it again, and mended."""
    monkeypatch.setattr(replica_worker, "REST_S", 0.05)
    store = opened()
    fill(store)
    assert store.worker.wait(30) == 0
    falkordb.kill()
    store.records.put(a_memory("z"), pieces("text"))
    assert store.worker.wait(30) == 1
    falkordb.start()

    until(lambda: known(store) == true(store))


def test_a_server_that_hangs_keeps_nobody(opened, falkordb):
    """A process that ends waits a moment for what it wrote, and not for a server that hangs."""
    store = opened(options="?timeout_s=0.2")
    fill(store)
    store.worker.wake()
    store.worker.settle()
    until(lambda: store.outbox.count("graph") == 0)
    falkordb.pause()
    try:
        store.records.put(a_memory("z"), pieces("text"))
        store.worker.wake()
        until(lambda: store.worker.outage)
        store.worker.settle()
        assert "did not answer within 0.2 s" in store.worker.outage["graph"]
        store.worker.stop()
        assert store.worker.wait(30) == 1
    finally:
        falkordb.resume()


def test_settling_waits_for_the_last_few(store):
    """What was written just before is told before the process ends."""
    fill(store)
    store.worker.wake()
    until(lambda: store.outbox.count("graph") == 0)
    store.records.put(a_memory("z"), pieces("text"))
    store.worker.wake()
    store.worker.settle()
    assert store.outbox.count("graph") == 0


def test_a_closed_store_ends_the_work(opened, monkeypatch):
    """As when its disk is full: the thread ends without a word, and what is noted stays noted."""
    store, other = opened("one"), opened("two")
    fill(store, [f"c{n:03}" for n in range(300)])
    monkeypatch.setattr(replica_worker, "BATCH", 1)
    store.worker.wake()
    store.db.close()
    until(lambda: store.worker.running is False)
    monkeypatch.setattr(replica_worker, "BATCH", 1_000)

    assert other.worker.wait(30) == 0
    assert known(other) == true(other)


def test_two_servers_are_told_and_one_that_is_away_does_not_stop_the_other(
    tmp_path, opened, qdrant, qdrant_url
):
    """Vectors and links go to servers of their own, and each knows what the records know."""
    store = opened()
    server = QdrantServer(parse_server_url(f"{qdrant_url}?timeout_s=5", QDRANT, "vectors"))
    vectors = QdrantReplica(store.db, server)
    store.outbox.attach(vectors.kind, vectors.place)
    feeding = ReplicaWorker(
        store.outbox, ReplicaSource(store.db), [vectors, store.replica], "three"
    )
    chance = np.random.default_rng(2)
    given = chance.normal(size=(len(IDS), 8)).astype(np.float32)
    given /= np.linalg.norm(given, axis=1, keepdims=True)  # longer ones count as damaged
    fill(store)
    store.activate("m", 8)
    store.embed("m", {id_: [row] for id_, row in zip(IDS, given, strict=True)})
    assert feeding.wait(60) == 0, feeding.outage
    found = QdrantVectors(store.db, server)
    expected = store.vectors.search(given[0], "m", Scope(), 5)
    assert found.search(given[0], "m", Scope(), 5) == expected

    qdrant.stop()
    try:
        store.records.delete(IDS[4:])
        left = feeding.wait(60)
        assert left == store.outbox.count("vectors") > 0
        assert list(feeding.outage) == ["vectors"]
        assert known(store) == true(store)
    finally:
        qdrant.start()
    assert feeding.wait(60) == 0, feeding.outage
    assert vectors.count() == 4
    store.records.put(a_memory(IDS[0], namespace="moved"), pieces("text"))
    assert feeding.wait(60) == 0
    moved = Scope(namespaces=("moved",))
    assert [row.id for row in found.search(given[0], "m", moved, 5).rows] == IDS[:1]
    feeding.stop()
    found.close()
    server.close()


def test_a_store_without_servers_needs_no_thread(store):
    """Nothing to feed: nothing is started, and nothing is left."""
    idle = ReplicaWorker(Outbox(store.db), ReplicaSource(store.db), [], "nobody")
    idle.wake()
    idle.settle()
    assert idle.wait(1) == 0
    assert idle.outage == {}
    idle.stop()


def test_a_missing_server_is_unavailable_and_not_the_store(store, falkordb):
    """Only the copy is away: the records go on."""
    fill(store)
    assert store.worker.wait(30) == 0
    falkordb.stop()
    with pytest.raises(Unavailable):
        super(type(store.graph), store.graph).walk(IDS[:1], Scope(), 1, 9)
    assert [one.id for one in store.embedded.walk(IDS[:1], Scope(), 1, 9)] == IDS[1:2]

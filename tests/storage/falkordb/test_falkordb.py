"""Links walked by a FalkorDB: as in the records, under every scope, and what happens when it fails."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from backends import SqliteWithFalkor, a_memory, asking, pieces
from clocks import NOON
from tools.servers import FalkorDB
from tools.servers.programs import falkordb as programs

from scrubjay import Unavailable
from scrubjay.errors import MissingExtra
from scrubjay.storage.falkordb.client import FalkorServer
from scrubjay.storage.falkordb.graph import where
from scrubjay.storage.falkordb.replica import FalkorReplica
from scrubjay.storage.replicas.outbox import ReplicaLink, ReplicaRecord
from scrubjay.storage.sql import graph as walking
from scrubjay.storage.sql.collections import SqlCollections
from scrubjay.storage.sql.extractions import Span, SqlExtractions, SqlSpans
from scrubjay.text.urls import FALKORDB, parse_server_url
from scrubjay.times import micros
from scrubjay.types import Scope, Spoken

NOON_US = micros(NOON)
COUNT = 60


@pytest.fixture
def store(tmp_path, falkordb_url):
    opened = SqliteWithFalkor(str(tmp_path / "notes.db"), falkordb_url)
    yield opened
    opened.close()


def fill(store, seed=5, count=COUNT, links=3):
    """Memories of every sort, linked at random, with a hub and a ring."""
    chance = random.Random(seed)
    people = SqlCollections(store.db)
    team = people.create("team", NOON_US)
    people.set_member(team, "ada", "reader")
    people.set_member(team, "bob", "writer")
    one_of = chance.choice
    ids = [f"m{n:03}" for n in range(count)]
    with store.records.transaction():
        for n, id_ in enumerate(ids):
            text = one_of(("a quiet harbour", "a loud harbour", "a quiet hill"))
            begins, ends = one_of((None, -2, 3)), one_of((None, -1, 5))
            store.records.put(
                a_memory(
                    id_,
                    text,
                    hours=n - count // 2,
                    type=one_of(("fact", "fact", "decision", "message")),
                    namespace=one_of(("user:ada", "user:bob", team.namespace)),
                    topics=tuple(chance.sample(("sea", "land", "sky"), chance.randrange(3))),
                    collection=one_of((None, "logs")),
                    session=one_of((None, "s1", "s2")),
                    owner=one_of((None, "ada", "bob")),
                    agent=one_of((None, "helper")),
                    domain=one_of((None, "Straße", "Hill")),
                    valid_from=None if begins is None else NOON + timedelta(hours=begins),
                    valid_until=None if ends is None else NOON + timedelta(hours=ends),
                ),
                pieces(text),
            )
        messages = [m.id for m in store.records.get(ids, Scope(types=("message",))).values()]
        facts = store.records.ids(Scope(types=("fact",)))
        for message in messages[::2]:
            SqlSpans(store.db).add(facts[0], Span(message, 0, 3, "a q"))
            SqlExtractions(store.db).finish(message, "facts", "a model", "", NOON_US)
        for n, id_ in enumerate(ids):
            store.graph.link(id_, ids[(n + 1) % count], chance.random(), "ring")
            for other in chance.sample(ids, links):
                if other != id_:
                    store.graph.link(id_, other, chance.random(), "related")
            if id_ != ids[7]:
                store.graph.link(ids[7], id_, chance.random() ** 3, "hub")
    return ids


BOUND = {
    "everything": Scope(),
    "namespaces": Scope(namespaces=("user:ada", "user:bob")),
    "ids": Scope(ids=tuple(f"m{n:03}" for n in range(0, COUNT, 2))),
    "types": Scope(types=("fact", "message")),
    "no types": Scope(types=()),
    "not types": Scope(not_types=("fact",)),
    "topics": Scope(topics=("sea", "sky")),
    "collection": Scope(collection="logs"),
    "session": Scope(session="s1"),
    "owner": Scope(owner="ada"),
    "agent": Scope(agent="helper"),
    "domain": Scope(domain="STRASSE"),
    "since": Scope(since=NOON),
    "until": Scope(until=NOON),
    "reader": Scope(reader="ada"),
    "writer": Scope(writer="ada"),
    "both": Scope(reader="ada", writer="bob", namespaces=("collection:team", "user:ada")),
    "nobody": Scope(reader="eve"),
    "valid": Scope(valid_us=NOON_US),
    "several": Scope(reader="bob", not_types=("decision",), since=NOON - timedelta(hours=20)),
}
ASKED_AFTERWARDS = {
    "spoken": Scope(spoken=Spoken(None, NOON_US)),
    "spoken in a session": Scope(spoken=Spoken("s1", NOON_US)),
    "holds": Scope(holds=tuple(asking("harbour"))),
    "lacks": Scope(lacks=tuple(asking("quiet"))),
}


def test_walks_are_those_of_the_records_under_every_scope(store):
    """NM-2: the same ids, the same order, the same scores to the last bit, at depths 1 to 3."""
    ids = fill(store)
    chance = random.Random(1)
    assert store.worker.wait(30) == 0
    for name, scope in {**BOUND, **ASKED_AFTERWARDS}.items():
        reached = set()
        for depth in (1, 2, 3):
            seeds = chance.sample(ids, 4)
            for limit in (None, 5):
                found = store.graph.walk(seeds, scope, depth, limit)
                assert found == store.embedded.walk(seeds, scope, depth, limit), name
            reached |= {one.id for one in store.graph.walk(ids[::7], scope, depth, None)}
        assert bool(reached) == (name not in ("no types", "nobody")), name


def test_the_query_itself_binds_a_scope(store):
    """R-3: what the graph knows it filters itself; what it does not know it leaves to the records."""
    fill(store, links=1)
    assert store.worker.wait(30) == 0
    for name, scope in {**BOUND, **ASKED_AFTERWARDS}.items():
        condition, arguments = where(scope, store.db)
        rows = store.server.read(f"MATCH (m:Memory) WHERE {condition} RETURN m.id", arguments)
        found, seen = {id_ for (id_,) in rows}, set(store.records.ids(scope))
        if name in BOUND:
            assert found == seen, name
        else:
            assert found >= seen, name
            assert "spoken" not in name or len(found) < COUNT, name


def test_a_walk_begins_at_what_it_walks_from(store, monkeypatch):
    """By the index, whatever the scope: otherwise the server looks through every memory there is."""
    ids = fill(store, links=1)
    assert store.worker.wait(30) == 0
    asked = []
    read = store.server.read
    monkeypatch.setattr(store.server, "read", lambda *query: asked.append(query) or read(*query))
    for scope in (*BOUND.values(), *ASKED_AFTERWARDS.values()):
        store.graph.walk(ids, scope, 2, None)

    graph = store.server._connected()
    plans = [
        str(graph.explain(query, dict(arguments)))
        for query, arguments in asked
        if "LINK" in query  # and not how many there are
    ]
    assert len(plans) > len(BOUND)
    for plan in plans:
        assert "Node By Index Scan | (x:Memory)" in plan
        assert "All Node Scan" not in plan
        assert "Label Scan" not in plan


def test_of_a_level_only_the_best_are_walked_on(store, monkeypatch):
    """A hub is bounded, and ties at the bound fall to the same memories here and there."""
    ids = fill(store)
    for id_ in ids[10:40]:
        store.graph.link(ids[7], id_, 0.5, "hub")
    unbounded = store.embedded.walk(ids[7:8], Scope(), 2, None)
    monkeypatch.setattr(walking, "MAX_NODES", 3)

    found = store.graph.walk(ids[7:8], Scope(), 2, None)

    assert found == store.embedded.walk(ids[7:8], Scope(), 2, None)
    assert found != unbounded


def test_what_the_records_have_forgotten_is_neither_shown_nor_walked_through(store):
    """NM-6: a server that lags may know too much; the records decide."""
    for id_ in "abcd":
        store.records.put(a_memory(id_, namespace="mine"), pieces("text"))
    for a, b in ("ab", "bc", "ad"):
        store.graph.link(a, b, 1.0, "related")
    mine = Scope(namespaces=("mine",))
    walk = super(type(store.graph), store.graph).walk  # without telling the server anything
    assert store.worker.wait(30) == 0
    assert [one.id for one in walk(["a"], mine, 2, 9)] == ["b", "c", "d"]

    store.records.put(a_memory("b", namespace="theirs"), pieces("text"))
    assert [one.id for one in walk(["a"], mine, 2, 9)] == ["d"]
    store.records.delete(["d"])
    assert walk(["a"], mine, 2, 9) == []
    assert walk(["b"], mine, 2, 9) == []


def test_names_may_hold_any_character(store):
    """Quotes, backslashes, line ends, other scripts, and a NUL in a field."""
    odd = [
        "it's",
        'a "b"',
        "back\\slash\\",
        "$x {y} `z`",
        "zwei\nZeilen",
        "日本語",
        "\N{BEAR FACE}",
    ]
    for id_ in odd:
        store.records.put(a_memory(id_, namespace=id_, session="nul\0nul"), pieces("text"))
    for id_ in odd[1:]:
        store.graph.link(odd[0], id_, 0.5, odd[1])

    found = store.graph.walk(odd[:1], Scope(session="nul\0nul"), 1, None)

    assert [one.id for one in found] == sorted(odd[1:])
    only = Scope(namespaces=(odd[0], odd[2]))
    assert [one.id for one in store.graph.walk(odd[:1], only, 1, None)] == [odd[2]]


def test_stores_on_one_server_are_apart(tmp_path, falkordb_url):
    """Each store has a graph of its own, and clearing one leaves the others."""
    stores = [SqliteWithFalkor(str(tmp_path / f"{n}.db"), falkordb_url) for n in range(2)]
    for n, store in enumerate(stores):
        for id_ in "ab":
            store.records.put(a_memory(id_), pieces("text"))
        store.graph.link("a", "b", (n + 1) / 4, "related")

    assert [store.graph.walk("a", Scope(), 1, 9)[0].score for store in stores] == [0.25, 0.5]
    stores[0].replica.clear()
    assert [store.replica.count() for store in stores] == [0, 2]
    for store in stores:
        store.close()


def test_the_server_can_be_told_twice_and_out_of_order(falkordb_url):
    """Putting again changes nothing, ends that are missing are made, and pairs have no direction."""
    server = FalkorServer(parse_server_url(falkordb_url, FALKORDB, "graph"), "00")
    replica = FalkorReplica(server)
    nothing = (None,) * 5

    def links():
        rows = server.read("MATCH (a)-[e:LINK]->(b) RETURN a.id, b.id, e.kind, e.strength", {})
        return sorted(map(tuple, rows))

    assert replica.count() == 0
    replica.clear()
    for _ in range(2):
        replica.put_links(
            [("a", "b")], [ReplicaLink("a", "b", "k", 0.5), ReplicaLink("b", "a", "l", 0.25)]
        )
        replica.put([ReplicaRecord("a", "n", "fact", ("t",), *nothing, 7, None, None)] * 2)
    assert links() == [("a", "b", "k", 0.5), ("b", "a", "l", 0.25)]
    assert replica.count() == 2
    replica.put_links([("b", "a")], [ReplicaLink("b", "a", "k", 1.0)])
    assert links() == [("b", "a", "k", 1.0)]
    replica.remove(["b", "c"])
    assert replica.count() == 1
    replica.put_links([("a", "b")], [])
    assert links() == []
    replica.clear()
    assert replica.count() == 0
    server.close()


def unreachable_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def refusal(url, **more):
    server = FalkorServer(parse_server_url(url, FALKORDB, "graph"), "00", **more)
    with pytest.raises(Unavailable) as refused:
        server.ping()
    with pytest.raises(Unavailable, match=str(refused.value)[:20]):
        server.read("RETURN 1", {})
    server.close()
    return str(refused.value)


def test_no_server_is_one_sentence():
    """Which server, what happened, what to do."""
    port = unreachable_port()
    said = refusal(f"falkordb://ada:secret@127.0.0.1:{port}/notes")
    assert said.startswith(f"falkordb://ada@127.0.0.1:{port}/notes cannot be reached (")
    assert "refused" in said
    assert "secret" not in said


def test_a_refused_password_is_one_sentence(tmp_path):
    """A wrong one and none at all; neither is shown. The right one opens."""
    with FalkorDB(tmp_path / "server", password="right") as server:
        at = f"127.0.0.1:{server.port}/notes"
        wrong = refusal(f"falkordb://:wrong@{at}")
        none = refusal(f"falkordb://{at}")
        opened = FalkorServer(parse_server_url(f"falkordb://:right@{at}", FALKORDB, "graph"), "00")
        opened.ping()
        opened.close()
    for said in (wrong, none):
        assert said.startswith(f"falkordb://{at} ")
        assert "password" in said
        assert "SCRUBJAY_FALKORDB_PASSWORD" in said
        assert "wrong@" not in said


def test_a_redis_without_graphs_is_one_sentence(tmp_path):
    """A plain Redis answers, and will not do."""
    port = unreachable_port()
    line = [programs()[0], "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with subprocess.Popen([*line, "--dir", tmp_path], stdout=subprocess.DEVNULL) as redis:
        while redis.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        said = refusal(f"falkordb://127.0.0.1:{port}/notes")
        redis.terminate()
    assert said.startswith(f"falkordb://127.0.0.1:{port}/notes is a Redis without the FalkorDB")


def test_a_server_that_is_too_old_is_one_sentence(falkordb_url):
    """Its version, and the one that is needed."""
    said = refusal(falkordb_url, min_version=99_01_00)
    assert "which is too old; update it to 99.1.0 or later" in said


def test_a_missing_package_comes_with_its_command(falkordb_url, monkeypatch):
    """R-12: the command that installs it."""
    monkeypatch.setitem(sys.modules, "falkordb", None)
    with pytest.raises(MissingExtra, match=r'pip install "scrubjay\[falkordb\]"'):
        FalkorServer(parse_server_url(falkordb_url, FALKORDB, "graph"), "00").ping()


def test_a_limit_of_the_server_is_kept(store):
    """Where the server allows no query as long as ours, its own limit holds."""
    ids = fill(store)
    expected = store.graph.walk(ids[:1], Scope(), 2, 9)
    client = store.server._connected().client
    client.config_set("TIMEOUT_MAX", 500)
    try:
        assert store.graph.walk(ids[:1], Scope(), 2, 9) == expected
    finally:
        client.config_set("TIMEOUT_MAX", 0)


def test_a_server_that_hangs_costs_one_time_out_and_comes_back_by_itself(
    tmp_path, falkordb, falkordb_url
):
    """NM-6: asked once, then not again until it answers a ping."""
    store = SqliteWithFalkor(str(tmp_path / "notes.db"), f"{falkordb_url}?timeout_s=0.3")
    for id_ in "ab":
        store.records.put(a_memory(id_), pieces("text"))
    store.graph.link("a", "b", 0.5, "related")
    expected = store.graph.walk("a", Scope(), 1, 9)
    falkordb.pause()
    try:
        with pytest.raises(Unavailable, match=r"/test_\d+ did not answer within 0\.3 s"):
            store.graph.walk("a", Scope(), 1, 9)
        with pytest.raises(Unavailable, match="once it answers"):
            store.graph.walk("a", Scope(), 1, 9)
    finally:
        falkordb.resume()
    until = time.monotonic() + 60
    while store.graph.breaker.reason and time.monotonic() < until:
        time.sleep(0.02)
    assert store.graph.walk("a", Scope(), 1, 9) == expected
    store.close()


def test_a_graph_that_is_not_there_yet_is_said_and_does_not_break_anything(store):
    """Nothing was told: the server answers, and only has no graph of this store."""
    store.records.put(a_memory("a"), pieces("text"))
    walk = super(type(store.graph), store.graph).walk
    with pytest.raises(Unavailable, match="has no graph of this store"):
        walk(["a"], Scope(), 1, 9)
    assert walk(["nobody"], Scope(), 1, 9) == []
    assert store.graph.breaker.reason == ""
    assert store.graph.walk(["a"], Scope(), 1, 9) == []

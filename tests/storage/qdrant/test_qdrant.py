"""Vectors in a real Qdrant: the same answers as embedded, whatever the server knows, says, or does not."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import chain

import numpy as np
import pytest
from backends import SqliteWithQdrant, a_memory, pieces, projected
from clocks import NOON
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, VectorParams
from tools.servers import Qdrant

from scrubjay import InvalidInput, Unavailable
from scrubjay.storage.qdrant import vectors as qdrant_vectors
from scrubjay.storage.qdrant.client import QdrantServer
from scrubjay.storage.sql import vectors as sql_vectors
from scrubjay.storage.sql.collections import SqlCollections
from scrubjay.text.urls import QDRANT, parse_server_url
from scrubjay.times import micros
from scrubjay.types import Scope, Spoken, Term

EVERYTHING = Scope()
DIMS = 16
PATIENCE_S = 60.0
PATIENT = "timeout_s=60"  # for a busy machine


def units(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def vectors(count, seed=1):
    return units(np.random.default_rng(seed).normal(size=(count, DIMS)))


def ids(found):
    return [row.id for row in found.rows]


def filled(opened, count, **fields):
    """So many memories of one vector each, told to the server."""
    made = vectors(count)
    opened.activate("m", DIMS)
    with opened.records.transaction():
        for n in range(count):
            opened.records.put(a_memory(f"v{n:05}", f"t{n}", **fields), pieces("tttt"))
    opened.embed("m", {f"v{n:05}": [row] for n, row in enumerate(made)})
    return made


def wait_until(holds):
    """Wait for something that another thread does."""
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.01)


@pytest.fixture
def opened(tmp_path, qdrant):
    """An empty store on a server where the collection is that of many others."""
    store = SqliteWithQdrant(str(tmp_path / "notes.db"), f"{qdrant.url}/shared?{PATIENT}")
    yield store
    qdrant.resume()
    store.close()


@pytest.fixture
def alone(tmp_path, qdrant_url):
    """An empty store on a server where no collection is yet."""
    store = SqliteWithQdrant(str(tmp_path / "alone.db"), f"{qdrant_url}?{PATIENT}")
    yield store
    store.close()


@pytest.fixture
def client(qdrant):
    """Somebody else's client of the same server."""
    made = QdrantClient(port=qdrant.port, timeout=30, check_compatibility=False)
    yield made
    made.close()


def a_varied_store(opened, chance, count):
    """Memories that differ in everything that a scope can ask for, of one to three passages."""
    people = SqlCollections(opened.db)
    red, blue = (people.create(name, micros(NOON)) for name in ("red", "blue"))
    for one, person, role in (
        (red, "ann", "owner"),
        (red, "bob", "reader"),
        (blue, "bob", "writer"),
    ):
        people.set_member(one, person, role)
    spaces = ["default", "user:ann", "user:bob", red.namespace, blue.namespace]
    opened.activate("m", DIMS)
    made = {}
    for n in range(count):
        id_, begins = f"v{n:03}", NOON + timedelta(hours=chance.randrange(-9, 9))
        size = chance.randrange(1, 4)
        opened.records.put(
            a_memory(
                id_,
                chance.choice(["apple pie", "plum pie", "plum cake"]),
                hours=chance.randrange(-9, 9),
                namespace=chance.choice(spaces),
                type=chance.choice(["note", "message", "fact"]),
                topics=tuple(chance.sample(["food", "home", "Übung"], chance.randrange(3))),
                collection=chance.choice([None, "books", "films"]),
                session=chance.choice([None, "s1", "s2"]),
                owner=chance.choice([None, "ann", "bob"]),
                agent=chance.choice([None, "x", "y"]),
                domain=chance.choice([None, "Straße", "work"]),
                valid_from=chance.choice([None, begins]),
                valid_until=chance.choice([None, begins + timedelta(hours=5)]),
            ),
            pieces("abcdef", size),
        )
        made[id_] = list(vectors(size, seed=1000 + n))
    opened.embed("m", made)


def scopes(chance, minutes=0):
    """Scopes with one to three of all fields; at full hours, times are those of memories."""
    at = NOON + timedelta(hours=chance.randrange(-9, 9), minutes=minutes)
    every = {
        "namespaces": tuple(chance.sample(["default", "user:ann", "user:bob"], 2)),
        "types": tuple(chance.sample(["note", "message", "fact"], chance.randrange(3))),
        "not_types": tuple(chance.sample(["note", "message", "fact"], chance.randrange(3))),
        "topics": tuple(chance.sample(["food", "home", "Übung", "nobody's"], 2)),
        "collection": chance.choice(["books", "films"]),
        "session": chance.choice(["s1", "s2"]),
        "owner": chance.choice(["ann", "bob"]),
        "agent": chance.choice(["x", "y"]),
        "domain": chance.choice(["STRASSE", "Work", "none"]),
        "since": at,
        "until": at,
        "holds": (Term((("plum",),)),),
        "lacks": (Term((("pie",),)),),
        "reader": chance.choice(["ann", "bob", "nobody"]),
        "writer": chance.choice(["ann", "bob", "nobody"]),
        "valid_us": micros(at),
        "spoken": Spoken(chance.choice([None, "s1"]), micros(at)),
        "ids": tuple(f"v{n:03}" for n in chance.sample(range(60), 20)),
    }
    for name, value in every.items():
        yield Scope(**{name: value})
    for _ in range(40):
        chosen = chance.sample(sorted(every), chance.randrange(2, 4))
        yield Scope(**{name: every[name] for name in chosen})


class TestTheSameAnswers:
    """NM-2: what the server finds is what the embedded store finds, in the same order, with its scores."""

    @pytest.mark.parametrize("most_exact", [0, 20_000])
    def test_under_every_field_of_a_scope(self, opened, monkeypatch, most_exact):
        """R-3: alone and several together; also where the server does not compare one by one."""
        monkeypatch.setattr(qdrant_vectors, "MAX_EXACT", most_exact)
        monkeypatch.setattr(sql_vectors, "_FEW", 3)
        chance = random.Random(most_exact)
        a_varied_store(opened, chance, 60)
        seen = 0
        for scope in (EVERYTHING, *scopes(chance)):
            query = vectors(1, seed=chance.randrange(1000))[0]
            for limit in (5, 100):
                here = opened.vectors.search(query, "m", scope, limit)
                assert here == opened.embedded.search(query, "m", scope, limit), scope
                seen += len(here.rows)
        assert seen > 1000

    def test_a_filter_leaves_little_for_the_truth_to_drop(self, opened, monkeypatch):
        """R-3: the server binds the scope itself: what it lists is what may be seen, and no more."""
        chance = random.Random(5)
        a_varied_store(opened, chance, 60)
        listed = []
        real = qdrant_vectors.QdrantVectors._checked

        def checked(self, vector, model, scope, points):
            rows = real(self, vector, model, scope, points)
            listed.append(({point.id for point in points}, {row.id for row in rows}))
            return rows

        monkeypatch.setattr(qdrant_vectors.QdrantVectors, "_checked", checked)
        for scope in chain.from_iterable(scopes(chance, minutes=30) for _ in range(4)):
            if not (scope.holds or scope.lacks):
                opened.vectors.search(vectors(1)[0], "m", scope, 100)
        assert len(listed) > 100
        assert all(points == rows for points, rows in listed)

    def test_of_many_that_tie_the_newest_come_first(self, opened):
        """R-5: also when there are far more of them than the server is asked for at first."""
        opened.activate("m", DIMS)
        same = vectors(1)[0]
        with opened.records.transaction():
            for n in range(400):
                opened.records.put(a_memory(f"v{n:03}", "abcd", hours=n % 7), pieces("abcd"))
        opened.embed("m", {f"v{n:03}": [same] for n in range(400)})

        assert ids(opened.vectors.search(same, "m", EVERYTHING, 3)) == ["v006", "v013", "v020"]

    def test_topics_are_scored_by_the_truth(self, opened):
        """The nearest of given memories, by number, as the embedded store has them."""
        query = filled(opened, 50)[7]
        with opened.db.read() as db:
            numbers = [n for (n,) in db.execute("SELECT n FROM memories")][::2]

        for limit in (3, 100):
            here = opened.vectors.nearest_of(numbers, query, "m", limit)
            assert here == opened.embedded.nearest_of(numbers, query, "m", limit)
        assert opened.vectors.nearest_of([], query, "m", 3) == {}
        assert opened.vectors.nearest_of(numbers, query, "other", 3) == {}

    def test_many_threads_may_search_at_once(self, opened):
        """And each gets its own answer."""
        made = filled(opened, 100)
        right = [opened.embedded.search(row, "m", EVERYTHING, 7) for row in made[:16]]
        with ThreadPoolExecutor(16) as pool:
            for _ in range(5):
                found = pool.map(
                    lambda row: opened.vectors.search(row, "m", EVERYTHING, 7), made[:16]
                )
                assert list(found) == right

    @pytest.mark.parametrize("name", ["shortlist", "short_dims"])
    def test_a_wrong_number_is_refused(self, opened, name):
        with pytest.raises(InvalidInput, match=f"{name} is 0"):
            opened.vectors.search(vectors(1)[0], "m", EVERYTHING, 3, **{name: 0})
        assert opened.vectors.search(vectors(1)[0], "m", EVERYTHING, 0).rows == ()


class TestTheTruthDecides:
    """What the server has not been told yet is never shown wrongly."""

    def test_a_forgotten_memory_is_not_shown(self, opened):
        query = filled(opened, 200)[0]
        nearest = ids(opened.vectors.search(query, "m", EVERYTHING, 200))

        opened.records.delete(nearest[:150])

        assert opened.replica.count() == 200
        assert ids(opened.vectors.search(query, "m", EVERYTHING, 10)) == nearest[150:160]

    def test_a_memory_that_moved_is_judged_by_where_it_is(self, opened):
        query = filled(opened, 3)[0]
        opened.records.put(a_memory("v00000", "t0", namespace="other"), pieces("tttt"))

        here = opened.vectors.search(query, "m", Scope(namespaces=("default",)), 9)

        assert sorted(ids(here)) == ["v00001", "v00002"]

    def test_where_nearly_all_that_is_near_cannot_be_seen(self, opened, monkeypatch):
        """R-3: the server is asked for more, and at last the truth looks at everything itself."""
        monkeypatch.setattr(qdrant_vectors, "_MAX_POINTS", 60)
        query = filled(opened, 200)[0]
        nearest = ids(opened.vectors.search(query, "m", EVERYTHING, 200))
        opened.records.delete(nearest[:198])

        assert ids(opened.vectors.search(query, "m", EVERYTHING, 5)) == nearest[198:]

    def test_a_scope_of_which_the_server_knows_nothing(self, opened, monkeypatch):
        """R-3: words that must be held, by few memories, far away from the query."""
        query = filled(opened, 300)[0]
        farthest = ids(opened.vectors.search(query, "m", EVERYTHING, 300))[-2:]
        for id_ in farthest:
            opened.records.put(a_memory(id_, f"quince {id_}"), pieces("quin"))
        opened.embed("m", {id_: [row] for id_, row in zip(farthest, -vectors(2), strict=True)})
        scope = Scope(holds=(Term((("quinc",),)),))

        for few in (2_000, 0):
            monkeypatch.setattr(sql_vectors, "_FEW", few)
            here = opened.vectors.search(query, "m", scope, 5)
            assert here == opened.embedded.search(query, "m", scope, 5)
            assert set(ids(here)) == set(farthest)


class TestTheCopy:
    """What the server is told."""

    def test_to_tell_it_twice_or_late_does_no_harm(self, opened):
        query = filled(opened, 20)[3]
        before = opened.vectors.search(query, "m", EVERYTHING, 30)
        opened.tell([f"v{n:05}" for n in range(20)])

        assert opened.vectors.search(query, "m", EVERYTHING, 30) == before
        assert opened.replica.count() == 20
        opened.replica.put([])
        opened.replica.remove([])
        opened.replica.put_links([("v00000", "v00001")], [])
        assert opened.replica.count() == 20

    def test_passages_that_are_no_more_go(self, alone, client):
        alone.activate("m", DIMS)
        alone.records.put(a_memory("a", "abcdef"), pieces("abcdef", 6))
        alone.records.put(a_memory("b", "abcd"), pieces("abcd"))
        alone.embed("m", {"a": list(vectors(6)), "b": [vectors(1, seed=2)[0]]})
        name = alone.server.collection_name("m", DIMS)
        assert client.count(name).count == 7

        alone.records.put(a_memory("a", "vwxyz"), pieces("vwxyz", 2))
        alone.embed("m", {"a": list(vectors(2, seed=3))})

        assert client.count(name).count == 3
        assert alone.replica.count() == 2
        alone.records.delete(["a"])
        alone.tell(["a"])
        assert client.count(name).count == 1

    def test_a_memory_counts_though_its_first_passage_waits_for_its_vector(self, opened):
        opened.activate("m", DIMS)
        opened.records.put(a_memory("a", "abcdef"), pieces("abcdef", 3))
        (told,) = projected(opened.db, ["a"])
        late = tuple(("m", at, vectors(1)[0]) for at in (1, 2))

        opened.replica.put([told._replace(vectors=late)])

        assert opened.replica.count() == 1

    def test_the_last_word_on_a_memory_counts(self, opened):
        """Order per memory holds within one call."""
        filled(opened, 1)
        (told,) = projected(opened.db, ["v00000"])
        opened.replica.put([told, told._replace(vectors=())])

        assert opened.replica.count() == 0

    def test_memories_of_two_models_count_once(self, opened):
        filled(opened, 4)
        opened.activate("other/model", 4)
        opened.embed("other/model", {f"v{n:05}": [units([1, 2, 3, n])] for n in (2, 3)})

        assert opened.replica.count() == 4
        assert (
            len(opened.vectors.search(units([1, 2, 3, 4]), "other/model", EVERYTHING, 9).rows) == 2
        )

    def test_two_stores_on_one_server_do_not_see_each_other(self, opened, tmp_path):
        """The same ids, the same model, the same collection: each finds, counts and clears its own."""
        other = SqliteWithQdrant(str(tmp_path / "other.db"), opened.url)
        query = filled(opened, 30)[0]
        filled(other, 10)

        assert len(opened.vectors.search(query, "m", EVERYTHING, 50).rows) == 30
        assert len(other.vectors.search(query, "m", EVERYTHING, 50).rows) == 10
        other.replica.remove(["v00000"])
        assert (opened.replica.count(), other.replica.count()) == (30, 9)
        opened.replica.clear()
        assert (opened.replica.count(), other.replica.count()) == (0, 9)
        assert opened.vectors.search(query, "m", EVERYTHING, 5).rows == ()
        other.close()

    def test_a_collection_that_somebody_deleted_is_made_anew(self, alone, client):
        query = filled(alone, 5)[0]
        client.delete_collection(alone.server.collection_name("m", DIMS))
        (told,) = projected(alone.db, ["v00000"])
        alone.replica.put([told._replace(vectors=())])

        with pytest.raises(Unavailable, match="has no vectors of this store"):
            alone.vectors.search(query, "m", EVERYTHING, 5)
        assert alone.replica.count() == 0
        alone.tell([f"v{n:05}" for n in range(5)])
        assert len(alone.vectors.search(query, "m", EVERYTHING, 9).rows) == 5

    def test_a_half_made_collection_is_finished(self, alone, client):
        name = alone.server.collection_name("m", DIMS)
        client.create_collection(name, VectorParams(size=DIMS, distance=Distance.COSINE))
        alone.activate("m", DIMS)
        assert alone.vectors.search(vectors(1)[0], "m", EVERYTHING, 5).rows == ()
        filled(alone, 2)

        made = client.get_collection(name)
        assert {"store", "id", "namespace", "topics", "created_us"} <= set(made.payload_schema)
        assert made.payload_schema["store"].params.is_tenant

    def test_collections_of_models_have_names_of_their_own(self, opened):
        """Also of two whose names only differ in signs."""
        name = opened.server.collection_name
        base = opened.server.address.name
        assert name("all-minilm-l6-v2", 384) == f"{base}-all-minilm-l6-v2-384"
        several = ["all-minilm", "All-MiniLM", "all/minilm", "all minilm", "模型", "模型2", ""]
        assert len({name(one, 384) for one in several}) == len(several)


@contextmanager
def a_web_server(status, body):
    """A server that says the same to everybody."""

    class Says(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    with serving(Says) as port:
        yield port


@contextmanager
def serving(handler):
    """A web server of one's own, by its port."""
    listener = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield listener.server_port
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


class TestBadInput:
    """One sentence that says which server, what it said and what to do."""

    @pytest.mark.parametrize(
        ("size", "distance", "there"),
        [(8, Distance.COSINE, "8 dimensions and Cosine"), (DIMS, Distance.DOT, "and Dot")],
    )
    def test_a_collection_of_another_kind_is_refused(self, alone, client, size, distance, there):
        """NM-6: only the records may fail a search, so this tier is as if it did not answer."""
        name = alone.server.collection_name("m", DIMS)
        client.create_collection(name, VectorParams(size=size, distance=distance))
        wanted = f"{name} has .*{there} .*{DIMS} dimensions and Cosine"

        with pytest.raises(Unavailable, match=wanted):
            filled(alone, 1)
        with pytest.raises(Unavailable, match=wanted):
            alone.vectors.search(vectors(1)[0], "m", EVERYTHING, 5)

    def test_vectors_under_names_are_refused(self, alone, client):
        name = alone.server.collection_name("m", DIMS)
        client.create_collection(name, {"a": VectorParams(size=DIMS, distance=Distance.COSINE)})

        with pytest.raises(Unavailable, match="named vectors"):
            filled(alone, 1)

    def test_a_wrong_name_of_a_collection_is_refused(self):
        with pytest.raises(InvalidInput, match=r"'a b' .* collection name"):
            QdrantServer(parse_server_url("qdrant://localhost/a%20b", QDRANT, "vectors"))

    def test_a_wrong_key_is_refused_and_never_shown(self, tmp_path, monkeypatch):
        monkeypatch.delenv("SCRUBJAY_QDRANT_API_KEY", raising=False)
        with Qdrant(api_key="the-right-secret") as server:
            right = SqliteWithQdrant(str(tmp_path / "right.db"), f"{server.url}/n?{PATIENT}")
            filled(right, 3)
            assert right.replica.count() == 3
            shown = f"{right.server!r} {right.server.address} {right.replica.place}"
            assert "secret" not in shown
            right.close()
            for given, said in (("", "requires an API key"), ("secret", "refuses the API key")):
                url = f"qdrant://:{given}@127.0.0.1:{server.port}/n"
                wrong = QdrantServer(parse_server_url(url, QDRANT, "vectors"))
                with pytest.raises(Unavailable, match=r"API key.* SCRUBJAY_QDRANT") as e:
                    wrong.ping()
                assert str(e.value).startswith(f"qdrant://127.0.0.1:{server.port}/n {said};")
                assert "secret" not in f"{e.value!r} {wrong!r}"
                assert e.value.__suppress_context__
                wrong.close()

    @pytest.mark.parametrize(
        ("status", "body", "kind", "said"),
        [
            (
                200,
                '{"title": "qdrant", "version": "1.9.7"}',
                Unavailable,
                r"is Qdrant 1\.9\.7; .*1\.13",
            ),
            (200, "<html>Hello</html>", Unavailable, "gave an answer that cannot be used: "),
            (404, "<html>Nothing</html>", Unavailable, "answered 404: <html>Nothing</html>; "),
            (
                500,
                '{"status": {"error": "no room"}}',
                Unavailable,
                "answered 500: no room; ",
            ),
            (429, "", Unavailable, "answered 429: "),
        ],
    )
    def test_what_is_no_qdrant_or_an_old_one_is_refused(self, tmp_path, status, body, kind, said):
        """Nothing is asked of it, and no search takes its answer for an empty collection."""
        with a_web_server(status, body) as port:
            opened = SqliteWithQdrant(str(tmp_path / "n.db"), f"qdrant://127.0.0.1:{port}/n")
            opened.activate("m", DIMS)
            for _ in range(2):
                with pytest.raises(kind, match=f"^qdrant://127.0.0.1:{port}/n {said}"):
                    opened.vectors.search(vectors(1)[0], "m", EVERYTHING, 5)
            opened.close()

    def test_tls_where_there_is_none(self, qdrant):
        server = QdrantServer(
            parse_server_url(
                f"qdrants://127.0.0.1:{qdrant.port}/n?timeout_s=10", QDRANT, "vectors"
            )
        )
        with pytest.raises(Unavailable, match=r"^qdrants://127.*: .*SSL.*; write qdrant://"):
            server.ping()
        server.close()


class TestWithoutTheServer:
    """NM-6: one time-out, then none, and nobody needs to restart anything."""

    def test_a_server_that_is_not_there(self, tmp_path):
        opened = SqliteWithQdrant(str(tmp_path / "n.db"), "qdrant://:hush@127.0.0.1:9/n")
        opened.activate("m", DIMS)
        opened.vectors.add("m", [])
        with pytest.raises(
            Unavailable, match=r"^qdrant://127\.0\.0\.1:9/n cannot be reached: .*refused"
        ) as info:
            opened.vectors.search(vectors(1)[0], "m", EVERYTHING, 5)
        assert "hush" not in str(info.value)
        with pytest.raises(Unavailable, match="once it answers"):
            opened.vectors.search(vectors(1)[0], "m", EVERYTHING, 5)
        with pytest.raises(Unavailable):
            opened.replica.count()
        opened.close()

    def test_what_needs_no_server_goes_on(self, tmp_path):
        """Named memories are scored, and passages counted, by the truth alone."""
        opened = SqliteWithQdrant(str(tmp_path / "n.db"), "qdrant://127.0.0.1:9/n")
        opened.activate("m", DIMS)
        opened.records.put(a_memory("a", "abcd"), pieces("abcd", 2))
        with pytest.raises(Unavailable):
            opened.embed("m", {"a": [vectors(1)[0]]})

        found = opened.vectors.search(vectors(1)[0], "m", Scope(ids=("a",)), 5)
        assert [(row.id, row.score) for row in found.rows] == [("a", pytest.approx(1.0))]
        assert opened.vectors.missing("m", EVERYTHING) == 1
        assert opened.vectors.search(vectors(1)[0], "unknown", EVERYTHING, 5).rows == ()
        assert opened.vectors.search(vectors(1)[0], "m", Scope(types=()), 5).rows == ()
        assert not opened.vectors.fit("m", ())
        opened.close()

    def test_a_server_that_hangs_costs_one_time_out_and_is_noticed_when_it_is_back(
        self, opened, qdrant
    ):
        """The first search says how long it waited; the others do not ask."""
        query = filled(opened, 5)[0]
        before = opened.vectors.search(query, "m", EVERYTHING, 5)
        hasty = SqliteWithQdrant(opened.path, f"{qdrant.url}/shared?timeout_s=0.5")
        hasty.vectors.breaker._rest_s = 0.05
        qdrant.pause()
        with pytest.raises(Unavailable, match=r"did not answer within 0\.5 s; check"):
            hasty.vectors.search(query, "m", EVERYTHING, 5)
        began = time.monotonic()
        for _ in range(200):
            with pytest.raises(Unavailable, match=r"within 0\.5 s.*once it answers"):
                hasty.vectors.search(query, "m", EVERYTHING, 5)
        assert time.monotonic() - began < 200 * 0.5 / 4
        qdrant.resume()

        def answers():
            try:
                return hasty.vectors.search(query, "m", EVERYTHING, 5) == before
            except Unavailable:  # not yet, or the machine is busy
                return False

        wait_until(answers)
        assert hasty.vectors.breaker.reason == ""
        hasty.close()

    @pytest.mark.parametrize(("breaks", "asked"), [(1, 2), (9, 2)])
    def test_a_connection_that_breaks_is_tried_once_more(self, breaks, asked):
        """And not a third time: whoever asks should soon know."""
        version = b'{"title": "qdrant", "version": "1.16.3"}'
        seen = []

        class Breaks(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.path)
                if len(seen) > breaks:
                    self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + version)

            def log_message(self, *_):
                pass

        with serving(Breaks) as port:
            server = QdrantServer(
                parse_server_url(f"qdrant://127.0.0.1:{port}/n", QDRANT, "vectors")
            )
            if breaks < asked:
                assert server.call(lambda apis: apis.service_api.root().version) == "1.16.3"
            else:
                with pytest.raises(Unavailable, match=r"cannot be reached: .*disconnected"):
                    server.ping()
                assert seen == ["/"] * asked
            server.close()

    def test_a_server_that_was_restarted_is_asked_over_a_new_connection(self, tmp_path):
        """The connection that was kept is broken: the call is made once more, and nobody notices."""
        with Qdrant() as server:
            opened = SqliteWithQdrant(str(tmp_path / "n.db"), f"{server.url}/n?{PATIENT}")
            query = filled(opened, 5)[0]
            before = opened.vectors.search(query, "m", EVERYTHING, 5)
            server.kill()
            server.start()

            assert opened.vectors.search(query, "m", EVERYTHING, 5) == before
            server.kill()
            with pytest.raises(Unavailable, match="cannot be reached"):
                opened.vectors.search(query, "m", EVERYTHING, 5)
            opened.close()


def test_the_package_is_asked_for_by_name(monkeypatch):
    """Where it is not installed, the error carries the command."""
    from scrubjay import MissingExtra
    from scrubjay.storage.qdrant import client as qdrant

    monkeypatch.setattr(qdrant, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "scrubjay\[qdrant\]"'):
        QdrantServer(parse_server_url("qdrant://localhost", QDRANT, "vectors"))

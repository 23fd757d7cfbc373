"""Memories that say nearly the same are stored, linked in the background, and shown as such."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import Counter
from math import cos, radians
from zlib import crc32

import numpy as np
import pytest
from fakes import HashingEmbedder
from places import DATA

import scrubjay
from scrubjay import Link, StoreError
from scrubjay.search.pipeline import Kit, Run
from scrubjay.search.stages.present import mark_near_duplicates
from scrubjay.storage.sql import near_duplicates as sketches
from scrubjay.storage.sql import near_duplicates as sql_near
from scrubjay.storage.sql.near_duplicates import (
    BITS,
    MAX_LINKS,
    MAX_NEAREST,
    SqlNearDuplicates,
    sketch,
)
from scrubjay.store import Store
from scrubjay.types import Candidate, Query
from scrubjay.write import embed_worker

NEAR = "near_duplicate"
PINNED = 990760546357299111


class Compass:
    """Texts with the same first word lie in one plane; their last number says where, in degrees.

    So the cosine of "kettle 0" and "kettle 10" is that of 10 degrees.
    """

    name = "compass"
    dims = 128

    def __init__(self):
        self.read = []

    def embed(self, texts, *, as_query=False):
        self.read += texts
        return np.array([self._vector(text) for text in texts], np.float32)

    def _vector(self, text):
        word, *_ = text.split()
        degrees = float((re.findall(r"-?\d+(?:\.\d+)?", text) or ["0"])[-1])
        plane = np.random.RandomState(crc32(word.encode())).randn(self.dims, 2)
        east, north = np.linalg.qr(plane)[0].T
        return cos(radians(degrees)) * east + cos(radians(90 - degrees)) * north


@pytest.fixture
def model():
    return Compass()


@pytest.fixture
def store(tmp_path, model, clock):
    with scrubjay.open(tmp_path / "notes.db", embedder=model, clock=clock) as opened:
        yield opened


def add(store, *texts, **fields):
    """Add memories whose id is their text, wait for their links, and return nothing."""
    store.add_many({"id": text, "text": text, **fields} for text in texts)
    assert store.pending() == 0


def alike(store, id_):
    """The near-duplicates of a memory, nearest first."""
    return [link.to for link in store.get(id_).links if link.kind == NEAR]


def rows(store, statement):
    with store._context.db.read() as db:
        return db.execute(statement).fetchall()


class TestLinked:
    def test_both_are_stored_and_linked_by_their_cosine(self, store):
        """Nothing is folded; the link is there when `pending` returns, whichever end is asked."""
        add(store, "kettle 0", "kettle 10", "kettle 40", "teapot 0")

        assert len(store.ls()) == 4
        (link,) = store.get("kettle 0").links
        assert link == Link("kettle 10", pytest.approx(cos(radians(10)), abs=1e-5), NEAR)
        assert alike(store, "kettle 10") == ["kettle 0"]
        assert alike(store, "kettle 40") == alike(store, "teapot 0") == []
        assert [one.id for one in store.neighbors("kettle 0")] == ["kettle 10"]

    def test_from_a_cosine_of_95_hundredths_on(self, store):
        """18.19 degrees are just inside, 18.2 just outside."""
        add(store, "kettle 0", "kettle 18.19", "teapot 0", "teapot 18.2")

        assert alike(store, "kettle 0") == ["kettle 18.19"]
        assert alike(store, "teapot 0") == []

    def test_one_transaction_holds_vectors_and_links(self, store):
        """A search that sees the vector of a memory sees its links, without anybody waiting for them."""
        store.add("kettle 0", id="a")
        store.add("kettle 5", id="b")

        hits = store.search("kettle 5", mode="fast")

        assert [(hit.id, hit.near_duplicates) for hit in hits] == [("b", ("a",)), ("a", ("b",))]

    def test_the_nearest_first_and_only_a_handful(self, store):
        """The sixth nearest is no longer worth a line."""
        add(store, *(f"kettle {n}" for n in (1, 2, 3, 4, 5, 6, 7)))
        add(store, "kettle 0")

        assert alike(store, "kettle 0") == [f"kettle {n}" for n in (1, 2, 3, 4, 5)]
        assert MAX_NEAREST == 5

    @pytest.mark.parametrize(
        ("fields", "why"),
        [
            ({"type": "message"}, "people say ok a hundred times a day"),
            ({"type": "document"}, "files have copies on purpose"),
            ({"namespace": "other"}, "what lies elsewhere is not repeated here"),
            (
                {"text": "kettle " + "and so on. " * 400 + "5"},
                "a long text is alike in one passage",
            ),
        ],
    )
    def test_what_is_not_compared(self, store, fields, why):
        """Messages, documents, other namespaces and texts of several passages."""
        add(store, "kettle 0")
        add(store, "kettle 5", **fields)

        assert alike(store, "kettle 0") == alike(store, "kettle 5") == [], why
        assert rows(store, "SELECT * FROM unsketched") == []

    def test_the_same_text_with_another_type_is_no_near_duplicate(self, store):
        """It is the same; spaces make no difference to that."""
        store.add("kettle 0", id="fact")
        store.add("kettle   0", id="task", type="task")
        add(store, "kettle 0.1")

        assert alike(store, "fact") == alike(store, "task") == ["kettle 0.1"]

    def test_a_link_made_by_hand_is_never_replaced(self, store):
        """Neither its strength nor, when its memory changes, the link."""
        store._context.embedding.activate()
        with store._context.tables.records.transaction():  # so that the background has to wait
            store.add("kettle 0", id="a")
            store.add("kettle 5", id="b")
            store.add("kettle 10", id="c")
            store.link("a", "b", 0.25, NEAR)
            store.link("c", "a", 0.5, NEAR)
        store.pending()

        def by_hand():
            return {(one.to, one.strength) for one in store.get("a").links}

        assert by_hand() == {("b", 0.25), ("c", 0.5)}
        store.update("a", text="teapot 0")
        store.pending()
        assert by_hand() == {("b", 0.25), ("c", 0.5)}
        assert alike(store, "c") == ["b", "a"]

    def test_words_that_are_nearly_the_same_for_another_model(self, tmp_path):
        """It works with whatever model a store has."""
        same = HashingEmbedder(meanings={"automobil": "car"})
        with scrubjay.open(tmp_path / "a.db", embedder=same) as store:
            a = store.add("Ada parks her car in the yard")
            b = store.add("Ada parks her automobile in the yard")
            store.add("Ada parks her bicycle in the yard")
            store.pending()

            assert alike(store, a.id) == [b.id]

    @pytest.mark.model
    def test_sentences_of_the_real_model(self, tmp_path):
        """One word in other words is the same; another day is, to this model, not far enough to be."""
        with scrubjay.open(tmp_path / "a.db") as store:
            one = store.add("The deploy to production runs every Friday at noon.")
            two = store.add("The deploy to production runs each Friday at noon.")
            other = store.add("Who is allergic to nuts must not eat the cake.")
            assert store.pending() == 0

            assert alike(store, one.id) == [two.id]
            assert alike(store, other.id) == []


class TestChanges:
    @pytest.mark.parametrize(("changed", "stays"), [("old", "new"), ("new", "old")])
    def test_a_new_text_loses_its_links_and_finds_others(self, store, changed, stays):
        """The other end loses them too, whichever was there first."""
        store.add("kettle 0", id="old")
        store.add("kettle 5", id="new")
        add(store, "teapot 0")
        assert alike(store, changed) == [stays]
        store.update(changed, text="teapot 5")
        store.pending()

        assert alike(store, stays) == []
        assert alike(store, "teapot 0") == [changed]
        assert alike(store, changed) == ["teapot 0"]

    def test_the_old_links_are_gone_before_a_model_answers(self, store, tmp_path):
        """A store that is opened without a model does not show what is no longer true."""
        add(store, "kettle 0", "kettle 5")
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as silent:
            silent.update("kettle 5", text="teapot 5")
            assert alike(silent, "kettle 0") == []

    def test_forgetting_leaves_nothing(self, store):
        """Neither link nor sketch nor wish."""
        add(store, "kettle 0", "kettle 5")
        store.forget("kettle 5")
        assert alike(store, "kettle 0") == []
        assert len(rows(store, "SELECT * FROM sketches")) == 1
        store.forget("kettle 0")

        for table in ("sketches", "unsketched", "edges"):
            assert rows(store, f"SELECT * FROM {table}") == []

    def test_who_moves_to_another_namespace_is_compared_there(self, store):
        """Links stay within a namespace."""
        add(store, "kettle 0", "kettle 5")
        add(store, "kettle 8", namespace="other")
        store.update("kettle 5", namespace="other")
        store.pending()

        assert alike(store, "kettle 0") == []
        assert alike(store, "kettle 5") == ["kettle 8"]

    def test_a_task_that_is_done_keeps_its_links_and_a_message_does_not(self, store):
        """Only types that are not compared lose them."""
        add(store, "kettle 0", "kettle 5", type="task")
        store.done("kettle 5")
        assert alike(store, "kettle 5") == ["kettle 0"]
        store.update("kettle 5", type="message")
        assert alike(store, "kettle 5") == []
        store.update("kettle 5", type="task")
        store.pending()
        assert alike(store, "kettle 5") == ["kettle 0"]

    def test_a_text_that_grows_beyond_one_passage_and_shrinks_again(self, tmp_path, model):
        """Its first passage keeps its vector; whether that is the whole memory is decided anew."""
        first = "kettle 5 " + "warms " * 10
        more = first + "\n\n" + "teapots are cold " * 40
        with Store(
            str(tmp_path / "a.db"), embedder=model, chunk_tokens=40, chunk_overlap_tokens=0
        ) as store:
            add(store, "kettle 0")
            store.add(first, id="b")
            store.pending()
            assert alike(store, "b") == ["kettle 0"]
            store.update("b", text=more)
            store.pending()
            assert len(store._context.tables.records.chunks_of("b")) > 1
            assert alike(store, "b") == alike(store, "kettle 0") == []
            store.update("b", text=first)
            store.pending()
            assert alike(store, "b") == ["kettle 0"]

    def test_a_kept_passage_is_compared_when_it_becomes_the_only_one(self, store):
        """What a passage is to its memory can change while its vector stays."""
        add(store, "kettle 0", "kettle 5")
        chunk = "(SELECT c.n FROM chunks AS c JOIN memories AS m ON m.n = c.memory WHERE m.id = 'kettle 5')"
        with store._context.db.write() as db:
            db.execute(f"UPDATE chunks SET ordinal = -8 WHERE n = {chunk}")
        assert alike(store, "kettle 0") == []
        with store._context.db.write() as db:
            db.execute(f"UPDATE chunks SET ordinal = 0 WHERE n = {chunk}")
        store.pending()

        assert alike(store, "kettle 0") == ["kettle 5"]


class TestScope:
    def test_two_users_neither_see_nor_link_each_others(self, tmp_path, model):
        """Complaint 28: not even that another has something like it."""
        path = tmp_path / "shared.db"
        with (
            scrubjay.open(path, user="ada", embedder=model) as ada,
            scrubjay.open(path, user="bob", embedder=model) as bob,
        ):
            hers = [ada.add(f"kettle {n}").id for n in (0, 4)]
            his = [bob.add(f"kettle {n}").id for n in (1, 5)]
            ada.pending()
            bob.pending()

            for store, ids in ((ada, hers), (bob, his)):
                found = {hit.id: hit.near_duplicates for hit in store.search("kettle 2")}
                assert found == {ids[0]: (ids[1],), ids[1]: (ids[0],)}
            assert len(rows(ada, "SELECT * FROM edges")) == 2

    def test_a_crowd_elsewhere_does_not_hide_ones_own(self, tmp_path, model, monkeypatch):
        """Whoever writes thousands of like memories fills their own buckets only."""
        monkeypatch.setattr(sql_near, "_MAX_READ", 8)
        with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
            store.add("kettle 0", id="mine")
            crowd = [f"kettle is said again and again, {n / 1000:.3f}" for n in range(60)]
            add(store, *crowd, namespace="other")
            add(store, "kettle 1")

            assert alike(store, "mine") == ["kettle 1"]

    def test_sharing_a_bucket_is_not_enough(self, tmp_path, monkeypatch):
        """Even if every namespace and model had the same buckets, each would be compared with its own."""
        monkeypatch.setattr(sketches, "_flipped_bits", lambda place: 0)
        path = tmp_path / "a.db"
        with scrubjay.open(path, embedder=Compass()) as store:
            add(store, "kettle 0", "kettle 4")
            add(store, "kettle 1", "kettle 5", namespace="other")
            assert alike(store, "kettle 0") == ["kettle 4"]
            assert alike(store, "kettle 1") == ["kettle 5"]

        class Swapped(Compass):
            """Another model of the same width: its kettles lie where the first one's teapots lie."""

            name = "swapped"

            def embed(self, texts, *, as_query=False):
                other = {"kettle": "teapot", "teapot": "kettle"}
                swapped = [text.replace(text[:6], other[text[:6]]) for text in texts]
                return super().embed(swapped)

        with scrubjay.open(path, embedder=Compass()) as store:
            add(store, "teapot 2")
        with scrubjay.open(path, embedder=Swapped()) as store:
            add(store, "kettle 8")
            assert alike(store, "kettle 0") == ["kettle 4", "kettle 8"]
            assert alike(store, "teapot 2") == []

    def test_a_link_of_another_namespace_is_not_named(self, store):
        """A link that somebody set by hand across namespaces shows in neither's hits."""
        add(store, "kettle 0")
        add(store, "kettle 5", namespace="other")
        store.link("kettle 0", "kettle 5", kind=NEAR)

        (hit,) = store.search("kettle 0", namespace="default", mode="fast")
        assert hit.near_duplicates == ()
        assert store.search("kettle 0", mode="fast")[0].near_duplicates == ("kettle 5",)


class TestBackground:
    def test_an_older_store_gets_its_links_without_being_embedded_again(self, tmp_path):
        """The sixth version notes every vector that is there; the next run of the backlog compares them."""
        path = shutil.copy(DATA / "schema-1.db", tmp_path / "old.db")

        with sqlite3.connect(path) as db:  # two of its three memories say nearly the same
            db.execute(
                "UPDATE vectors SET vector = (SELECT vector FROM vectors WHERE n = 1) WHERE n = 2"
            )
        db.close()

        class Silent:
            name = "fixed-8"
            dims = 8

            def embed(self, texts, *, as_query=False):
                raise AssertionError("every text has a vector")

        with scrubjay.open(path, embedder=Silent()) as store:
            assert len(rows(store, "SELECT * FROM unsketched")) == 3
            assert store.pending() == 0
            assert rows(store, "SELECT * FROM unsketched") == []
            near = rows(store, "SELECT a, b, kind, strength FROM edges WHERE made = 'near'")
            assert near == [(2, 1, NEAR, pytest.approx(1.0))]
            assert len(store.get("port").links) == 2  # the one that was there is there

    def test_what_was_interrupted_goes_on_where_it_stopped(self, tmp_path, model):
        """Each step is a transaction of its own, and what is left is written down."""
        with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
            add(store, *(f"kettle {n}" for n in range(0, 200, 10)))
            complete = rows(store, "SELECT a, b FROM edges")
            assert len(complete) == 19  # twenty degrees are too far
            with store._context.db.write() as db:  # as in a store that is older than this
                db.execute("INSERT INTO unsketched SELECT vector FROM sketches")
            assert rows(store, "SELECT * FROM edges") == []
            assert SqlNearDuplicates(store._context.db).link_next(7) == 7
        with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
            assert len(rows(store, "SELECT * FROM sketches")) == 7
            store.pending()
            assert len(rows(store, "SELECT * FROM sketches")) == 20
            assert rows(store, "SELECT a, b FROM edges") == complete

    def test_a_failure_in_the_middle_leaves_neither_vector_nor_link(self, tmp_path, monkeypatch):
        """Both are made in one transaction, and both are made again."""
        real, compared = SqlNearDuplicates._compare, []

        def fails(self, db, new):
            compared.append(new)
            if len(compared) == 3:
                raise StoreError("the disk is full")
            real(self, db, new)

        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add_many({"id": f"kettle {n}", "text": f"kettle {n}"} for n in (0, 4, 8))
        monkeypatch.setattr(SqlNearDuplicates, "_compare", fails)
        with scrubjay.open(tmp_path / "a.db", embedder=Compass()) as store:
            with pytest.raises(StoreError):
                store.pending()
            for table in ("vectors", "sketches", "edges"):
                assert rows(store, f"SELECT * FROM {table}") == []
        monkeypatch.undo()
        with scrubjay.open(tmp_path / "a.db", embedder=Compass()) as store:
            with store._context.db.write() as db:
                db.execute("UPDATE wanting SET leased_until_s = 0")  # the lease has run out
            assert store.pending() == 0
            assert sorted(alike(store, "kettle 4")) == ["kettle 0", "kettle 8"]

    def test_a_model_that_is_out_is_asked_once_while_the_rest_is_compared(
        self, tmp_path, monkeypatch
    ):
        """Comparing needs no model, and a server that is down should not be asked all the time."""
        monkeypatch.setattr(embed_worker, "BATCH", 5)

        class Out(Compass):
            def embed(self, texts, *, as_query=False):
                self.read.append(texts)
                raise scrubjay.Unavailable("it is out")

        with scrubjay.open(tmp_path / "a.db", embedder=Compass()) as store:
            add(store, *(f"kettle {n}" for n in range(50)))
            with store._context.db.write() as db:
                db.execute("INSERT INTO unsketched SELECT vector FROM sketches")
        out = Out()
        with scrubjay.open(tmp_path / "a.db", embedder=out) as store:
            store.add("kettle 300", id="new")
            store._context.embedding._worker.thread.join(60)
            assert rows(store, "SELECT * FROM unsketched") == []
            assert alike(store, "kettle 7")
            assert out.read == [
                ["kettle 300"],
                ["memory"],
            ]  # the second is a word anybody can read
            assert store.pending() == 1


def planted(count, cosine, dims=384, seed=1):
    """Unit vectors at random, each followed by one at exactly this cosine to it."""
    random = np.random.RandomState(seed)
    ones = random.randn(count, dims)
    ones /= np.linalg.norm(ones, axis=1, keepdims=True)
    aside = random.randn(count, dims)
    aside -= (aside * ones).sum(axis=1, keepdims=True) * ones
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    return ones, cosine * ones + (1 - cosine**2) ** 0.5 * aside


class TestSketches:
    @pytest.mark.parametrize(("cosine", "least"), [(0.951, 0.95), (0.97, 0.98), (0.99, 0.999)])
    def test_pairs_meet_in_a_bucket(self, cosine, least):
        """Of a thousand planted pairs, as many as the decision promises; nothing is compared to do it."""
        met = 0
        for one, other in zip(*planted(1000, cosine), strict=True):
            bits = sketch(other.astype(np.float32), "p").bits
            probes = sketch(one.astype(np.float32), "p").probes
            met += any(bits >> 20 * table & 0xFFFFF == bucket for table, bucket in probes)

        assert met >= 1000 * least

    def test_strangers_rarely_meet(self):
        """96 looks into three million buckets: what points elsewhere is hardly ever read."""
        vectors = [one.astype(np.float32) for one in planted(300, 0.0)[0]]
        drawn = [sketch(one, "p") for one in vectors]
        met = sum(
            any(other.bits >> 20 * table & 0xFFFFF == bucket for table, bucket in one.probes)
            for one in drawn
            for other in drawn
            if other is not one
        )

        assert met < 300 * 299 * 0.001

    def test_the_planes_are_the_same_in_every_process_and_version(self):
        """A stored sketch must be met again by those of a later version."""
        first = np.eye(384, dtype=np.float32)[0]

        assert sketch(first, "1 default").bits == PINNED
        assert sketch(-first, "1 default").bits == PINNED ^ (1 << BITS) - 1

    def test_places_keep_distances_and_share_no_buckets(self):
        """Another namespace or model turns the bits, all in the same way."""
        one, other = (vector[0].astype(np.float32) for vector in planted(1, 0.9))

        here = sketch(one, "1 a").bits ^ sketch(other, "1 a").bits
        there = sketch(one, "1 b").bits ^ sketch(other, "1 b").bits
        assert here == there
        assert (sketch(one, "1 a").bits ^ sketch(one, "1 b").bits).bit_count() > 16


def work(store, text):
    """How many thousand steps SQLite takes to compare one more memory."""
    store.add(text, id="probe")
    store.pending()
    steps = 0

    def step():
        nonlocal steps
        steps += 1

    with store._context.db.write() as db:
        db.execute(
            "INSERT INTO unsketched SELECT v.n FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
            " JOIN memories AS m ON m.n = c.memory WHERE m.id = 'probe'"
        )
        db.set_progress_handler(step, 100)
        try:
            assert SqlNearDuplicates(store._context.db).link_next(1) == 1
        finally:
            db.set_progress_handler(None, 0)
    return steps


class TestWork:
    def test_it_does_not_grow_with_the_store(self, store):
        """Never quadratic: with ten times as many memories, one more costs what it cost before."""
        add(store, *(f"thing{n} 0" for n in range(150)))
        few = work(store, "probe 0")
        add(store, *(f"thing{n} 0" for n in range(150, 1500)))
        many = work(store, "probe 0")

        assert many <= few * 1.3

    def test_it_is_bounded_in_a_crowd(self, store):
        """All alike: no memory is compared with all, each is linked, and none has too many links."""
        add(store, *(f"kettle is on, {n / 1000:.3f}" for n in range(600)))
        some = work(store, "kettle is on, 0.5")
        add(store, *(f"kettle is on, {n / 1000:.3f}" for n in range(600, 1800)))
        more = work(store, "kettle is on, 0.5")

        assert more <= some * 1.2
        self.check_links(store)

    @pytest.mark.parametrize("most", [1, MAX_LINKS])
    def test_a_crowd_in_an_older_store_is_linked_as_well(self, store, monkeypatch, most):
        """Whatever was compared before: each is linked, also where all others have links enough."""
        add(store, *(f"kettle is on, {n / 1000:.3f}" for n in range(700)))
        monkeypatch.setattr(sql_near, "MAX_LINKS", most)
        with store._context.db.write() as db:
            db.execute("INSERT INTO unsketched SELECT vector FROM sketches")
        store.pending()

        linked = {n for pair in rows(store, "SELECT a, b FROM edges") for n in pair}
        assert len(linked) == 700

    def check_links(self, store):
        count = Counter(n for pair in rows(store, "SELECT a, b FROM edges") for n in pair)
        assert len(count) == 1801
        assert max(count.values()) <= MAX_LINKS


class TestStage:
    def test_without_hits_or_links_nothing_is_asked(self):
        """An empty pool costs no query, and a kit without a graph no error."""

        class Loud:
            def linked(self, ids, scope, kind):
                raise AssertionError("nobody is to be asked")

        nothing = Run(Query("q"), Kit(graph=Loud()))
        assert mark_near_duplicates()(nothing) == nothing
        alone = Run(Query("q"), Kit(), pool=(Candidate("a"),))
        assert mark_near_duplicates()(alone) == alone

    @pytest.mark.parametrize("profile", ["default", "gno", "gnosis"])
    def test_every_profile_shows_them(self, store, profile):
        """In all their modes, whatever found the hit."""
        add(store, "kettle whistles on, 0", "kettle whistles hot, 5", topics=["kettle"])
        modes = [one.partition(":")[2] or None for one in scrubjay.search.profiles.built_in()
                 if one.partition(":")[0] == profile]  # fmt: skip
        for mode in modes:
            found = store.search("kettle whistles", profile=profile, mode=mode, types=["fact"])
            alike_by_id = {hit.id: hit.near_duplicates for hit in found}
            assert alike_by_id["kettle whistles on, 0"] == ("kettle whistles hot, 5",), mode
        assert len(modes) >= 3

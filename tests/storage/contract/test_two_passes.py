"""Two passes: a shortlist by short vectors, then the whole vector decides (CG-1)."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from backends import Sqlite, a_memory, pieces

from scrubjay import InvalidInput
from scrubjay.storage.sqlite import rotation_fit as fitting
from scrubjay.storage.sqlite import rotations
from scrubjay.storage.sqlite import vectors as sqlite_vectors
from scrubjay.types import Scope

EVERYTHING = Scope()
LEAST = 300
COUNT = 1000  # memories of a store that is filled already


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch):
    """Rotations are fitted on hundreds of vectors, so that a test need not store many thousands."""
    monkeypatch.setattr(sqlite_vectors, "MIN_ROTATED", LEAST)


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A thousand memories with their vectors, to be copied: to write them takes far longer."""
    path = tmp_path_factory.mktemp("filled") / "notes.db"
    store = Sqlite(str(path))
    fill(store, texts_like(COUNT, 128))
    store.db.purge_log()
    store.close()
    return path


@pytest.fixture
def store(filled, tmp_path):
    """A store of a thousand vectors, of which nothing is fitted yet."""
    path = tmp_path / "notes.db"
    shutil.copy(filled, path)
    opened = Sqlite(str(path))
    yield opened
    opened.close()


@pytest.fixture
def empty(tmp_path):
    """A store of nothing."""
    opened = Sqlite(str(tmp_path / "empty.db"))
    yield opened
    opened.close()


def units(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def texts_like(count, dims, seed=3):
    """Vectors as texts have them: much in few directions, which are not those of the numbers."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(dims, dims)))[0]
    chance = np.random.default_rng(seed)
    spread = 1.0 / (1.0 + np.arange(dims)) ** 0.7
    return units((chance.normal(size=(count, dims)) * spread + 0.5 * spread) @ turn)


def fill(backend, vectors, start=0, model="m", **fields):
    """One memory a vector."""
    backend.activate(model, vectors.shape[1])
    with backend.records.transaction():
        for n in range(start, start + len(vectors)):
            backend.records.put(a_memory(f"v{n:05}", f"t{n}", **fields), pieces("tttt"))
    backend.embed(model, {f"v{n:05}": [row] for n, row in enumerate(vectors, start)})


def ids(found):
    return [row.id for row in found.rows]


def fitted(index, *short_dims, prefixes=()):
    """Fit a rotation, and wait until the short copies that searches will use are made."""
    assert index.fit("m", prefixes)
    for short in short_dims or (None,):
        index.short.refreshed("m", short)
    index.short.wait()
    assert index.short._copies.keys() >= {("m", short) for short in short_dims or (None,)}


def exactly(vectors, query, limit):
    return [f"v{n:05}" for n in np.argsort(-(vectors @ query), kind="stable")[:limit]]


def recall(index, vectors, queries, limit=10, **asked):
    """The share of the nearest by brute force that a search finds."""
    hits = 0
    for query in queries:
        found = index.search(query, "m", EVERYTHING, limit, **asked)
        assert len(found.rows) == limit
        hits += len({*ids(found)} & {*exactly(vectors, query, limit)})
    return hits / (limit * len(queries))


@pytest.mark.parametrize("dims", [128, 200, 384])
def test_a_shortlist_by_short_vectors_then_the_whole_vector_decides(empty, dims):
    """CG-1: nearly all of the nearest are found, and each score is the cosine of whole vectors."""
    vectors = texts_like(700, dims)
    fill(empty, vectors)
    fitted(empty.vectors)
    queries = texts_like(40, dims, seed=5)

    assert recall(empty.vectors, vectors, queries, shortlist=150) >= 0.98
    found = empty.vectors.search(queries[0], "m", EVERYTHING, 10, shortlist=200)
    for row in found.rows:
        assert row.score == pytest.approx(float(vectors[int(row.id[1:])] @ queries[0]), abs=1e-6)
    assert [row.score for row in found.rows] == sorted(
        (row.score for row in found.rows), reverse=True
    )


def test_the_shortlist_is_what_the_short_vectors_say(store):
    """CG-1: what lies near by its short vector alone is listed, and loses by its whole one."""
    vectors = texts_like(COUNT, 128)
    fitted(store.vectors, 2)
    with store.db.read() as db:
        turn = store.vectors.rotations.load(db, 1, 2)
    query = texts_like(1, 128, seed=8)[0]
    short = units(vectors @ turn.matrix) @ units(query @ turn.matrix)
    listed = np.argsort(-short)[:60]

    found = store.vectors.search(query, "m", EVERYTHING, 20, shortlist=60, short_dims=2)

    best = sorted(listed, key=lambda n: -float(vectors[n] @ query))[:20]
    assert len({*ids(found)} & {f"v{n:05}" for n in best}) >= 18  # int8 moves a few at the edge
    assert ids(found) != exactly(vectors, query, 20)


def test_a_matryoshka_model_uses_its_beginning(empty):
    """CG-1: no rotation is fitted, and the query is cut as the vectors are."""
    vectors = units(texts_like(LEAST, 96) * np.r_[np.ones(32), np.full(64, 0.2)])
    fill(empty, vectors)

    assert not empty.vectors.fit("m", ())  # too few dimensions to turn
    fitted(empty.vectors, prefixes=(16, 32, 64))
    with empty.db.read() as db:
        turn = empty.vectors.rotations.load(db, 1, None)
    assert (turn.dims, turn.matrix) == (32, None)
    assert empty.vectors.rotations.of("m").recall >= 0.97
    queries = units(texts_like(20, 96, seed=6) * np.r_[np.ones(32), np.full(64, 0.2)])
    assert recall(empty.vectors, vectors, queries, shortlist=100) >= 0.97


@pytest.mark.parametrize(
    ("dims", "prefixes", "right"),
    [
        (768, (768, 512, 256, 128), ((256,), True)),
        (384, (), ((64, 96, 128), False)),
        (384, (192,), ((64, 96, 128), False)),
        (200, (), ((64, 96), False)),
        (128, (), ((64,), False)),
        (96, (32,), ((32,), True)),
        (127, (), ((), False)),
    ],
)
def test_how_short_short_vectors_may_be(dims, prefixes, right):
    """CG-1: the longest beginning of at most a third, else 64 numbers or a few more, else none."""
    assert rotations.short_dims_of(dims, prefixes) == right


def test_until_a_rotation_is_there_the_search_is_exact(empty):
    """CG-1: too few vectors, or not fitted yet: the same answer as without a shortlist."""
    vectors = texts_like(LEAST, 128)
    fill(empty, vectors[:-1])
    query = texts_like(1, 128, seed=9)[0]
    assert not empty.vectors.fit("m", ())

    few = empty.vectors.search(query, "m", EVERYTHING, 10, shortlist=20, short_dims=1)
    assert ids(few) == exactly(vectors[:-1], query, 10)
    fill(empty, vectors[-1:], start=LEAST - 1)
    assert empty.vectors.fit_is_due("m", ())
    enough = empty.vectors.search(query, "m", EVERYTHING, 10, shortlist=20, short_dims=1)
    assert ids(enough) == exactly(vectors, query, 10)


def test_a_rotation_is_fitted_again_when_the_store_has_doubled(empty):
    """CG-1: not before; the version counts, and the new one is written in place of the old one."""
    vectors = texts_like(2 * LEAST, 128)
    fill(empty, vectors[:LEAST])
    assert empty.vectors.fit("m", ())
    first = empty.vectors.rotations.of("m")
    fill(empty, vectors[LEAST : 2 * LEAST - 1], start=LEAST)
    assert not empty.vectors.fit("m", ())
    fill(empty, vectors[2 * LEAST - 1 : 2 * LEAST], start=2 * LEAST - 1)
    assert empty.vectors.fit("m", ())

    second = empty.vectors.rotations.of("m")
    assert (first.version, first.fitted_on) == (1, LEAST)
    assert (second.version, second.fitted_on) == (2, 2 * LEAST)
    assert not empty.vectors.fit_is_due("m", ())


def test_the_recall_that_was_measured_is_that_of_a_search(store):
    """CG-1: as brute force finds it, each stored vector left out of its own answer."""
    vectors = texts_like(COUNT, 128)
    store.vectors.fit("m", ())
    known = store.vectors.rotations.of("m")
    with store.db.read() as db:
        turn = store.vectors.rotations.load(db, 1, None)
    short = units(vectors @ turn.matrix)
    asked = [place * COUNT // 200 for place in range(200)]
    shares = []
    for n in asked:
        exact, near = vectors @ vectors[n], short @ short[n]
        exact[n] = near[n] = -2
        shares.append(len({*np.argsort(-exact)[:10]} & {*np.argsort(-near)[:200]}) / 10)

    assert (known.trials, known.shortlist, known.fitted_on) == (200, 200, COUNT)
    assert known.recall == pytest.approx(np.mean(shares), abs=0.005)
    assert 0.9 < known.recall <= 1


def test_copies_of_one_text_do_not_spoil_the_measured_recall(empty):
    """CG-1: of hundreds of vectors that are the same, any ten are the nearest."""
    same = texts_like(1, 128)
    fill(empty, np.repeat(same, LEAST + 200, axis=0))
    empty.vectors.fit("m", ())

    assert empty.vectors.rotations.of("m").recall == 1.0


def test_what_comes_and_goes_after_the_fit_is_followed(store):
    """CG-1: new vectors are found, deleted ones are not, replaced ones by their new direction."""
    vectors = np.vstack([texts_like(COUNT, 128), texts_like(200, 128, seed=2)])
    fitted(store.vectors)
    assert ids(store.vectors.search(vectors[5], "m", EVERYTHING, 1, shortlist=50)) == ["v00005"]

    fill(store, vectors[1000:], start=1000)
    store.records.delete(["v00005"])
    store.records.put(a_memory("v00006", "changed"), pieces("tttt"))
    store.embed("m", {"v00006": [-vectors[6]]})

    def first(vector):
        return ids(store.vectors.search(vector, "m", EVERYTHING, 1, shortlist=50))

    assert first(vectors[1100]) == ["v01100"]
    assert first(vectors[5]) != ["v00005"]
    assert first(-vectors[6]) == ["v00006"]
    changed = vectors.copy()
    changed[6] *= -1
    kept = np.delete(changed, 5, axis=0)
    names = np.delete(np.arange(1200), 5)
    query = texts_like(1, 128, seed=12)[0]
    right = {f"v{names[n]:05}" for n in np.argsort(-(kept @ query))[:10]}
    found = store.vectors.search(query, "m", EVERYTHING, 10, shortlist=300)
    assert len(right & {*ids(found)}) >= 9


def test_filters_bind_both_passes(empty):
    """CG-1, R-3: few allowed vectors are compared whole, many are shortlisted, others never come."""
    vectors = texts_like(900, 128)
    empty.activate("m", 128)
    kinds = ["rare" if n % 30 == 0 else "some" if n % 2 else "other" for n in range(900)]
    with empty.records.transaction():
        for n in range(900):
            empty.records.put(a_memory(f"v{n:05}", f"t{n}", type=kinds[n]), pieces("tttt"))
    empty.embed("m", {f"v{n:05}": [row] for n, row in enumerate(vectors)})
    fitted(empty.vectors)
    query = texts_like(1, 128, seed=7)[0]
    order = np.argsort(-(vectors @ query))

    def right(kind):
        return [f"v{n:05}" for n in order if kinds[n] == kind][:10]

    rare = empty.vectors.search(query, "m", Scope(types=("rare",)), 10, shortlist=30)
    assert ids(rare) == right("rare")
    some = empty.vectors.search(query, "m", Scope(types=("some",)), 10, shortlist=150)
    assert len({*ids(some)} & {*right("some")}) >= 9
    assert {kinds[int(id_[1:])] for id_ in ids(some)} == {"some"}
    none = empty.vectors.search(query, "m", Scope(namespaces=()), 10, shortlist=30)
    assert none.rows == ()
    chosen = empty.vectors.search(query, "m", Scope(ids=("v00003",)), 10, shortlist=30)
    assert ids(chosen) == ["v00003"]


def test_a_memory_of_many_passages_is_one_of_the_shortlist(store):
    """CG-1, R-4: its best passage is named, and it takes one place, not all of them."""
    vectors = texts_like(COUNT, 128)
    query = texts_like(1, 128, seed=4)[0]
    chance = np.random.default_rng(2)
    near = units(query + 0.01 * chance.normal(size=(300, 128)))
    near[7] = query
    store.records.put(a_memory("long", "x" * 300), pieces("x" * 300, 300))
    store.embed("m", {"long": list(near)})
    fitted(store.vectors)

    found = store.vectors.search(query, "m", EVERYTHING, 10, shortlist=60)

    assert (found.rows[0].id, found.rows[0].chunk) == ("long", 7)
    assert len({*ids(found)[1:]} & {*exactly(vectors, query, 9)}) >= 8


def test_a_shortlist_shorter_than_the_list_is_made_longer(store):
    """CG-1: as many memories are found as were asked for, and mostly near ones."""
    vectors = texts_like(COUNT, 128)
    fitted(store.vectors)

    found = store.vectors.search(vectors[0], "m", EVERYTHING, 100, shortlist=5)

    assert len(found.rows) == 100
    assert recall(store.vectors, vectors, vectors[::100], limit=100, shortlist=5) > 0.6


def test_equal_stores_give_equal_answers(tmp_path):
    """CG-1: the sample is spread evenly, so nothing is left to chance."""
    vectors = texts_like(600, 128)
    stores = [Sqlite(str(tmp_path / f"{name}.db")) for name in "ab"]
    answers = []
    for store in stores:
        fill(store, vectors)
        fitted(store.vectors)
        with store.db.read() as db:
            turn = store.vectors.rotations.load(db, 1, None)
        found = [
            store.vectors.search(query, "m", EVERYTHING, 20, shortlist=60).rows
            for query in texts_like(10, 128, seed=11)
        ]
        answers.append((turn.matrix.tobytes(), found, store.vectors.rotations.of("m").recall))
        store.close()

    assert answers[0] == answers[1]


def test_another_process_takes_over_a_new_rotation(empty):
    """CG-1: it answers by the old one until its new copy is whole."""
    other = empty.again()
    vectors = texts_like(2 * LEAST, 128)
    queries = texts_like(10, 128, seed=13)
    fill(empty, vectors[:LEAST])
    assert empty.vectors.fit("m", ())
    other.vectors.search(queries[0], "m", EVERYTHING, 5, shortlist=100)
    other.vectors.short.wait()
    assert recall(other.vectors, vectors[:LEAST], queries, shortlist=100) > 0.9
    fill(empty, vectors[LEAST:], start=LEAST)
    assert empty.vectors.fit("m", ())

    before = other.vectors.short._copies[("m", None)]
    assert recall(other.vectors, vectors, queries, shortlist=100) > 0.9
    other.vectors.short.wait()
    assert recall(other.vectors, vectors, queries, shortlist=100) > 0.9
    after = other.vectors.short._copies[("m", None)]
    assert (before.rotation.version[0], after.rotation.version[0]) == (1, 2)
    assert len(after.vectors) == 2 * LEAST
    other.close()


def test_of_two_that_fit_at_once_the_first_one_stays(store):
    """CG-1: the second one sees that the version has moved on, and writes nothing."""
    other = store.again()
    begun, go_on = threading.Event(), threading.Event()
    outcome = []

    def slowly():
        begun.set()
        return not go_on.wait(30)

    thread = threading.Thread(target=lambda: outcome.append(other.vectors.fit("m", (), slowly)))
    thread.start()
    assert begun.wait(30)
    assert store.vectors.fit("m", ())
    first = store.vectors.rotations.of("m")
    go_on.set()
    thread.join(30)

    assert outcome == [False]
    assert other.vectors.rotations.of("m") == first
    other.close()


@pytest.mark.parametrize("backend", ["sqlite", "sqlite-memory"], indirect=True)
def test_searches_during_a_refit_always_find_the_nearest(backend):
    """CG-1: never an empty list, never one of two rotations mixed, while it is fitted and swapped."""
    vectors = texts_like(5 * LEAST, 128)
    queries = texts_like(8, 128, seed=14)
    fill(backend, vectors[:LEAST])
    fitted(backend.vectors)
    grown, wrong, done = [LEAST], [], threading.Event()
    searched = [0]

    def ask():
        while not done.is_set():
            for query in queries:
                least = grown[0]
                found = ids(backend.vectors.search(query, "m", EVERYTHING, 5, shortlist=100))
                # What was stored before the question is found, unless something newer is nearer.
                nearest = {*exactly(vectors[:least], query, 5)}
                newer = {id_ for id_ in found if int(id_[1:]) >= least}
                if len(found) != 5 or len(nearest & {*found}) + len(newer) < 4:
                    wrong.append((least, found, nearest))
                searched[0] += 1

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for stop in range(2 * LEAST, 5 * LEAST + 1, LEAST):
            fill(backend, vectors[grown[0] : stop], start=grown[0])
            grown[0] = stop
            backend.vectors.fit("m", ())
    finally:
        done.set()
        for thread in threads:
            thread.join(30)
    backend.vectors.short.wait()
    backend.vectors.search(queries[0], "m", EVERYTHING, 5, shortlist=100)
    backend.vectors.short.wait()

    assert wrong == []
    assert searched[0] > 8
    assert backend.vectors.short._copies[("m", None)].rotation.version[0] == 3
    assert recall(backend.vectors, vectors, queries, shortlist=100) > 0.9


def test_whole_vectors_answer_while_the_first_short_copy_is_made(store):
    """CG-1: a search that has them does not wait for others."""
    vectors = texts_like(COUNT, 128)
    query = texts_like(1, 128, seed=15)[0]
    assert ids(store.vectors.search(query, "m", EVERYTHING, 10)) == exactly(vectors, query, 10)
    store.vectors.fit("m", ())

    found = store.vectors.search(query, "m", EVERYTHING, 10, shortlist=30, short_dims=1)
    assert ids(found) == exactly(vectors, query, 10)
    store.vectors.short.wait()
    store.vectors.search(query, "m", EVERYTHING, 10, shortlist=30, short_dims=1)
    assert len(store.vectors.short._copies[("m", 1)].vectors) == 1000


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"shortlist": 0}, "shortlist is 0; give a whole number of at least 1"),
        ({"shortlist": 2.5}, "shortlist is 2.5"),
        ({"shortlist": 9, "short_dims": -1}, "short_dims is -1"),
        ({"shortlist": 9, "short_dims": 999}, "short_dims is 999.* 128"),
    ],
)
def test_wrong_lengths_are_refused(store, asked, said):
    """With what would be right."""
    store.vectors.fit("m", ())

    with pytest.raises(InvalidInput, match=said):
        store.vectors.search(units(np.ones(128)), "m", EVERYTHING, 5, **asked)


def test_a_rotation_goes_with_its_model(store):
    """And is not left behind for another of the same number."""
    store.vectors.fit("m", ())
    with store.db.write() as db:
        db.execute("DELETE FROM models")

    with store.db.read() as db:
        assert db.execute("SELECT count(*) FROM rotations").fetchone() == (0,)
    found = store.vectors.search(units(np.ones(128)), "m", EVERYTHING, 5, shortlist=9)
    assert found.rows == ()


def test_short_vectors_that_would_miss_too_much_are_not_used(empty, monkeypatch):
    """CG-1: vectors without any direction that matters: whole ones are compared, and status says why."""
    monkeypatch.setattr(fitting, "SHORTLIST", 20)  # 200 of 900 would hold the nearest by chance
    vectors = units(np.random.default_rng(4).normal(size=(900, 256)))
    fill(empty, vectors)
    assert empty.vectors.fit("m", ())
    known = empty.vectors.rotations.of("m")
    query = units(np.random.default_rng(5).normal(size=256))

    assert (known.recall < 0.95, known.short_dims) == (True, 128)
    assert "recall is under 0.95" in empty.vectors.rotations.why_not("m", ())
    found = empty.vectors.search(query, "m", EVERYTHING, 10, shortlist=20)
    assert ids(found) == exactly(vectors, query, 10)
    assert not empty.vectors.fit_is_due("m", ())


class TestInAStore:
    def test_a_rotation_is_fitted_after_the_last_vector_and_shown(self, tmp_path, monkeypatch):
        """CG-1: `status` tells why there is none, then how good it is."""
        from fakes import HashingEmbedder

        import scrubjay

        monkeypatch.setattr(sqlite_vectors, "MIN_ROTATED", 60)
        with scrubjay.open(tmp_path / "notes.db", embedder=HashingEmbedder(256)) as memory:
            memory.add("one")
            memory.pending(wait=True)
            before = memory.status().short_vectors["hashing-256"]
            memory.add_many([{"text": f"number {n} of the words w{n % 7}"} for n in range(80)])
            memory.pending(wait=True)
            after = memory.status().short_vectors["hashing-256"]

        assert (before.dims, before.recall) == (256, None)
        assert before.why_not == "fitted when there are 60 vectors"
        assert (after.dims, after.short_dims, after.shortlist) == (256, 64, 200)
        assert (after.recall, after.trials, after.fitted_on) == (1.0, 81, 81)
        assert after.why_not == ""

    def test_a_store_that_has_many_already_is_fitted_in_the_background(self, store, monkeypatch):
        """CG-1: a search notices, and does not wait for it."""
        import scrubjay
        from scrubjay.write import embed_worker

        monkeypatch.setattr(embed_worker, "REST_S", 0.0)
        with scrubjay.open(store.path, embedder=Named("m", 128)) as memory:
            memory.search("anything", mode="vector")
            memory._context.embedding._worker.thread.join(30)
            assert store.vectors.rotations.of("m").fitted_on == COUNT

    def test_lengths_that_a_model_cannot_have_are_refused(self):
        """With what would be right."""
        from scrubjay.models.guard import GuardedEmbedder

        model = Named("m", 128)
        model.matryoshka = (64, 32)
        assert GuardedEmbedder(model).matryoshka == (64, 32)
        model.matryoshka = (64, 256)
        with pytest.raises(InvalidInput, match="give whole numbers of 1 to 128"):
            GuardedEmbedder(model)


class Named:
    """A model of any name: the same vector for every text."""

    def __init__(self, name, dims):
        self.name, self.dims = name, dims

    def embed(self, texts, *, as_query=False):
        """Return one vector a text."""
        return units(np.ones((len(texts), self.dims)))

"""A store changes its model while it is in use: the old index answers until the new one is complete."""

from __future__ import annotations

import threading
import time

import gated
import pytest
import switch_models
from switch_models import Cars

import scrubjay
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.embed.static import NAME as STATIC
from scrubjay.models.shared import SharedModels
from scrubjay.storage.model_switch import SqlModelSwitch
from scrubjay.surfaces.cli import main

CAR = "The automobile stands behind the barn"
ODA = "who keeps a lighthouse?"
PAIRS = {
    "cat": "The cat sleeps on the warm oven",
    "feline": "The feline sleeps on the warm oven",
    "car": "The car drives along the coast road",
    "automobile": "The automobile drives along the coast road",
}


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    switch_models.install(tmp_path / "plug-ins", monkeypatch)
    monkeypatch.setenv("SCRUBJAY_MULTILINGUAL", "none")


@pytest.fixture(params=["sqlite", "postgres"])
def path(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("emptied_postgres_url")
    return str(tmp_path / "notes.db")


def filled(path, **options):
    """Open a store with twenty-two memories, all of them embedded by `cats`."""
    store = scrubjay.open(path, **options)
    store.add(CAR, id="car")
    store.add("Oda keeps the lighthouse", id="oda")
    store.add_many({"text": f"note {n} of harbour number {n}", "id": f"n{n}"} for n in range(20))
    store.pending()
    return store


def roles(store):
    with store._context.db.read() as db:
        rows = db.execute(
            "SELECT m.name, m.role, (SELECT count(*) FROM vectors AS v WHERE v.model = m.n)"
            " FROM models AS m"
        ).fetchall()
    return {name: (role, count) for name, role, count in rows if name != STATIC}


def nearest(store, query="car"):
    found = store.search(query, mode="vector")
    return found[0].id, round(found[0].score, 3), found.degraded


def links(store, id_, made="near"):
    with store._context.db.read() as db:
        rows = db.execute(
            "SELECT x.id, y.id, e.strength FROM edges AS e JOIN memories AS x ON x.n = e.a"
            " JOIN memories AS y ON y.n = e.b WHERE e.made = ?",
            (made,),
        ).fetchall()
    pairs = [(a, b, strength) for a, b, strength in rows if id_ in (a, b)]
    return {b if a == id_ else a: round(strength, 2) for a, b, strength in pairs}


def test_the_old_index_answers_until_the_new_one_takes_over(path):
    with filled(path) as store:
        before = nearest(store, ODA)
        Cars.left = 8
        change = store.use_model("cars", wait=True)

        assert (change.model, change.state, change.before) == ("cars", "building", "cats")
        assert (change.done, change.total, change.reason) == (8, 22, "the model rests")
        assert store.status().change == change._replace(before=None)
        assert store.status().model == "cats"
        assert nearest(store, ODA) == before
        assert before[2] == ()

        Cars.left = None
        assert store.pending() == 0
        assert nearest(store) == ("car", nearest(store)[1], ())
        assert store.status().change is None
        assert store.status().model == "cars"
        assert roles(store) == {"cats": ("kept", 22), "cars": ("main", 22)}


def test_it_is_built_in_the_background_by_itself(path):
    with filled(path) as store:
        assert store.use_model("cars").state == "building"
        for _ in range(200):
            store.search("harbour")
            if store.status().model == "cars":
                break
            time.sleep(0.05)

        assert nearest(store)[0] == "car"


def test_texts_written_meanwhile_get_both_vectors(path):
    with filled(path) as store:
        Cars.left = 4
        store.use_model("cars", wait=True)
        store.add("An automobile museum opens in May", id="museum")
        store.update("n3", text="The third harbour has an automobile ferry")
        store.forget("n4")
        store.pending(further=False)
        assert nearest(store, "museum opens may")[0] == "museum"
        assert store.status().change.done < 10

        Cars.left = None
        store.pending()
        assert roles(store) == {"cats": ("kept", 22), "cars": ("main", 22)}
        assert nearest(store, "car museum opens")[0] == "museum"
        assert nearest(store, "third car ferry")[0] == "n3"


def test_near_duplicates_and_links_follow(path):
    with scrubjay.open(path, profile="novamem") as store:
        store.add_many({"text": text, "id": id_} for id_, text in PAIRS.items())
        store.search("coast")
        store.pending()
        assert (links(store, "cat"), links(store, "car")) == ({"feline": 1.0}, {})
        assert links(store, "cat", "auto")["feline"] == 1.0
        assert links(store, "car", "auto").get("automobile", 0.0) < 0.9

        store.use_model("cars", wait=True)
        assert (links(store, "cat"), links(store, "car")) == ({}, {"automobile": 1.0})
        assert links(store, "car", "auto")["automobile"] == 1.0
        assert links(store, "cat", "auto").get("feline", 0.0) < 0.9
        assert store.pending(wait=False) == 0

        store.use_model("cats", wait=True)
        assert (links(store, "cat"), links(store, "car")) == ({"feline": 1.0}, {})


def test_token_vectors_are_those_of_the_new_model(path):
    with filled(path) as store:
        store.use_model("cars", wait=True)
        found = store.search("car behind the barn")
        with store._context.db.read() as db:
            (tokens,) = db.execute(
                "SELECT count(DISTINCT t.chunk) FROM tokens AS t JOIN models AS m ON m.n = t.model"
                " WHERE m.name = 'cars'"
            ).fetchone()

    assert tokens == 22
    assert found[0].id == "car"
    assert found.degraded == ()


def test_switching_back_is_instant(path):
    with filled(path) as store:
        store.use_model("cars", wait=True)
        store.add("The feline of the harbour master", id="feline")
        store.pending()
        change = store.use_model("cats")

        assert (change.state, change.model, change.before) == ("in_use", "cats", "cars")
        assert nearest(store, ODA)[0] == "oda"
        assert roles(store)["cars"] == ("kept", 23)
        store.pending()
        assert nearest(store, "cat of the harbour master")[0] == "feline"
        assert store.use_model("cats").state == "in_use"


def test_another_handle_notices_before_its_next_search(path):
    fixed = scrubjay.open(path, embedder="cats")
    with filled(path) as store, scrubjay.open(path) as other, fixed:
        assert nearest(other, ODA)[0] == "oda"
        store.use_model("cars", wait=True)

        assert nearest(other)[0] == "car"
        assert other.status().model == "cars"
        assert fixed.status().model == "cats"
        assert nearest(fixed, ODA)[0] == "oda"


def test_the_next_process_uses_what_the_store_has_chosen(path, monkeypatch):
    with filled(path) as store:
        store.use_model("cars", wait=True)

    with scrubjay.open(path) as store:
        assert store.status().model == "cars"
        assert store.status().settings_model == "cats"
        assert nearest(store)[0] == "car"
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "cars")
    with scrubjay.open(path) as store:
        assert store.status().settings_model is None
    with scrubjay.open(path, embedder="third") as store:
        assert store.status().model == "third"


def test_pruning_removes_what_is_not_in_use(path):
    with filled(path) as store:
        store.use_model("cars", wait=True)
        store.use_model("third", wait=True)
        with pytest.raises(InvalidInput, match="in use"):
            store.prune_models("third")
        with pytest.raises(InvalidInput, match="no index"):
            store.prune_models("nothing")
        (gone,) = store.prune_models("cats")
        assert (gone.model, gone.vectors, gone.size_bytes) == ("cats", 22, 22 * 64 * 4)
        (gone,) = store.prune_models()
        assert (gone.model, gone.vectors) == ("cars", 22)
        assert gone.size_bytes > 22 * 256 * 4  # and token vectors

        assert store.prune_models() == []
        assert roles(store) == {"third": ("main", 22)}
        assert nearest(store, ODA)[0] == "oda"
        assert store.use_model("cats", wait=True).state == "in_use"
        assert nearest(store, ODA)[0] == "oda"


def test_a_handle_of_before_does_not_bring_a_pruned_model_back(path):
    other = scrubjay.open(path)
    with filled(path) as store, other:
        assert other._context.embedding.embedder.name == "cats"
        store.use_model("cars", wait=True)
        store.prune_models()
        other.add("The automobile of the ferryman", id="ferryman")

        assert nearest(other, "car ferryman")[0] == "ferryman"
        assert roles(store) == {"cars": ("main", 23)}


def test_an_unfinished_index_can_be_given_up(path):
    with filled(path) as store:
        Cars.left = 4
        store.use_model("cars", wait=True)
        with pytest.raises(InvalidInput, match="cars"):
            store.use_model("third")
        assert store.use_model("cars").state == "building"
        assert store.use_model("cats").model == "cats"  # it is in use all the time
        assert store.status().change.model == "cars"
        store.prune_models("cars")

        assert store.status().change is None
        assert store.use_model("third", wait=True).state == "in_use"


@pytest.mark.parametrize(
    ("name", "error", "why"),
    [
        ("broken", Unavailable, "not numbers"),
        ("empty", Unavailable, "zeros"),
        ("nonsense", InvalidInput, "nonsense"),
        ("", InvalidInput, "name"),
        ("./no/folder", Unavailable, "folder"),
        ("http://127.0.0.1:9/v1#model", Unavailable, "127.0.0.1"),
        ("http://user:secret@127.0.0.1:9/v1#model", InvalidInput, "credentials"),
    ],
)
def test_a_model_that_does_not_work_changes_nothing(tmp_path, name, error, why):
    with filled(str(tmp_path / "notes.db")) as store:
        before = roles(store), nearest(store, ODA)
        with pytest.raises(error, match=why) as raised:
            store.use_model(name)

        assert "secret" not in str(raised.value)
        assert (roles(store), nearest(store, ODA)) == before
        assert store.status().change is None


@pytest.mark.parametrize("name", ["growing", "picky"])
def test_a_model_that_fails_later_does_not_take_over(tmp_path, name):
    with filled(str(tmp_path / "notes.db")) as store:
        change = store.use_model(name, wait=True)

        assert change.state == "building"
        assert change.reason
        assert store.pending() == 0
        assert store.status().model == "cats"
        assert nearest(store, ODA)[0] == "oda"
        store.prune_models()
        assert set(roles(store)) == {"cats"}


def test_a_few_texts_that_break_the_model_do_not_stop_the_change(tmp_path):
    with scrubjay.open(tmp_path / "notes.db") as store:
        store.add_many({"text": f"harbour number {n}", "id": f"h{n}"} for n in range(60))
        store.add("a note about harbour gulls", id="note")
        store.pending()
        change = store.use_model("picky", wait=True)

        assert (change.state, change.failed) == ("in_use", 1)
        assert store.search("gulls")[0].id == "note"


def test_the_model_in_use_becomes_the_choice_of_the_store(tmp_path, monkeypatch):
    path = tmp_path / "notes.db"
    with filled(str(path)) as store:
        assert store.use_model("cats").state == "in_use"
        assert roles(store) == {"cats": ("main", 22)}
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "third")
    with scrubjay.open(path) as store:
        assert store.status().model == "cats"


def test_an_empty_store_changes_at_once(path):
    with scrubjay.open(path) as store:
        assert store.use_model("cars").state == "in_use"
        store.add(CAR, id="car")
        assert nearest(store)[0] == "car"


def test_a_store_that_was_given_an_embedder_follows_once_it_is_told_to(tmp_path):
    with filled(str(tmp_path / "notes.db"), embedder="third") as store:
        assert store.use_model("cars", wait=True).before == "third"
        assert nearest(store)[0] == "car"
    store = scrubjay.open(tmp_path / "notes.db", embedder=False)
    with store, pytest.raises(InvalidInput, match="embedder"):
        store.use_model("cats")


def test_a_model_that_is_not_installed_here_leaves_static_vectors(tmp_path, monkeypatch):
    path = tmp_path / "notes.db"
    with filled(str(path)) as store:
        store.use_model("cars", wait=True)
        with store._context.db.write() as db:
            db.execute("""UPDATE models SET spec = '{"model": "gone"}' WHERE name = 'cars'""")
    with scrubjay.open(path) as store:
        found = store.search(ODA)
        assert found[0].id == "oda"
        assert any("cars" in why and "gone" in why for why in found.degraded)
        store.add("one more note about the pier", id="pier")
        assert store.search("pier")[0].id == "pier"


def test_rotations_are_fitted_before_the_new_index_answers(tmp_path, monkeypatch):
    from scrubjay.storage.sqlite import vectors

    monkeypatch.setattr(vectors, "MIN_ROTATED", 50)
    with scrubjay.open(tmp_path / "notes.db") as store:
        store.add_many({"text": f"pier {n} and boat {n * 7}", "id": f"p{n}"} for n in range(120))
        store.add("Oda keeps the lighthouse", id="oda")
        store.pending()
        store.use_model("cars", wait=True)

        fitted = store.status().short_vectors["cars"]
        assert fitted.fitted_on == 121
        assert nearest(store, ODA)[0] == "oda"


def points(store, model):
    """How many vectors of this store a Qdrant has of a model."""
    replica = store._context.tables.replicas.worker._feeds[0].replica
    names = {of: name for of, name, _ in replica._models()}
    return replica._count(names[model])


def test_qdrant_gets_the_vectors_of_the_new_model(path, qdrant_url):
    with filled(path, vectors=f"{qdrant_url}?timeout_s=30") as store:
        assert points(store, "cats") == 22
        Cars.left = 4
        store.use_model("cars", wait=True)
        assert nearest(store, ODA) == ("oda", nearest(store, ODA)[1], ())
        assert points(store, "cats") == 22

        Cars.left = None
        assert store.pending() == 0
        assert nearest(store) == ("car", nearest(store)[1], ())
        assert (points(store, "cars"), points(store, "cats")) == (22, 0)
        store.forget("n3")
        store.use_model("cats")
        assert nearest(store, ODA)[0] == "oda"
        assert store.pending() == 0
        assert (points(store, "cars"), points(store, "cats")) == (0, 21)
        assert [gone.model for gone in store.prune_models()] == ["cars"]


def test_searches_are_complete_before_qdrant_has_the_new_vectors(path, qdrant, qdrant_url):
    with filled(path, vectors=f"{qdrant_url}?timeout_s=2") as store:
        qdrant.pause()
        store.use_model("cars", wait=True, timeout_s=5)
        found = store.search("car", mode="vector")
        assert found[0].id == "car"
        with pytest.raises(Unavailable, match="replica"):
            store.prune_models()
        qdrant.resume()


def test_the_multilingual_model_can_become_the_main_one_and_go_back(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_MULTILINGUAL", "third")
    monkeypatch.setattr(switch_models.Cats, "languages", ("en",), raising=False)
    with filled(str(tmp_path / "notes.db")) as store:
        assert roles(store)["third"] == ("multilingual", 22)
        assert store.use_model("third").state == "in_use"
        assert nearest(store, ODA)[0] == "oda"
        store.pending()
        assert roles(store) == {"cats": ("kept", 22), "third": ("main", 22)}
        with store._context.db.read() as db:
            (size,) = db.execute(
                "SELECT min(length(vector)) FROM vectors AS v JOIN models AS m ON m.n = v.model"
                " WHERE m.name = 'third'"
            ).fetchone()
        assert size == 128 * 4

        store.use_model("cats", wait=True)
        assert roles(store) == {"cats": ("main", 22), "third": ("multilingual", 22)}
        assert store.prune_models() == []


def test_a_server_answers_with_the_old_model_until_the_new_one_is_loaded(tmp_path, monkeypatch):
    gated.install(tmp_path / "gated", monkeypatch)
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "cats")
    with (
        filled(str(tmp_path / "notes.db")) as store,
        scrubjay.open(tmp_path / "notes.db") as other,
    ):
        other.share_models(SharedModels())
        for _ in range(200):
            if not nearest(other, ODA)[2]:
                break
        opened = gated.GatedEmbedder.__init__

        def open_gate(self):
            opened(self)
            self.gate.set()

        monkeypatch.setattr(gated.GatedEmbedder, "__init__", open_gate)
        store.use_model("gated", wait=True)
        monkeypatch.setattr(gated.GatedEmbedder, "__init__", opened)

        found = nearest(other, ODA)
        assert (found[0], found[2], other.status().model) == ("oda", (), "cats")
        gated.GatedEmbedder.made[-1].gate.set()
        for _ in range(500):
            if other.status().model == "gated":
                break
            time.sleep(0.02)
        assert nearest(other, "automobile barn")[::2] == ("car", ())
        assert other.status().model == "gated"


def test_a_search_does_not_ask_for_the_choice_where_nothing_was_written(tmp_path, monkeypatch):
    with filled(str(tmp_path / "notes.db")) as store:
        store.search(ODA)
        asked, chosen = [], SqlModelSwitch.chosen

        def count(self):
            asked.append(threading.current_thread())
            return chosen(self)

        monkeypatch.setattr(SqlModelSwitch, "chosen", count)
        for _ in range(3):
            store.search(ODA)
        assert threading.main_thread() not in asked
        store.add("one more")
        store.search(ODA)
        assert threading.main_thread() in asked


def test_a_change_goes_on_after_the_store_was_promoted(tmp_path, emptied_postgres_url):
    file = str(tmp_path / "notes.db")
    with filled(file) as store:
        Cars.left = 4
        store.use_model("cars", wait=True)
    assert main(["promote", "--to", emptied_postgres_url, "--db", file]) == 0

    Cars.left = None
    with scrubjay.open(emptied_postgres_url) as store:
        assert nearest(store, ODA)[0] == "oda"
        store.pending()
        assert roles(store) == {"cats": ("kept", 22), "cars": ("main", 22)}
        assert nearest(store)[0] == "car"

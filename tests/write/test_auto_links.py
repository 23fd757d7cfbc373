"""Memories are linked to their nearest by themselves, where links are walked."""

from __future__ import annotations

import io
import multiprocessing
import os
import sqlite3

import pytest
from fakes import BrokenEmbedder, HashingEmbedder

import scrubjay
from scrubjay import Unavailable
from scrubjay.ops.promote.run import promote
from scrubjay.storage.sql.graph import SqlAutoLinks
from scrubjay.write import embed_worker
from scrubjay.write.auto_links import AutoLinks

# Four words each: two in common are a cosine of a half, three of three quarters.
TEXTS = {
    "a": "apple banana cherry damson",
    "b": "apple banana cherry elderberry",
    "c": "apple banana fennel grape",
    "d": "apple hazel ivy juniper",
    "e": "apple kale lemon mango",
    "z": "xylophone yodel zither quartz",
}


@pytest.fixture
def linked(tmp_path, clock, embedder):
    """An empty store whose profile walks links."""
    with scrubjay.open(
        tmp_path / "n.db", profile="novamem", embedder=embedder, clock=clock
    ) as store:
        yield store


@pytest.fixture
def filled(linked):
    linked.add_many({"text": text, "id": id_} for id_, text in TEXTS.items())
    assert linked.pending() == 0
    return linked


def strengths(store, id_):
    return {one.to: one.strength for one in store.get(id_).links if one.kind == "related"}


def chosen_by(store, id_):
    """What a memory chose itself; others may have chosen it besides."""
    with store._context.db.read() as db:
        rows = db.execute(
            "SELECT y.id, e.strength FROM edges AS e JOIN memories AS x ON x.n = e.a"
            " JOIN memories AS y ON y.n = e.b WHERE x.id = ? AND e.made = 'auto'",
            (id_,),
        )
        return dict(rows.fetchall())


def test_a_memory_is_linked_to_its_three_nearest_by_cosine(filled):
    """NM-8: strength is the cosine, fan-out 3, and nothing that points elsewhere."""
    # Of two that are equally near and old, the first by its id.
    nearest = {"b": 0.75, "c": 0.5, "d": 0.25}
    assert chosen_by(filled, "a") == pytest.approx(nearest, abs=0.01)
    assert strengths(filled, "b")["a"] == chosen_by(filled, "a")["b"]
    assert {one.id for one in filled.neighbors("a")} >= {"b", "c"}
    assert all(0 < strength <= 1 for id_ in TEXTS for strength in strengths(filled, id_).values())


def test_two_that_chose_each_other_have_one_link(filled):
    """Shown once, counted once."""
    assert "a" in chosen_by(filled, "b")
    assert "b" in chosen_by(filled, "a")
    assert [one.to for one in filled.get("a").links].count("b") == 1
    pairs = {frozenset((a, b)) for a in TEXTS for b in chosen_by(filled, a)}
    assert filled.status().links == len(pairs)
    assert filled.unlink("a", "b") == 1


def test_only_a_profile_that_walks_links_makes_them(memory):
    """NM-8; and the first search that does links what is there already."""
    memory.add_many({"text": text, "id": id_} for id_, text in TEXTS.items())
    memory.pending()
    memory.search("apple")
    assert strengths(memory, "a") == {}
    assert memory.status().unlinked == 0

    memory.search("apple", profile="novamem")
    memory.pending()

    assert strengths(memory, "a")["b"] == pytest.approx(0.75, abs=0.01)
    memory.add("apple banana cherry nectarine", id="new")
    memory.pending()
    assert "a" in strengths(memory, "new")


def test_links_that_are_made_while_one_searches_were_not_walked(filled, monkeypatch):
    """NM-6: what waited when the search began is said, though nothing waits when it ends."""
    left = [2]
    graph, embedding = filled._context.tables.graph, filled._context.embedding
    walk = graph.walk

    def walked(*given):
        left[:] = [0]
        return walk(*given)

    with monkeypatch.context() as patch:
        patch.setattr(graph, "walk", walked)
        patch.setattr(embedding, "unlinked", lambda *_, **__: left[0])
        first, second = (filled.search("apple", profile="novamem") for _ in range(2))
    assert left == [0]
    assert first.degraded == ("graph: 2 memories are not linked yet",)
    assert second.degraded == ()


def test_a_linked_store_can_be_promoted(filled, tmp_path, postgres_url, embedder):
    """The note that a store is linked is a number, as all notes are: Postgres takes no other."""
    before = {id_: strengths(filled, id_) for id_ in TEXTS}
    filled.close()
    promote(tmp_path / "n.db", postgres_url)
    with scrubjay.open(postgres_url, profile="novamem", embedder=embedder) as moved:
        assert {id_: strengths(moved, id_) for id_ in TEXTS} == before
        moved.add("apple banana cherry fennel", id="new")
        assert moved.pending() == 0
        assert chosen_by(moved, "new")


def test_links_stay_inside_a_namespace(linked):
    """NM-8: what one may not see is not linked either; what moves is linked where it is."""
    linked.add("apple banana", id="here")
    linked.add("apple banana", id="there", namespace="other")
    linked.add("apple cherry", id="near", namespace="other")
    linked.pending()
    assert strengths(linked, "here") == {}

    linked.update("here", namespace="other", text="apple banana damson")
    linked.pending()

    assert set(strengths(linked, "here")) == {"there", "near"}
    linked.update("here", namespace="third")
    linked.pending()
    assert strengths(linked, "here") == {}


def test_what_changes_is_linked_anew(filled):
    """NM-8: its own links, and the strength of those that others chose."""
    assert "a" in chosen_by(filled, "b")

    filled.update("a", text="apple xylophone yodel zither")
    filled.pending()

    assert chosen_by(filled, "a")["z"] == pytest.approx(0.75, abs=0.01)
    assert chosen_by(filled, "b")["a"] == pytest.approx(0.25, abs=0.01)
    assert strengths(filled, "a")["b"] == pytest.approx(0.25, abs=0.01)


def test_one_set_by_hand_stays(filled):
    """NM-8: an automatic link never replaces it, and it replaces an automatic one."""
    filled.link("b", "a", 0.1)
    assert strengths(filled, "a")["b"] == 0.1

    filled.update("a", text=TEXTS["a"] + " indeed")
    filled.update("b", text=TEXTS["b"] + " indeed")
    filled.pending()

    assert strengths(filled, "a")["b"] == strengths(filled, "b")["a"] == 0.1
    with filled._context.db.read() as db:
        (made,) = db.execute(
            "SELECT DISTINCT e.made FROM edges AS e JOIN memories AS x ON x.n = e.a"
            " JOIN memories AS y ON y.n = e.b WHERE e.kind = 'related'"
            " AND x.id IN ('a', 'b') AND y.id IN ('a', 'b')"
        ).fetchall()
    assert made == ("hand",)


def test_one_taken_away_by_hand_does_not_come_back(filled):
    """NM-8: until somebody links the two again; another takes its place."""
    filled.unlink("a", "b")
    assert "b" not in strengths(filled, "a")

    for id_ in ("a", "b"):
        filled.update(id_, text=TEXTS[id_] + " indeed")
    filled.pending()

    assert "b" not in strengths(filled, "a")
    assert len(chosen_by(filled, "a")) == 3
    filled.link("a", "b", 0.6)
    filled.unlink("a", "b", kind="other")
    assert strengths(filled, "a")["b"] == 0.6


@pytest.mark.parametrize("kind", [None, "related"])
def test_one_taken_away_before_there_were_any_stays_away(memory, kind):
    """NM-8: links are made from the first search on that walks them, and of these two none is."""
    for id_, text in TEXTS.items():
        memory.add(text, id=id_)
    memory.link("a", "b", 0.6)
    assert memory.unlink("a", "b", kind) == 1

    memory.search("apple", profile="novamem")
    memory.pending()

    assert strengths(memory, "a")
    assert "b" not in strengths(memory, "a")


def test_one_that_is_not_made_yet_can_be_taken_away(linked, monkeypatch):
    """NM-8: whoever is quicker than the thread in the background is heard all the same."""
    with monkeypatch.context() as later:
        later.setattr(AutoLinks, "link_next", lambda *_: 0)
        for id_, text in TEXTS.items():
            linked.add(text, id=id_)
        linked.pending()
        assert linked.unlink("a", "b") == 0
    linked.pending()

    assert strengths(linked, "a")
    assert "b" not in strengths(linked, "a")


def test_other_kinds_of_links_are_not_touched(filled):
    """Nor do they keep an automatic one away."""
    filled.link("a", "z", 0.9, kind="cites")
    filled.unlink("a", "z", kind="cites")
    filled.update("z", text="apple banana cherry damson quartz")
    filled.pending()

    assert "a" in strengths(filled, "z")


def test_an_export_has_only_what_was_set(filled):
    """A store finds its own, as with near-duplicates."""
    filled.link("a", "z", 0.4)
    written = io.StringIO()
    filled.export_jsonl(written)

    assert written.getvalue().count('"strength"') == 2
    assert "0.4" in written.getvalue()


def test_what_waits_is_counted_and_said(tmp_path, clock, embedder, monkeypatch):
    """R-6: an answer over a graph that lags says so."""
    monkeypatch.setattr(AutoLinks, "link_next", lambda *_: 0)
    monkeypatch.setattr(embed_worker.EmbedWorker, "settle", lambda self, timeout_s: None)
    with scrubjay.open(
        tmp_path / "n.db", profile="novamem", embedder=embedder, clock=clock
    ) as store:
        store.add_many({"text": text, "id": id_} for id_, text in TEXTS.items())
        assert store.pending() == store.pending(wait=False) == len(TEXTS)
        assert store.status().unlinked == len(TEXTS)
        assert store.search("apple").degraded == ("graph: 6 memories are not linked yet",)
        assert store.search("apple", weights="semantic").degraded == ()


def test_an_index_that_does_not_answer_leaves_them_waiting(linked, monkeypatch):
    """NM-8, NM-6: nothing is lost, and it is done when the index is back."""
    search = linked._context.tables.vectors.search

    def lost(*_arguments, **_more):
        raise Unavailable("away")

    monkeypatch.setattr(linked._context.tables.vectors, "search", lost)
    linked.add_many({"text": text, "id": id_} for id_, text in TEXTS.items())
    assert linked.pending() == len(TEXTS)
    monkeypatch.setattr(linked._context.tables.vectors, "search", search)

    assert linked.pending() == 0
    assert "b" in strengths(linked, "a")


def test_a_change_while_links_are_found_is_not_lost(filled, embedder):
    """Found for the old text, they are not written; the memory waits on."""
    links = SqlAutoLinks(filled._context.db)
    with filled._context.db.write() as db:
        db.execute("INSERT INTO unlinked SELECT n FROM memories WHERE id = 'a'")
    auto = AutoLinks(links, filled._context.tables.vectors, embedder.name)
    (found,) = [auto._links_of(memory) for memory in links.waiting(embedder.name, 10)]
    filled.update("a", text="xylophone yodel zither")
    filled.pending()
    after = chosen_by(filled, "a")
    with filled._context.db.write() as db:
        db.execute("INSERT INTO unlinked SELECT n FROM memories WHERE id = 'a'")

    links.put([found], embedder.name)

    assert chosen_by(filled, "a") == after
    assert links.left(embedder.name) == 1
    assert filled.pending() == 0


def test_what_has_no_vector_of_the_model_in_use_waits_for_whoever_makes_one(filled, tmp_path):
    """Two processes with two models: neither takes the work of the other away."""
    other = HashingEmbedder(64)
    links, auto = (
        SqlAutoLinks(filled._context.db),
        AutoLinks(SqlAutoLinks(filled._context.db), filled._context.tables.vectors, other.name),
    )
    with (
        filled._context.db.write() as db
    ):  # so that the store's own worker cannot link it meanwhile
        db.execute("INSERT INTO unlinked SELECT n FROM memories WHERE id = 'a'")

        assert auto.link_next(10) == 0
        assert not auto.left()
        assert links.left("hashing-256") == 1
        assert links.left("hashing-256", most=0) == 0
    assert strengths(filled, "a")


def test_without_a_model_nothing_waits(tmp_path, clock):
    """R-6: links by hand are walked all the same."""
    with scrubjay.open(tmp_path / "w.db", profile="novamem", embedder=False, clock=clock) as store:
        store.add("apple", id="a")
        assert store.pending() == 0
        assert store.status().unlinked == 0
    with scrubjay.open(
        tmp_path / "b.db", profile="novamem", embedder=BrokenEmbedder(), clock=clock
    ) as store:
        store.add("apple", id="a")
        assert store.search("apple")[0].id == "a"
        assert store.status().unlinked == 0


def _write(path, name):
    with scrubjay.open(path, profile="novamem", embedder=HashingEmbedder()) as store:
        for n in range(20):
            store.add(f"apple banana {name} {n}", id=f"{name}{n}")
        store.pending()


def _die(path):
    """Find the links, and be killed just before they are written."""
    SqlAutoLinks.put = lambda *_: os._exit(9)
    with scrubjay.open(path, profile="novamem", embedder=HashingEmbedder()) as store:
        store.add_many({"text": text, "id": id_} for id_, text in TEXTS.items())
        store.pending()


def test_who_is_killed_leaves_them_to_the_next(tmp_path):
    """NM-8: nothing half, nothing lost."""
    path = tmp_path / "n.db"
    victim = multiprocessing.get_context("spawn").Process(target=_die, args=(path,))
    victim.start()
    victim.join(60)
    assert victim.exitcode == 9

    with scrubjay.open(path, profile="novamem", embedder=HashingEmbedder()) as store:
        assert store.status().unlinked == len(TEXTS)
        assert store.pending() == 0
        assert strengths(store, "a")["b"] == pytest.approx(0.75, abs=0.01)


def test_several_processes_link_one_store(tmp_path):
    """NM-8: each memory has its three, whoever did it."""
    path = tmp_path / "n.db"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(path, name)) for name in ("left", "right")]
    for one in writers:
        one.start()
    for one in writers:
        one.join(60)
    assert [one.exitcode for one in writers] == [0, 0]

    with scrubjay.open(path, profile="novamem", embedder=HashingEmbedder()) as store:
        assert store.pending() == 0
    with sqlite3.connect(path) as db:
        counts = db.execute(
            "SELECT x.id, count(e.b) FROM memories AS x LEFT JOIN edges AS e"
            " ON e.a = x.n AND e.made = 'auto' GROUP BY x.id"
        ).fetchall()
    db.close()
    assert len(counts) == 40
    # The first few found fewer before them.
    assert sum(count < 3 for _, count in counts) <= 6
    assert all(count <= 3 for _, count in counts)

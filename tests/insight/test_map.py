"""The map of a store: what is alike lies together, and the picture holds still."""

from __future__ import annotations

from itertools import pairwise
from math import dist

import numpy as np
import pytest
from fakes import BrokenEmbedder, HashingEmbedder

import scrubjay
from scrubjay import InvalidInput, Unavailable
from scrubjay.insight.map.draw import Maps, titled
from scrubjay.insight.map.layout import laid_out

KINDS = ("kettle kitchen tea cup", "rocket orbit moon fuel", "violin concert bow string")


def filled(store: scrubjay.Store, each: int = 12) -> None:
    store.add_many(
        {"text": f"{words} {n}", "id": f"{words[0]}{n}", "type": words[0], "topics": [words[:6]]}
        for words in KINDS
        for n in range(each)
    )
    store.pending()


def drawn(store: scrubjay.Store, **given) -> dict[str, tuple[float, float]]:
    return {one.id: (one.x, one.y) for one in store.map(**given).points}


def groups(count: int, each: int, dims: int = 64) -> np.ndarray:
    """Unit vectors in groups, the members of each close together."""
    rows = np.empty((count * each, dims), np.float32)
    for at in range(len(rows)):
        # Written out: numpy's own generators may give other numbers some day.
        seeds = np.arange(dims) * 12.9898 + (at // each) * 78.233
        rows[at] = np.modf(np.sin(seeds) * 43758.5453)[0]
        rows[at] += 0.5 * np.modf(np.sin(seeds * 3.7 + at * 0.31) * 9631.17)[0]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_what_is_alike_lies_together(memory):
    """Of each memory, the nearest on the map is of its own kind; all lie in the picture."""
    filled(memory)
    found = memory.map()

    assert (found.memories, found.left_out, found.model) == (36, 0, "hashing-256")
    for one in found.points:
        others = [other for other in found.points if other.id != one.id]
        nearest = min(others, key=lambda other: dist((one.x, one.y), (other.x, other.y)))
        assert nearest.type == one.type
        assert -1 <= one.x <= 1
        assert -1 <= one.y <= 1
    assert max(abs(side) for one in found.points for side in (one.x, one.y)) == 1
    assert found.explained is not None
    assert 0 < found.explained <= 1


def test_a_point_says_what_it_is(memory):
    """Its first topic, its times, and a title of one line: how its text begins where it has none."""
    memory.add("A line\nand\tanother", id="a", topics=["tea", "cup"])
    memory.add("text", id="b", title="Long " * 30)
    memory.pending()
    a, b = memory.map().points

    assert (a.id, a.type, a.topic, a.title) == ("a", "fact", "tea", "A line and another")
    assert a.created_at == a.updated_at == memory.get("a").created_at
    assert (b.topic, len(b.title) <= 80, b.title[-1]) == (None, True, "…")
    assert titled("x" * 80) == "x" * 80
    assert titled("x" * 81) == "x" * 79 + "…"


def test_a_query_lands_among_its_nearest(memory):
    """And is told without the points, which a page has already; the state says that they hold."""
    filled(memory)
    whole = memory.map(query="rocket fuel")
    landing = memory.map(query="rocket fuel", points=False)

    assert landing == whole._replace(points=())
    assert whole.landing is not None
    assert len(whole.landing.nearest) == 10
    assert {one[0] for one in whole.landing.nearest} == {"r"}
    at = (whole.landing.x, whole.landing.y)
    near = sorted(whole.points, key=lambda one: dist((one.x, one.y), at))
    assert near[0].type == "r"
    assert memory.map().landing is None


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_few_memories_are_a_map_too(memory, count):
    """None, one in the middle, two at the ends."""
    for n in range(count):
        memory.add(f"memory {'kettle rocket violin'.split()[n]}", id=str(n))
    found = memory.map(query="kettle")

    places = [(one.x, one.y) for one in found.points]
    assert len(places) == found.memories == count
    assert found.kept is None
    assert (found.landing is None) == (count == 0)
    if count == 1:
        assert places == [(0, 0)]
    if count == 2:
        assert sorted(places) == [(-1, 0), (1, 0)]


def test_equal_texts_lie_in_one_place(memory):
    """Thirty copies, of which no axis is the longest."""
    for n in range(30):
        memory.add("the same words", id=str(n), namespace=str(n))
    memory.pending()

    assert set(drawn(memory).values()) == {(0, 0)}
    assert memory.map().explained is None


def test_the_picture_is_the_same_for_whoever_draws_it(tmp_path, embedder):
    """In another process, too: nothing is left to chance."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=embedder) as store:
        filled(store)
        before = store.map()
    with scrubjay.open(path, embedder=embedder) as store:
        assert store.map() == before


def test_what_is_there_stays_where_it_is_when_something_is_added(memory):
    """What is new lies among what it is like; what is gone is gone, and the state says so."""
    filled(memory)
    before, state = drawn(memory), memory.map().state
    memory.add("violin concert bow string once more", id="new", type="v")
    memory.forget("k3")
    after = drawn(memory)

    place = after.pop("new")
    assert after == {id_: at for id_, at in before.items() if id_ != "k3"}
    assert min(after, key=lambda id_: dist(after[id_], place))[0] == "v"
    assert memory.map().state != state


def test_a_text_that_says_something_else_moves(memory):
    """By its new vector."""
    filled(memory)
    drawn(memory)
    memory.update("k3", text="rocket orbit moon fuel 99")
    memory.pending()
    after = drawn(memory)

    place = after.pop("k3")
    assert min(after, key=lambda id_: dist(after[id_], place))[0] == "r"


def test_it_is_laid_out_once_as_long_as_nothing_changes(memory, monkeypatch):
    """A query is embedded and looked up; another store's commit is seen."""
    filled(memory)
    memory.map()
    times = []
    draw = Maps._draw
    monkeypatch.setattr(Maps, "_draw", lambda *given: times.append(1) or draw(*given))
    for query in ("kettle", "rocket", None):
        memory.map(query=query)
    assert times == []

    with scrubjay.open(memory.path, embedder=HashingEmbedder()) as other:
        other.add("written by another", id="other")
        other.pending()
    assert "other" in drawn(memory)
    assert times == [1]


def test_above_the_limit_a_fair_sample_is_drawn(memory):
    """The same every time, of every kind, and what is nearest to a query is of the sample."""
    filled(memory, each=100)
    found = memory.map(limit=60, query="violin bow")

    assert (len(found.points), found.memories) == (60, 300)
    assert drawn(memory, limit=60) == {one.id: (one.x, one.y) for one in found.points}
    each = [sum(one.type == kind for one in found.points) for kind in "krv"]
    assert min(each) >= 10
    assert found.landing is not None
    assert {one[0] for one in found.landing.nearest} == {"v"}
    assert set(found.landing.nearest) <= {one.id for one in found.points}


def test_filters_choose_what_is_drawn(memory):
    """By type, by topic, by namespace."""
    filled(memory)
    memory.add("kettle kitchen tea cup", id="there", namespace="home/cooking")
    memory.pending()

    assert {id_[0] for id_ in drawn(memory, types=["k", "r"])} == {"k", "r"}
    assert {id_[0] for id_ in drawn(memory, topics="violin")} == {"v"}
    assert list(drawn(memory, namespace="home/")) == ["there"]
    assert drawn(memory, namespace="nowhere") == {}


def test_a_person_sees_their_own(tmp_path, embedder):
    """Neither the points nor the counts tell of others."""
    path = tmp_path / "notes.db"
    for name in ("ann", "bob"):
        with scrubjay.open(path, embedder=embedder, user=name) as store:
            store.add(f"a kettle of {name}", id=name)
            store.pending()
    with scrubjay.open(path, embedder=embedder, user="ann") as ann:
        found = ann.map(query="kettle")
    assert [one.id for one in found.points] == ["ann"]
    assert (found.memories, found.left_out) == (1, 0)
    assert found.landing is not None
    assert found.landing.nearest == ("ann",)


def test_a_memory_without_a_vector_is_left_out_and_counted(tmp_path, embedder):
    """A model that is out draws what there is, and the query has no place."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=embedder) as store:
        store.add("kettle", id="a")
        store.pending()
    broken = BrokenEmbedder()
    broken.name, broken.dims = embedder.name, embedder.dims
    with scrubjay.open(path, embedder=broken) as store:
        store.add("rocket", id="b")
        found = store.map(query="kettle")

    assert [one.id for one in found.points] == ["a"]
    assert (found.memories, found.left_out, found.landing) == (1, 1, None)
    assert len(found.degraded) == 1
    assert found.degraded[0].startswith("the query has no place on the map: ")


def test_without_a_model_there_is_no_map(words_only):
    with pytest.raises(Unavailable, match="no map can be drawn: there is no embedder"):
        words_only.map()


@pytest.mark.parametrize("query", ["", "…!?", "\ud800"])
def test_a_query_without_words_has_no_place(memory, query):
    """Any text is a legal query."""
    memory.add("kettle", id="a")
    found = memory.map(query=query)

    assert (len(found.points), found.landing) == (1, None)
    assert "no word" in found.degraded[0]


@pytest.mark.parametrize(
    "given", [{"limit": 0}, {"limit": 100_001}, {"limit": 2.5}, {"query": 5}, {"points": 1}]
)
def test_wrong_arguments_are_refused(memory, given):
    with pytest.raises(InvalidInput, match=next(iter(given))):
        memory.map(**given)


def test_a_document_is_drawn_once(memory):
    """Where the mean of its passages lies."""
    filled(memory)
    memory.add("\n\n".join(f"rocket orbit moon fuel {n}" * 40 for n in range(12)), id="book")
    memory.pending()
    found = drawn(memory)

    place = found.pop("book")
    assert min(found, key=lambda id_: dist(found[id_], place))[0] == "r"


def test_a_layout_keeps_neighbours_that_axes_lose():
    """Forty groups are apart on the map; on two axes they lie over each other."""
    rows = groups(40, 15)
    layout = laid_out(rows)
    group = np.arange(len(rows)) // 15

    def of_one_group(places: np.ndarray) -> float:
        apart = ((places[:, None] - places[None]) ** 2).sum(axis=2)
        np.fill_diagonal(apart, np.inf)
        return float((group[apart.argmin(axis=1)] == group).mean())

    assert of_one_group(layout.places) > 0.95
    assert of_one_group(layout.rows[:, :2]) < 0.8
    assert layout.kept is not None
    assert layout.kept > 0.9
    assert layout.explained is not None
    assert layout.explained < 0.6


def test_others_are_put_where_they_would_be():
    """A vector that was laid out lies, asked for again, in its own place."""
    rows = groups(10, 20)
    layout = laid_out(rows)

    assert np.allclose(layout.among(rows[::7]), layout.places[::7], atol=1e-2)


def test_axes_point_one_way():
    """The order of vectors decides nothing about it."""
    rows = groups(4, 4)
    places = laid_out(rows).places
    again = laid_out(rows[::-1].copy()).places[::-1]

    assert np.allclose(places, again, atol=1e-4)
    assert all(one[0] != other[0] for one, other in pairwise(places.tolist()))

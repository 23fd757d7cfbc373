"""What every index of links does."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from backends import BACKENDS, SqliteWithFalkor, a_memory, opened, pieces
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.types import Scope

EVERYTHING = Scope()
SEEDS = ["a", "b", "c"]


@pytest.fixture(params=[*BACKENDS, "falkordb"])
def backend(request, tmp_path):
    """One empty store of each kind, and one whose links are walked by a server."""
    if request.param == "falkordb":
        url = request.getfixturevalue("falkordb_url")
        store = SqliteWithFalkor(str(tmp_path / "notes.db"), url)
    else:
        store = opened(request.param, request)
    yield store
    store.close()


@pytest.fixture
def graph(backend):
    """Eight unconnected memories; those from e on belong to somebody else."""
    for id_ in "abcdefgh":
        name = "mine" if id_ < "e" else "theirs"
        backend.records.put(a_memory(id_, namespace=name), pieces("abcd"))
    return backend.graph


def reached(graph, seed, depth=1, scope=EVERYTHING, limit=100):
    return {one.id: round(one.score, 9) for one in graph.walk([seed], scope, depth, limit)}


def test_links_are_walked_both_ways(graph):
    """Whoever was named first."""
    graph.link("a", "b", 0.5, "related")

    assert reached(graph, "a") == {"b": 0.5}
    assert reached(graph, "b") == {"a": 0.5}


def test_a_path_scores_the_product_and_a_node_its_best_path(graph):
    """Also when the longer path is the better one."""
    graph.link("a", "b", 0.9, "related")
    graph.link("b", "c", 0.9, "related")
    graph.link("a", "c", 0.5, "related")
    graph.link("c", "d", 1.0, "related")

    assert reached(graph, "a", 1) == {"b": 0.9, "c": 0.5}
    assert reached(graph, "a", 2) == {"b": 0.9, "c": 0.81, "d": 0.5}
    assert reached(graph, "a", 3) == {"b": 0.9, "c": 0.81, "d": 0.81}


def test_several_seeds_reach_the_union_and_each_other(graph):
    """NM-1: a seed does not reach itself, there and back, but a seed that another one reaches counts."""
    graph.link("a", "b", 0.5, "related")
    graph.link("b", "c", 0.8, "related")

    found = graph.walk(["a", "b"], EVERYTHING, 2, 10)

    assert [(one.id, one.score) for one in found] == [("c", 0.8), ("a", 0.5), ("b", 0.5)]


def test_best_first_ties_by_id_where_ages_are_equal_and_cut_at_the_limit(graph):
    """R-5 without an age: score, then id."""
    for id_, strength in (("d", 0.5), ("b", 0.5), ("c", 0.9)):
        graph.link("a", id_, strength, "related")

    assert [one.id for one in graph.walk(["a"], EVERYTHING, 1, 10)] == ["c", "b", "d"]
    assert [one.id for one in graph.walk(["a"], EVERYTHING, 1, 2)] == ["c", "b"]


def test_a_scope_binds_every_step(graph):
    """R-3: neither shown nor walked through."""
    graph.link("a", "e", 1.0, "related")
    graph.link("e", "b", 1.0, "related")
    graph.link("a", "c", 0.1, "related")
    mine = Scope(namespaces=("mine",))

    assert reached(graph, "a", 3, mine) == {"c": 0.1}
    assert reached(graph, "e", 3, mine) == {}
    assert reached(graph, "a", 2) == {"e": 1.0, "b": 1.0, "c": 0.1}


def test_kinds_are_apart_and_unlink_counts(graph):
    """One kind or all; linking again replaces the strength."""
    graph.link("a", "b", 0.3, "related")
    graph.link("b", "a", 0.6, "related")
    graph.link("a", "b", 0.9, "cites")

    assert reached(graph, "a") == {"b": 0.9}
    assert graph.unlink("b", "a", "cites") == 1
    assert reached(graph, "a") == {"b": 0.6}
    assert graph.unlink("a", "b", None) == 1
    assert graph.unlink("a", "b", None) == 0
    assert reached(graph, "a") == {}


def test_ties_are_broken_by_age_before_id(backend, graph):
    """R-5: the newer first."""
    newer = datetime(2027, 1, 1, tzinfo=UTC)
    backend.records.put(a_memory("d", namespace="mine", updated_at=newer), pieces("abcd"))
    for id_ in "bcd":
        graph.link("a", id_, 0.5, "related")

    found = graph.walk(["a"], EVERYTHING, 1, 10)

    assert [one.id for one in found] == ["d", "b", "c"]
    assert found[0].updated_us == newer.timestamp() * 1e6


STRENGTHS = st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0])
EDGES = st.dictionaries(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")).filter(
        lambda pair: pair[0] < pair[1]
    ),
    STRENGTHS,
    max_size=14,
)


def best_paths(edges, seed, depth):
    """Every simple path of at most so many links, multiplied out."""
    both = {**edges, **{(b, a): strength for (a, b), strength in edges.items()}}
    best, trails = {}, [(seed,)]
    for _ in range(depth):
        trails = [(*t, b) for t in trails for a, b in both if a == t[-1] and b not in t]
        for trail in trails:
            score = 1.0
            for step in pairwise(trail):
                score *= both[step]
            best[trail[-1]] = max(best.get(trail[-1], 0.0), score)
    return {id_: round(score, 9) for id_, score in best.items()}


@settings(max_examples=40)
@given(edges=EDGES, depth=st.integers(1, 3))
def test_walks_agree_with_every_path_multiplied_out(graph, edges, depth):
    """Any small graph, any depth, any seed."""
    for (a, b), strength in edges.items():
        graph.link(a, b, strength, "related")
    try:
        for seed in "abcdefgh":
            assert reached(graph, seed, depth) == best_paths(edges, seed, depth)
        of_seed = {seed: best_paths(edges, seed, depth) for seed in SEEDS}
        several = {one.id: round(one.score, 9) for one in graph.walk(SEEDS, EVERYTHING, depth, 9)}
        assert several == {
            id_: max(of[id_] for of in of_seed.values() if id_ in of)
            for id_ in "abcdefgh"
            if any(id_ in of for of in of_seed.values())
        }
    finally:
        for a, b in edges:
            graph.unlink(a, b, None)


def test_links_between_memories_are_told_once_with_who_made_them(graph):
    """Both ends chose each other: one link. What a person made it counts before what a text did."""
    graph.link("a", "b", 0.5, "related")
    graph.link("b", "c", 0.9, "supersedes")
    graph.set_text_links("c", ["d"], "mentions")
    graph.set_text_links("d", ["c"], "mentions")
    graph.link("d", "h", 1.0, "related")

    assert [tuple(one) for one in graph.between(["a", "b", "c", "d"])] == [
        ("c", "d", "mentions", 1.0, "text"),
        ("b", "c", "supersedes", 0.9, "hand"),
        ("a", "b", "related", 0.5, "hand"),
    ]
    assert [one.kind for one in graph.between(["a", "c", "d"])] == ["mentions"]
    assert graph.between([]) == graph.between(["a"]) == []


def test_links_found_by_likeness_are_told_apart(backend, graph):
    """Those of near-duplicates and those to the nearest alike."""
    with backend.db.write() as db:
        db.execute(
            "INSERT INTO edges (a, b, kind, strength, made)"
            " SELECT x.n, y.n, 'related', 0.7, 'auto' FROM memories AS x, memories AS y"
            " WHERE (x.id = 'a' AND y.id = 'b') OR (x.id = 'b' AND y.id = 'a')"
        )
    assert [tuple(one) for one in graph.between(["a", "b"])] == [
        ("a", "b", "related", 0.7, "likeness")
    ]

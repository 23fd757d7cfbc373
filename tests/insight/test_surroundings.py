"""The graph around one memory: what its links reach, and the links among these."""

from __future__ import annotations

import pytest

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.types.map import Edge, Node


def test_nodes_score_as_neighbors_do_and_all_links_among_them_are_there(words_only):
    """A link between two that are reached is drawn, though no path leads over it."""
    for id_ in "abcd":
        words_only.add(f"memory {id_}", id=id_, type="task" if id_ == "b" else "fact")
    words_only.link("a", "b", 0.5)
    words_only.link("a", "c", 0.8, "cites")
    words_only.link("c", "b", 0.1)
    words_only.link("c", "d", 0.5)

    near = words_only.surroundings("a")
    assert near.nodes == (
        Node("a", "memory a", "fact", 1.0, 0),
        Node("c", "memory c", "fact", 0.8, 1),
        Node("b", "memory b", "task", 0.5, 1),
    )
    assert near.edges == (
        Edge("a", "c", "cites", 0.8, "hand"),
        Edge("a", "b", "related", 0.5, "hand"),
        Edge("c", "b", "related", 0.1, "hand"),
    )
    further = words_only.surroundings("a", depth=2)
    assert {one.id: one.score for one in further.nodes[1:]} == {
        one.id: one.score for one in words_only.neighbors("a", depth=2)
    }
    assert further.nodes[-1][3:] == (0.4, 2)


def test_the_best_so_many_are_shown_and_the_rest_is_counted(words_only):
    """A hub may have more links than anybody can look at."""
    words_only.add("hub", id="hub")
    for n in range(9):
        words_only.add(f"leaf {n}", id=f"leaf{n}")
        words_only.link("hub", f"leaf{n}", (n + 1) / 10)
    found = words_only.surroundings("hub", limit=2)

    assert [one.id for one in found.nodes] == ["hub", "leaf8", "leaf7"]
    assert [one.b for one in found.edges] == ["leaf8", "leaf7"]
    assert found.left_out == 7


def test_a_memory_without_links_is_alone(words_only):
    words_only.add("alone", id="alone")
    found = words_only.surroundings("alone")

    assert (len(found.nodes), found.edges, found.left_out) == (1, (), 0)


def test_nothing_is_told_of_what_the_caller_may_not_see(tmp_path):
    """Neither the memory, nor a link to it, nor a way over it."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as owner:
        for id_, whose in (("a", "user:ann"), ("b", "user:bob"), ("c", "user:ann")):
            owner.add(f"memory {id_}", id=id_, namespace=whose)
        owner.link("a", "b")
        owner.link("b", "c")
        assert len(owner.surroundings("a", depth=2).nodes) == 3
    with scrubjay.open(path, embedder=False, user="ann") as ann:
        found = ann.surroundings("a", depth=3)
        assert ([one.id for one in found.nodes], found.edges, found.left_out) == (["a"], (), 0)
        with pytest.raises(NotFound):
            ann.surroundings("b")


@pytest.mark.parametrize("given", [{"depth": 4}, {"limit": 0}, {"limit": 1001}, {"limit": True}])
def test_wrong_arguments_are_refused(words_only, given):
    words_only.add("a", id="a")
    with pytest.raises(InvalidInput, match=next(iter(given))):
        words_only.surroundings("a", **given)

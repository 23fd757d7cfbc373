"""What the shell says of memories that say nearly the same."""

from __future__ import annotations

import pytest

LINE = "≈ nearly the same: "


@pytest.fixture
def stored(shell):
    """Two that mean the same to the fake model, and one that does not."""
    shell("add", "Anna orders crab at the harbour", "--id", "crab")
    shell("add", "Anna orders seafood at the harbour", "--id", "seafood")
    shell("add", "The kettle whistles", "--id", "kettle")
    return shell


@pytest.mark.parametrize("command", ["search", "vsearch", "query"])
def test_each_hit_says_which_memory_says_nearly_the_same(stored, command):
    """In a line of its own, under the hit; a hit without one has no such line."""
    said = stored(command, "Anna crab").out

    assert {line.strip() for line in said.splitlines() if LINE in line} == {
        f"{LINE}seafood",
        f"{LINE}crab",
    }
    assert LINE not in stored(command, "kettle whistles", "--limit", "1").out


def test_the_json_of_a_search_has_them(stored):
    """As ids, nearest first."""
    hits = stored("query", "--json", "Anna crab").json["hits"]

    alike = {hit["id"]: hit["near_duplicates"] for hit in hits}
    assert alike["crab"] == ["seafood"]
    assert alike["seafood"] == ["crab"]
    assert alike.get("kettle", []) == []


def test_markdown_has_them(stored):
    """Among the facts of a hit and of a memory."""
    assert f"{LINE}`seafood`" in stored("query", "--md", "Anna crab").out
    assert f"{LINE}`seafood`" in stored("get", "--md", "crab").out
    assert LINE not in stored("get", "--md", "kettle").out


def test_get_tells_them_from_links_that_somebody_made(stored):
    """Each on a line of its own."""
    stored("link", "crab", "kettle")

    lines = stored("get", "crab").out.splitlines()

    assert f"{LINE}seafood" in lines
    assert "links: kettle (related 1)" in lines

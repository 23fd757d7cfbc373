"""`history` and `undo` at the shell."""

from __future__ import annotations

import pytest


@pytest.fixture
def changed(shell):
    shell("add", "The kettle whistles", "--id", "kettle", "--topic", "kitchen")
    shell("update", "kettle", "The kettle sings", "--title", "Song")
    shell("done", "kettle")
    return shell


def test_history_shows_each_version_with_its_time_and_what_changed(changed):
    """By the beginning of the id; each text once, at the newest version that has it."""
    shown = changed("history", "kett")

    assert (shown.code, shown.err) == (0, "")
    done, edited, created = shown.out.rstrip().split("\n\n")
    assert done.splitlines()[0].endswith("  done")
    assert done.splitlines()[1:] == ["  type: fact_done", "The kettle sings"]
    assert edited.splitlines()[1:] == ["  title: Song"]
    assert created.splitlines()[0].endswith("  created")
    assert created.splitlines()[1:] == ["The kettle whistles"]
    versions = changed("history", "kettle", "--json").json
    assert versions["id"] == "kettle"
    assert [one["text"] for one in versions["versions"]] == [
        *("The kettle sings", "The kettle sings", "The kettle whistles")
    ]


def test_undo_prints_what_it_changed_back(changed):
    """From what, to what; then the change before it."""
    first = changed("undo", "kett", "--no-embed")
    assert first.code == 0
    assert first.out == "undone kettle\ntype: fact_done → fact\n"
    second = changed("undo", "kettle", "--no-embed")
    assert second.out.splitlines() == [
        *("undone kettle", "text: The kettle sings → The kettle whistles", "title: Song → (none)")
    ]
    again = changed("undo", "kettle")
    assert (again.code, again.out) == (3, "")
    assert "no change to undo" in again.err


def test_undo_as_json_names_the_fields(changed):
    """With the memory as it is now."""
    done = changed("undo", "kettle", "--json").json
    assert (done["changed"], done["memory"]["type"]) == (["type"], "fact")


@pytest.mark.parametrize("command", ["history", "undo"])
def test_an_id_that_does_not_exist_is_said(changed, command):
    said = changed(command, "nothing-there")
    assert said.code == 3
    assert "no memory has the id 'nothing-there'" in said.err


def test_a_user_is_named(shell):
    """In the lines of a version."""
    shell("add", "one", "--id", "mine", "--user", "ann")
    shell("update", "mine", "two", "--user", "ann")
    assert "edited by ann" in shell("history", "mine", "--user", "ann").out

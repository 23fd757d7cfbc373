"""`scrubjay files`: memories as text files, from the shell."""

from __future__ import annotations

import pytest


@pytest.fixture
def run(shell):
    def command(*words, stdin=""):
        done = shell("files", *words, stdin=stdin)
        return done.code, done.out

    return command


def test_a_file_is_made_edited_found_and_taken_back(run):
    """Issue 27, item 3: the words of the library."""
    assert run("create", "/memories/plan.md", "buy tea\n")[0] == 0
    assert "     1\tbuy coffee" in run("replace", "/memories/plan.md", "tea", "coffee")[1]
    assert "version 3" in run("insert", "/memories/plan.md", "1", "-", stdin="buy milk")[1]

    assert run("view", "/memories/plan.md", "--lines", "2")[1].endswith("     2\tbuy milk\n")
    assert "20B\t/memories/plan.md" in run()[1]
    assert "/memories/plan.md" in run("search", "coffee")[1]
    assert run("search", "coffee", "/memories/plan.md")[0] == 0
    assert run("history", "/memories/plan.md")[1].count("edited") == 2
    assert run("rename", "/memories/plan.md", "/memories/a/plan.md")[0] == 0
    assert run("undo", "/memories/a/plan.md")[0] == 0
    assert "/memories/plan.md" in run("view")[1]


def test_nothing_is_deleted_without_a_yes(run):
    run("create", "/memories/a", "tea")

    assert run("delete", "/memories/a")[0] == 2
    assert run("view", "/memories/a")[0] == 0
    assert run("delete", "/memories/a", "--yes")[0] == 0
    assert run("view", "/memories/a")[0] == 3


def test_a_stale_version_and_a_path_outside_are_wrong_usage(run):
    """Issue 27, item 3: compare-and-set, and no way out of /memories."""
    run("create", "/memories/a", "tea")
    run("write", "/memories/a", "coffee")

    assert run("write", "/memories/a", "milk", "--version", "1")[0] == 2
    assert run("create", "/memories/../etc", "x")[0] == 2
    assert "coffee" in run("view", "/memories/a")[1]

"""`topics`, `done` and `undone` at the shell."""

from __future__ import annotations

import pytest


@pytest.fixture
def filled(shell):
    """A shell with three memories."""
    shell("add", "Boils at six", "--id", "kettle", "--topic", "tea", "--topic", "kitchen")
    shell("add", "Buy leaves", "--id", "leaves", "--type", "task", "--topic", "tea")
    shell("add", "Elsewhere", "--id", "other", "--namespace", "work", "--topic", "office")
    return shell


class TestTopics:
    def test_they_are_listed_most_used_first(self, filled):
        """With how many memories have each."""
        said = filled("topics")
        assert (said.code, said.err) == (0, "")
        assert [line.split() for line in said.out.splitlines()] == [
            ["topic", "memories"],
            ["tea", "2"],
            ["kitchen", "1"],
            ["office", "1"],
        ]
        (_, first) = filled("topics", "list", "-n", "1").out.splitlines()
        assert first.split() == ["tea", "2"]
        only = filled("topics", "--namespace", "work", "--json").json
        assert only == {
            "topics": [{"topic": "office", "memories": 1}],
            "done": "listed",
            "memories": 0,
        }

    def test_none_is_code_3(self, shell):
        """And says how to give one."""
        shell("add", "x")
        said = shell("topics")
        assert said.code == 3
        assert "--topic" in said.out

    def test_one_is_renamed(self, filled):
        """Onto another it joins it."""
        said = filled("topics", "rename", "tea", "kitchen")
        assert (said.code, said.out) == (0, "renamed tea to kitchen  2 memories\n")
        assert filled("topics", "--json").json["topics"][0] == {"topic": "kitchen", "memories": 2}
        assert filled("topics", "rename", "office", "desk", "--json").json["memories"] == 1

    @pytest.mark.parametrize(
        ("words", "code", "says"),
        [
            (["rename", "tea"], 2, "scrubjay topics rename OLD NEW"),
            (["list", "tea"], 2, "scrubjay topics list"),
            (["rename", "tea", "x", "-n", "3"], 2, "goes with list"),
            (["rename", "tea", ""], 2, "neither may be empty"),
            (["rename", "coffee", "tea"], 3, "no memory has the topic 'coffee'"),
            (["-n", "0"], 2, "must be a whole number of 1 or more"),
            (["burn"], 2, "invalid choice"),
        ],
    )
    def test_wrong_usage_says_what_is_right(self, filled, words, code, says):
        """On one line, with the exit code of its kind."""
        said = filled("topics", *words)
        assert said.code == code
        assert says in said.err


class TestDone:
    def test_marks_and_takes_marks_away(self, filled):
        """The beginning of an id is enough."""
        said = filled("done", "leav")
        assert said.code == 0
        assert "task_done" in said.out
        back = filled("undone", "leaves", "--json").json
        assert [one["type"] for one in back["memories"]] == ["task"]
        assert (back["changed"], back["missing"]) == (["leaves"], [])

    def test_what_is_not_there_is_named_and_the_rest_is_marked(self, filled):
        """Code 3, as for `get`."""
        said = filled("done", "nothing-there", "leaves", "kettle", "--json")
        assert said.code == 3
        assert said.json["missing"] == ["nothing-there"]
        assert said.json["changed"] == ["leaves", "kettle"]
        assert "nothing-there" in said.err
        assert filled("done", "leaves", "--json").json["changed"] == []

    def test_without_an_id_it_is_wrong_usage(self, filled):
        """It says what is missing."""
        said = filled("done")
        assert said.code == 2
        assert "id" in said.err


def test_deep_is_a_mode_of_gnosis_and_of_no_other(shell):
    """GS-1: two words or more; another profile says which modes it has."""
    shell("add", "The billing service keeps invoices", "--topic", "billing")
    found = shell("query", "billing", "invoices", "--profile", "gnosis", "--deep", "--json")
    broad = shell("query", "billing", "--profile", "gnosis", "--deep")
    other = shell("query", "billing", "--deep")

    assert [hit["text"] for hit in found.json["hits"]] == ["The billing service keeps invoices"]
    assert broad.code == 2
    assert "add another word, or use" in broad.err
    assert other.code == 2
    assert "profile default has no mode 'deep'; its modes are default, fast" in other.err


def test_get_shows_what_became_of_a_memory(filled):
    """When it was done, and done no more."""
    assert filled("get", "leaves", "--json").json["history"] == {}
    filled("done", "leaves")
    filled("undone", "leaves")
    shown = filled("get", "leaves").out
    assert "\nundone, just now" in shown
    assert "\ndone, just now" in shown
    versions = filled("get", "leaves", "--json").json["history"]["leaves"]
    assert [one["what"] for one in versions] == ["undone", "done", "created"]

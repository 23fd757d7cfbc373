"""`landscape` at the shell."""

from __future__ import annotations

import pytest


@pytest.fixture
def filled(shell):
    """A shell with four memories."""
    at = ("--at", "2026-05-03")
    shell("add", "Prefers tea", "--id", "tea", "--type", "preference", "--topic", "kitchen", *at)
    shell("add", "Buy leaves", "--id", "leaves", "--type", "task", "--topic", "kitchen", *at)
    shell("add", "Renew", "--id", "cert", "--type", "task", "--namespace", "work", *at)
    shell("add", "Boils at six", "--id", "kettle", *at)
    return shell


def test_the_text_is_printed(filled):
    """And nothing else, so that it can be pasted."""
    said = filled("landscape")

    assert (said.code, said.err) == (0, "")
    assert said.out == (
        "4 memories: task (2), fact (1), preference (1)\n"
        "Topics to search by: kitchen (2)\n"
        "Preferences:\n"
        "- 2026-05-03 [tea] Prefers tea (kitchen)\n"
        "Open tasks:\n"
        "- 2026-05-03 [cert] Renew\n"
        "- 2026-05-03 [leaves] Buy leaves (kitchen)\n"
    )


def test_what_is_done_is_not_open(filled):
    """The landscape follows `done`."""
    filled("done", "leaves")
    said = filled("landscape", "--json").json

    assert [one["id"] for one in said["tasks"]] == ["cert"]
    assert said["types"] == {"fact": 1, "preference": 1, "task": 1, "task_done": 1}


def test_tokens_and_namespace_narrow_it(filled):
    """The budget is the one that was asked for."""
    for n in range(60):
        filled("add", f"Do {n}", "--type", "task", "--no-embed")
    said = filled("landscape", "--tokens", "60", "--json").json

    assert (said["tokens"], said["memories"]) == (60, 64)
    assert said["token_estimate"] <= 60
    assert said["left_out"]["tasks"] == 62 - len(said["tasks"])
    only = filled("landscape", "--namespace", "work", "--json").json
    assert [one["id"] for one in only["tasks"]] == ["cert"]
    assert only["memories"] == 1


def test_nothing_stored_is_code_3(shell):
    """As with `ls`; a store that is there and empty says what to do."""
    assert shell("landscape").code == 3
    shell("add", "x", "--id", "x")
    shell("forget", "x", "--yes")
    said = shell("landscape")

    assert (said.code, said.err) == (3, "")
    assert "scrubjay add TEXT" in said.out
    assert shell("landscape", "--json").json["memories"] == 0


@pytest.mark.parametrize("tokens", ["49", "0", "-3", "many"])
def test_a_wrong_budget_is_wrong_usage(filled, tokens):
    """It says what would be right."""
    said = filled("landscape", "--tokens", tokens)

    assert (said.code, said.out) == (2, "")
    assert "50 or more" in said.err or "invalid int value" in said.err


def test_a_stored_text_cannot_take_over_the_terminal(filled):
    """Escape sequences are shown, not obeyed."""
    filled("add", "Likes \x1b[31mred", "--id", "red\x1b[2J", "--type", "preference")
    said = filled("landscape")

    assert "\x1b" not in said.out
    assert "red" in said.out

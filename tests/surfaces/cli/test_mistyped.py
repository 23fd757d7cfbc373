"""Mistyped options and commands: the message names the one that was probably meant."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("query x --limt 3", "--limit"),
        ("query x --limits=3", "--limit"),
        ("query x --sicne yesterday", "--since"),
        ("add x --titel Tea", "--title"),
        ("serve --prot 3", "--port"),
        ("--jsn query x", "--json"),
        ("qurey x", "query"),
        ("key creat x", "create"),
    ],
)
def test_the_nearest_is_suggested(bare_shell, line, meant):
    """Options, commands and actions alike."""
    done = bare_shell(*line.split())

    assert done.code == 2
    assert f"did you mean {meant!r}?" in done.err
    assert "write -- before" not in done.err


def test_what_resembles_nothing_has_no_suggestion(bare_shell):
    """It may be a text, or an option in the wrong place."""
    assert "write -- before a text" in bare_shell("query", "x", "--zzzz").err
    assert "stand after the command" in bare_shell("--limit", "3", "query", "x").err


def test_the_new_text_follows_the_id(shell):
    """As the text follows `add`; twice is a mistake."""
    id_ = shell("add", "The kettle whistles", "--json").json["memory"]["id"]

    assert shell("update", id_, "The", "lid rattles").code == 0
    assert shell("get", id_, "--json").json["memories"][0]["text"] == "The lid rattles"
    assert shell("update", id_, "A text", "--title", "Lid").code == 0
    assert "given twice" in shell("update", id_, "A text", "--text", "B").err
    assert "right after the id" in shell("update", id_, "--title", "Lid", "A text").err


def test_a_path_says_in_which_form_to_export(shell, tmp_path):
    """A .jsonl file or a folder; anything else is asked back."""
    shell("add", "The kettle whistles")
    file, folder = tmp_path / "out.jsonl", tmp_path / "notes"
    folder.mkdir()

    assert shell("export", str(file)).code == 0
    assert json.loads(file.read_text("utf-8"))["text"] == "The kettle whistles"
    assert shell("export", str(folder)).code == 0
    assert list(folder.rglob("*.md"))
    assert "whistles" in shell("export", "-").out
    unclear = shell("export", str(tmp_path / "out"))
    assert unclear.code == 2
    assert "--jsonl" in unclear.err
    assert "--md" in unclear.err
    assert "one place" in shell("export", str(file), "--md", str(folder)).err


def test_the_help_of_forget_says_when_it_does_not_ask(bare_shell):
    """A script deletes by id at once."""
    assert "without asking" in " ".join(bare_shell("forget", "--help").out.split())

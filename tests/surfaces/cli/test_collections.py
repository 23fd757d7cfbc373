"""`collections`: listed, renamed, removed, and never by a typing error."""

from __future__ import annotations

import pytest

OK, FAILED, USAGE, NOTHING = 0, 1, 2, 3


@pytest.fixture
def shelves(shell, tmp_path):
    """A shell with a collection of two files and one of a memory by hand."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Alpha\n\nThe kettle whistles.\n", encoding="utf-8")
    (notes / "b.md").write_text("# Bravo\n\nThe teapot is cracked.\n", encoding="utf-8")
    shell("ingest", str(notes))
    shell("add", "The samovar hums", "--collection", "kitchen", "--id", "samovar")
    return shell


def names(shell) -> list[str]:
    return [one["name"] for one in shell("collections", "--json").json["collections"]]


def test_the_list_says_what_is_in_each_and_where_it_came_from(shelves, tmp_path):
    """Names, counts, folders, and when it was read."""
    done = shelves("collections")

    head, kitchen, notes = done.out.splitlines()
    assert done.code == OK
    assert head.split() == ["name", "memories", "documents", "last", "indexed", "folders"]
    assert kitchen.split() == ["kitchen", "1", "0"]
    assert notes.split() == ["notes", "2", "2", "just", "now", str(tmp_path / "notes")]


def test_json_has_the_same(shelves, tmp_path):
    """Counts are numbers, folders a list."""
    done = shelves("collections", "--json").json

    kitchen, notes = done["collections"]
    assert (done["done"], done["memories"]) == ("listed", 0)
    assert (kitchen["memories"], kitchen["documents"], kitchen["folders"]) == (1, 0, [])
    assert notes["folders"] == [str(tmp_path / "notes")]


def test_no_collection_is_code_three_and_says_what_makes_one(shell):
    """An empty list is nothing found."""
    shell("add", "The kettle whistles")

    done = shell("collections")

    assert done.code == NOTHING
    assert "scrubjay ingest PATH" in done.out


def test_a_collection_gets_another_name_and_keeps_everything(shelves):
    """Searches take the new name, and later runs follow it."""
    done = shelves("collections", "rename", "notes", "wiki")

    assert done.code == OK
    assert done.out == "renamed notes to wiki  2 memories\n"
    assert names(shelves) == ["kitchen", "wiki"]
    assert shelves("search", "kettle", "--collection", "wiki").code == OK
    assert shelves("search", "kettle", "--collection", "notes").code == NOTHING
    assert "2 unchanged" in shelves("ingest").out
    assert names(shelves) == ["kitchen", "wiki"]


def test_a_name_that_is_taken_is_refused(shelves):
    """Two collections do not become one by a typing error."""
    done = shelves("collections", "rename", "notes", "kitchen")

    assert done.code == USAGE
    assert "kitchen" in done.err
    assert names(shelves) == ["kitchen", "notes"]


@pytest.mark.parametrize("words", [["rename", "ntoes", "wiki"], ["remove", "ntoes", "--yes"]])
def test_an_unknown_name_is_code_three_with_the_nearest(shelves, words):
    """What was meant is usually one letter away."""
    done = shelves("collections", *words)

    assert done.code == NOTHING
    assert "did you mean: notes;" in done.err
    assert names(shelves) == ["kitchen", "notes"]


def test_remove_shows_what_would_go_and_wants_a_yes(shelves):
    """Off a terminal nobody can be asked, so nothing is removed."""
    done = shelves("collections", "remove", "notes")

    assert done.code == USAGE
    assert done.out == ""
    assert "notes  2         2" in done.err
    assert "--yes" in done.err
    assert shelves("search", "kettle").code == OK
    kept = shelves("collections", "remove", "notes", "--json")
    assert (kept.code, kept.json["done"], kept.json["memories"]) == (USAGE, "kept", 0)


def test_remove_with_yes_forgets_all_that_is_in_it_and_no_file(shelves, tmp_path):
    """The folder is not followed any more, and its files stay."""
    done = shelves("collections", "remove", "notes", "--yes")

    assert done.code == OK
    assert done.out == "removed 2 memories  the files themselves are kept\n"
    assert names(shelves) == ["kitchen"]
    assert shelves("search", "kettle").code == NOTHING
    assert shelves("ls", "--coverage").code == NOTHING
    assert shelves("ingest").code == USAGE
    assert (tmp_path / "notes" / "a.md").exists()


@pytest.mark.parametrize(("answer", "left"), [("y\n", 1), ("n\n", 2), ("\n", 2), ("", 2)])
def test_remove_asks_on_a_terminal(shelves, answer, left):
    """Only a yes is a yes."""
    done = shelves("collections", "remove", "notes", keyboard=answer)

    assert "Remove notes with 2 memories for good? [y/N]" in done.err
    assert done.code == (OK if left == 1 else USAGE)
    assert len(names(shelves)) == left


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rename"], "collections rename NAME NEW_NAME"),
        (["rename", "notes"], "collections rename NAME NEW_NAME"),
        (["remove"], "collections remove NAME"),
        (["remove", "notes", "kitchen"], "collections remove NAME"),
        (["list", "notes"], "scrubjay collections"),
        (["--yes"], "--yes goes with remove"),
        (["notes"], "invalid choice"),
        (["rename", "notes", " "], "name"),
    ],
)
def test_wrong_words_are_answered_with_the_right_ones(shelves, words, said):
    """And nothing is changed."""
    done = shelves("collections", *words)

    assert done.code == USAGE
    assert said in done.err
    assert names(shelves) == ["kitchen", "notes"]


def test_looking_never_makes_a_store(shell, tmp_path):
    """A typing error in --db leaves no file behind."""
    there = tmp_path / "typo.db"

    assert shell("collections", "--db", str(there)).code == NOTHING
    assert not there.exists()

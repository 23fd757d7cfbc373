"""`ls --coverage`: each file that was met is there, with what became of it."""

from __future__ import annotations

import pytest

OK, FAILED, USAGE, NOTHING = 0, 1, 2, 3


@pytest.fixture
def covered(shell, tmp_path, monkeypatch):
    """A shell beside a folder with an indexed file, a binary one, and one that cannot be read."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Alpha\n\nThe kettle whistles.\n", encoding="utf-8")
    (notes / "b.md").write_bytes(b"\x80\x81\x00\x01" * 100)
    (notes / "c.pdf").write_bytes(b"%PDF-1.7\nnot really\n")
    monkeypatch.chdir(tmp_path)
    shell("ingest", "notes")
    return shell


def test_every_file_is_listed_failed_ones_first_with_reason_or_id(covered):
    """One line a file, and a line that counts them."""
    done = covered("ls", "--coverage")

    lines = done.out.splitlines()
    assert done.code == OK
    assert [line.split()[:2] for line in lines[:-1]] == [
        ["failed", "notes/c.pdf"],
        ["skipped", "notes/b.md"],
        ["indexed", "notes/a.md"],
    ]
    assert lines[1].endswith("binary, not text")
    assert covered("get", lines[2].split()[-1]).code == OK
    assert lines[-1] == "1 indexed, 1 skipped, 1 failed"


def test_a_path_outside_the_current_folder_is_whole(covered, tmp_path, monkeypatch):
    """It can be opened from here."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert f"indexed  {tmp_path / 'notes' / 'a.md'}  " in covered("ls", "--coverage").out


@pytest.mark.parametrize("state", ["indexed", "skipped", "failed"])
def test_a_state_narrows_the_list(covered, state):
    """Only those, and only those counted."""
    done = covered("ls", "--coverage", "--state", state, "--json").json

    assert [one["state"] for one in done["files"]] == [state]
    assert {name for name, count in done["counts"].items() if count} == {state}


def test_a_collection_and_a_namespace_narrow_the_list(covered, tmp_path):
    """What is elsewhere is not shown."""
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "w.md").write_text("# Wiki\n", encoding="utf-8")
    covered("ingest", "wiki", "--namespace", "team")

    by_collection = covered("ls", "--coverage", "--collection", "wiki", "--json").json
    by_namespace = covered("ls", "--coverage", "--namespace", "team", "--json").json

    assert [one["path"] for one in by_collection["files"]] == [str(tmp_path / "wiki" / "w.md")]
    assert by_namespace == by_collection
    assert covered("ls", "--coverage", "--namespace", "nobody").code == NOTHING


def test_all_are_listed_unless_a_limit_is_given(covered, tmp_path):
    """The limit of memories is not one of files; the counts are of all."""
    for number in range(60):
        (tmp_path / "notes" / f"n{number}.md").write_text(f"# Note {number}\n", encoding="utf-8")
    covered("ingest", "notes")

    every = covered("ls", "--coverage", "--json").json
    some = covered("ls", "--coverage", "-n", "2", "--offset", "1", "--json").json

    assert len(every["files"]) == 63
    assert some["files"] == every["files"][1:3]
    assert some["counts"] == {"indexed": 61, "skipped": 1, "failed": 1}


def test_nothing_read_so_far_is_code_three_and_says_how_to_begin(shell):
    """A memory without a file is not covered."""
    shell("add", "The kettle whistles")

    done = shell("ls", "--coverage")

    assert done.code == NOTHING
    assert "scrubjay ingest PATH" in done.out
    assert shell("ls", "--coverage", "--json").json["files"] == []


def test_no_file_of_a_state_is_another_answer_than_no_file_at_all(shell, tmp_path):
    """That nothing failed is good news."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Alpha\n", encoding="utf-8")
    shell("ingest", str(tmp_path / "notes"))

    done = shell("ls", "--coverage", "--state", "failed")

    assert done.code == NOTHING
    assert done.out == "No ingested file matches.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--state", "failed"], "--state goes with --coverage"),
        (["--coverage", "--topic", "x"], "--topic does not go with --coverage"),
        (["--coverage", "--type", "x"], "--type does not go with --coverage"),
        (["--coverage", "-n", "0"], "limit"),
        (["--coverage", "--offset", "-1"], "offset"),
        (["--coverage", "--state", "lost"], "invalid choice"),
    ],
)
def test_what_does_not_go_together_is_refused(covered, words, said):
    """Nothing is ignored silently."""
    done = covered("ls", *words)

    assert done.code == USAGE
    assert said in done.err

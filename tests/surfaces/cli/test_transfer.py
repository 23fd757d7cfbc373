"""`export` and `import` at the shell."""

from __future__ import annotations

import json
import os
from datetime import datetime

import pytest

from scrubjay.write.import_export.import_entries import checked_sources


@pytest.fixture
def stocked(shell):
    shell(
        "add", "The kettle whistles", "--id", "kettle", "--topic", "kitchen", "--title", "Kettle"
    )
    shell("add", "The teapot is cracked", "--id", "teapot", "--type", "task")
    shell("link", "kettle", "teapot")
    return shell


def test_lines_go_to_standard_output(stocked):
    """One memory a line and nothing else, so that it can be piped."""
    done = stocked("export")

    assert (done.code, done.err) == (0, "")
    first, second = map(json.loads, done.out.splitlines())
    assert (first["id"], first["text"], first["topics"]) == (
        *("kettle", "The kettle whistles"),
        ["kitchen"],
    )
    assert (second["id"], second["type"]) == ("teapot", "task")
    assert datetime.fromisoformat(first["created_at"]).tzinfo is not None
    assert stocked("export", "--jsonl", "-").out == done.out


def test_lines_can_be_piped_into_another_store(stocked, tmp_path):
    """And are the same there."""
    lines = stocked("export").out

    done = stocked("import", "-", "--db", str(tmp_path / "other.db"), stdin=lines)

    assert (done.code, done.out) == (0, "imported  2 new\n")
    assert stocked("export", "--db", str(tmp_path / "other.db")).out == lines
    found = stocked("vsearch", "whistles", "--db", str(tmp_path / "other.db"), "--json").json
    assert found["hits"][0]["id"] == "kettle"


def test_a_folder_there_and_back(stocked, tmp_path):
    """It says what was written; again, that nothing was."""
    out = str(tmp_path / "out")

    assert stocked("export", "--md", out).out == f"{out}  2 entries: 2 written\n"
    assert stocked("export", "--md", out).out == f"{out}  2 entries: 2 unchanged\n"
    assert sorted(os.listdir(out)) == ["kettle.md", "teapot.md"]
    assert stocked("import", out).out == "imported  2 unchanged\n"
    stocked("forget", "teapot", "--yes")
    assert stocked("import", out, "--dry-run").out == "would import  1 new, 1 changed\n"
    assert stocked("import", out).out == "imported  1 new, 1 changed\n"
    stocked("forget", "teapot", "--yes")
    told = f"{out}  1 entry: 1 written, 1 removed\n"
    assert stocked("export", "--md", out, "--prune").out == told
    assert os.listdir(out) == ["kettle.md"]


def test_a_file_of_lines(stocked, tmp_path):
    """Chosen by type, replaced only where it was one."""
    file = str(tmp_path / "some.jsonl")

    assert stocked("export", "--jsonl", file, "--type", "task").out == f"{file}  1 entry\n"
    (tmp_path / "other.jsonl").write_text("a letter\n")
    refused = stocked("export", "--jsonl", str(tmp_path / "other.jsonl"))
    assert refused.code == 2
    assert "--force" in refused.err
    assert stocked("export", "--jsonl", str(tmp_path / "other.jsonl"), "--force").code == 0


def test_bad_files_are_named_and_the_others_taken(stocked, tmp_path):
    """The exit code says that something failed."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "bad.md").write_text("---\nseverity: high\n---\n\nText.\n")
    (folder / "good.md").write_text("---\nid: good\nlinks: [gone]\n---\n\nFine.\n")

    done = stocked("import", str(folder))

    assert done.code == 1
    assert done.out.splitlines() == [
        "imported  1 new, 1 failed",
        f"  {folder / 'bad.md'}: severity is 'high'; it must be one of critical, warning, suggestion",
        f"  {folder / 'good.md'}: no memory has the id 'gone'; imported without this link",
    ]
    assert stocked("get", "good").code == 0
    told = stocked("import", str(folder), "--json")
    assert told.code == 1
    assert [one["path"] for one in told.json["failed"]] == [str(folder / "bad.md")]


def test_very_many_bad_files_do_not_fill_the_screen(stocked):
    """All of them are in the JSON."""
    lines = "x\n" * 100

    done = stocked("import", "-", stdin=lines)

    assert len(done.out.splitlines()) == 22
    assert done.out.splitlines()[-1] == "  … and 80 others: --json lists all"
    assert len(stocked("import", "-", "--json", stdin=lines).json["failed"]) == 100


def test_a_rehearsal_makes_no_store(shell, home, tmp_path):
    """Nor does a path that is not there."""
    (tmp_path / "a.md").write_text("Text.\n")

    assert shell("import", str(tmp_path / "a.md"), "--dry-run").out == "would import  1 new\n"
    assert shell("import", str(tmp_path / "nowhere")).code == 2
    assert not (home / "data").exists() or os.listdir(home / "data") == []
    assert shell("import", str(tmp_path / "a.md")).out == "imported  1 new\n"


def test_entries_can_be_put_elsewhere(stocked, tmp_path):
    """Into a collection, or a namespace."""
    (tmp_path / "a.md").write_text("---\nid: aaaa\n---\n\nText.\n")

    stocked("import", str(tmp_path / "a.md"), "--collection", "notes", "--namespace", "work")

    (found,) = stocked("get", "aaaa", "--json").json["memories"]
    assert (found["namespace"], found["collection"]) == ("work", "notes")


def test_a_person_exports_what_is_theirs(shell, tmp_path):
    """`--user`, as everywhere."""
    shell("add", "Ann's own", "--id", "anns", "--user", "ann")
    shell("add", "Ben's own", "--id", "bens", "--user", "ben")

    assert [
        json.loads(line)["id"] for line in shell("export", "--user", "ben").out.splitlines()
    ] == ["bens"]
    out = str(tmp_path / "out")
    shell("export", "--md", out, "--user", "ann")
    assert os.listdir(out) == ["anns.md"]
    refused = shell("import", out, "--user", "ben")
    assert refused.code == 1
    assert "namespace" in refused.out


def test_nothing_to_export_is_said_by_the_exit_code(stocked, tmp_path):
    """Three, as for a search without a hit."""
    assert stocked("export", "--type", "none").code == 3
    assert stocked("export", "--md", str(tmp_path / "out"), "--topic", "none").code == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["export", "--prune"], "--prune goes with --md"),
        (["export", "--md", "a", "--jsonl", "b"], "not allowed with"),
        (["import"], "required: path"),
        (["import", "notes.txt"], "no file or folder"),
    ],
)
def test_wrong_usage_is_named(stocked, words, says):
    """With what would be right."""
    done = stocked(*words)

    assert done.code == 2
    assert says in done.err


def test_a_note_of_ingest_is_shown(shell, tmp_path):
    """The file is read; what could not be taken of it is said."""
    (tmp_path / "a.md").write_text("---\nseverity: high\n---\n\nText.\n")

    done = shell("ingest", str(tmp_path / "a.md"))

    assert done.code == 0
    assert "severity is 'high', not one of" in done.out


def test_a_stream_is_a_source():
    """It needs no name on disk."""
    import io

    stream = io.StringIO("")
    assert checked_sources([stream]) == [stream]

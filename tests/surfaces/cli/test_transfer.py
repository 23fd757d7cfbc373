"""`export` and `import` at the shell."""

from __future__ import annotations

import json
import os
from datetime import datetime

import pytest
from foreign_formats import MEM0, as_json

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


class TestOtherProducts:
    """`import --from` and `export --to`."""

    @pytest.fixture
    def mem0(self, tmp_path):
        return as_json(tmp_path / "mem0.json", MEM0)

    def test_a_dry_run_counts_each_file_and_makes_no_store(self, bare_shell, mem0, tmp_path):
        before = sorted(os.listdir(tmp_path))
        done = bare_shell("import", "--from", "mem0", str(mem0), "--dry-run")
        assert (done.code, done.err) == (0, "")
        assert "would import" in done.out
        assert f"{mem0}: 3 new" in done.out
        assert sorted(os.listdir(tmp_path)) == before

    def test_json_has_the_files_and_what_failed(self, bare_shell, mem0):
        """The rest is imported; the exit code says that something was not."""
        mem0.write_text(mem0.read_text().replace('"Has a cat"', "null"))
        done = bare_shell("import", "--from", "mem0", str(mem0), "--no-embed", "--json")
        shape = json.loads(done.out)
        assert (done.code, shape["added"], shape["dry_run"]) == (1, 2, False)
        assert [one["path"].startswith(f"{mem0}:") for one in shape["failed"]] == [True]
        assert shape["files"][0]["path"] == str(mem0)
        assert (shape["files"][0]["added"], shape["files"][0]["failed"]) == (2, 1)

    def test_an_unknown_name_or_path_is_wrong_usage(self, bare_shell, mem0):
        assert "mem0" in bare_shell("import", "--from", "memo", str(mem0)).err
        assert bare_shell("import", "--from", "mem0", "missing.json").code == 2

    def test_what_is_exported_to_a_form_is_written_in_it(self, bare_shell, mem0, tmp_path):
        bare_shell("import", "--from", "mem0", str(mem0), "--no-embed")
        out = tmp_path / "out.json"
        assert bare_shell("export", "--to", "mem0", str(out)).code == 0
        assert len(json.loads(out.read_text())["results"]) == 3
        assert json.loads(bare_shell("export", "--to", "mem0").out) == json.loads(out.read_text())
        assert len(json.loads(bare_shell("export", "--to", "mem0", "--json").out)["memories"]) == 3
        assert len(bare_shell("export", "--to", "jsonl").out.splitlines()) == 3
        assert bare_shell("export", "--to", "md").code == 2
        assert bare_shell("export", "--to", "md", str(tmp_path / "notes")).code == 0
        assert len(list((tmp_path / "notes").iterdir())) == 3

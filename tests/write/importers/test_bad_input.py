"""Broken, unknown and endless files: what cannot be read is named, and the rest is imported."""

from __future__ import annotations

import io
import json
import os
import tracemalloc

import pytest
from foreign_formats import CHATGPT, CLAUDE_CODE, GRAPH, MEM0, as_json, lines, write_all

from scrubjay import InvalidInput
from scrubjay.write.importers import json_lines, json_list, run
from scrubjay.write.importers.json_list import entries_in
from scrubjay.write.importers.record import Broken


def values_in(data):
    return [entry.value for entry in entries_in(io.BytesIO(data), "f") if hasattr(entry, "value")]


def broken_in(data):
    return [
        entry.where for entry in entries_in(io.BytesIO(data), "f") if isinstance(entry, Broken)
    ]


LINE_FEED = b"\n"


class TestLists:
    OBJECTS = [  # noqa: RUF012
        {"id": n, "text": 'a"b\\{[}] \\' * n, "deep": [{"x": [1, {}]}]} for n in range(9)
    ]

    @pytest.mark.parametrize("part", [1, 7, 1000])
    @pytest.mark.parametrize("indent", [None, 1])
    def test_objects_come_back_whatever_the_parts_that_are_read(self, part, indent, monkeypatch):
        monkeypatch.setattr(json_list, "_PART_BYTES", part)
        data = json.dumps(self.OBJECTS, indent=indent).encode()
        assert values_in(data) == self.OBJECTS
        named = {"n": 1, "results": self.OBJECTS, "relations": [{"a": 1}]}
        found = list(entries_in(io.BytesIO(json.dumps(named, indent=indent).encode()), "f"))
        assert [entry.list for entry in found] == ["results"] * 9 + ["relations"]

    def test_half_an_export_gives_the_half_that_is_there(self):
        data = json.dumps(self.OBJECTS, indent=1).encode()
        half = data[: data.index(b'"id": 5')]
        assert values_in(half) == self.OBJECTS[:5]
        assert broken_in(half) == [f"f:{half[: half.rindex(b'{')].count(LINE_FEED) + 1}"]

    def test_an_object_that_is_not_json_does_not_stop_the_next(self):
        data = b'[{"a":1},\n{"b": ]},\n{"c":3},\n{"d":[1},\n{"e":1}]'
        assert values_in(data) == [{"a": 1}, {"c": 3}, {"e": 1}]
        assert broken_in(data) == ["f:2", "f:4"]


def test_broken_lines_are_named_and_the_rest_is_imported(tmp_path, words_only):
    path = lines(tmp_path / "session.jsonl", CLAUDE_CODE)
    whole = path.read_bytes().splitlines(keepends=True)
    whole[1:1] = [b"{broken\n", b"\xff\xfe\n", b"[1]\n"]
    path.write_bytes(b"".join(whole) + b'{"type": "user", "mess')

    done = words_only.import_from("claude-code", path)

    places = [where.removeprefix(f"{path}:") for where, _ in done.failed]
    assert (places, done.added) == (["2", "3", "4", "10"], 3)
    assert "ends in the middle" in done.failed[-1][1]
    assert done.files[0].failed == 4


def test_a_line_that_is_too_long_is_skipped(tmp_path, words_only, monkeypatch):
    monkeypatch.setattr(json_lines, "_MOST_BYTES", 2000)
    long = {**CLAUDE_CODE[1], "uuid": "x", "message": {"role": "user", "content": "word " * 2000}}
    path = lines(tmp_path / "session.jsonl", [long, *CLAUDE_CODE])

    done = words_only.import_from("claude-code", path)

    assert [where for where, _ in done.failed] == [f"{path}:1"]
    assert done.added == 3


def test_an_import_that_was_stopped_goes_on(tmp_path, words_only, monkeypatch):
    """What was stored before the stop stays, and the next run adds the rest."""
    lines(tmp_path / "a.jsonl", CLAUDE_CODE[:2])
    lines(tmp_path / "b.jsonl", CLAUDE_CODE[2:])
    for number, name in enumerate("ab"):
        os.utime(tmp_path / f"{name}.jsonl", (number, number))

    def stop(count, total, where):
        if "b.jsonl" in where:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        words_only.import_from("claude-code", tmp_path, progress=stop)
    assert words_only.status().memories == 1
    done = words_only.import_from("claude-code", tmp_path)
    assert (done.added, done.unchanged) == (2, 1)


def test_relations_that_cannot_be_links_are_named(tmp_path, words_only):
    relations = [
        {"type": "relation", "from": "Alice", "to": "Bob", "relationType": "knows"},
        {"type": "relation", "from": "Alice", "to": "Alice", "relationType": "is"},
        {"type": "entity", "name": "", "entityType": "x", "observations": []},
        {"type": "entity", "name": "Eve", "entityType": "x", "observations": [1, "Eve is here"]},
        {"type": "note"},
    ]
    path = lines(tmp_path / "memory.jsonl", [*GRAPH, *relations])

    done = words_only.import_from("mcp-memory", path)

    assert sorted(int(where.rpartition(":")[2]) for where, _ in done.failed) == [4, 5, 6, 7, 8]
    assert done.added == 4


WRONG = {
    "mcp-memory": "not JSON",
    "claude-code": '{"role": "user", "content": "hello"}\n',
    "claude-code of 2030": '{"sessionId": "1", "type": "said", "message": {"content": "hello"}}\n',
    "chatgpt of 2030": '[{"mapping": [{"role": "user"}]}]',
    "codex": '{"type": "user", "uuid": "1"}\n',
    "chatgpt": '[{"uuid": "1", "chat_messages": []}]',
    "claude": '[{"mapping": {}}]',
    "mem0": '{"answers": [{"id": 1}]}',
    "claude-mem": "not a database",
    "chroma": "not a database",
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_file_of_another_format_or_version_is_reported(name, tmp_path, words_only):
    path = tmp_path / "file.json"
    path.write_text(WRONG[name])

    done = words_only.import_from(name.partition(" ")[0], path)

    assert (done.added, len(done.failed)) == (0, 1)
    assert done.failed[0][0].startswith(str(path))


@pytest.mark.parametrize("name", ["mem0", "chatgpt", "claude"])
@pytest.mark.parametrize("text", ["", "null", '"text"', "[1, 2]", "hello"])
def test_a_file_without_a_list_of_objects_is_reported(name, text, tmp_path, words_only):
    path = tmp_path / "file.json"
    path.write_text(text)
    assert len(words_only.import_from(name, path).failed) == 1


def test_databases_of_other_programs_are_reported(tmp_path, words_only):
    """Each has its own tables, and a damaged one is an error of this file alone."""
    folder = tmp_path / "samples"
    folder.mkdir()
    paths = write_all(folder)
    assert "observations" in words_only.import_from("claude-mem", paths["chroma"]).failed[0][1]
    assert "collections" in words_only.import_from("chroma", paths["claude-mem"]).failed[0][1]
    data = paths["chroma"].read_bytes()
    paths["chroma"].write_bytes(data[:4096] + b"\0" * (len(data) - 4096))
    assert words_only.import_from("chroma", paths["chroma"]).failed


def test_one_message_of_another_form_does_not_cost_its_conversation(tmp_path, words_only):
    value = json.loads(json.dumps(CHATGPT))
    value[0]["mapping"]["x"] = "new in 2027"
    value[0]["current_node"] = "x"
    done = words_only.import_from("chatgpt", as_json(tmp_path / "conversations.json", value))
    assert (done.added, len(done.failed)) == (2, 1)


def test_a_file_that_is_missing_by_now_does_not_stop_the_others(tmp_path, words_only):
    lines(tmp_path / "a.jsonl", CLAUDE_CODE)
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    done = words_only.import_from("claude-code", tmp_path)
    assert (done.added, [where for where, _ in done.failed]) == (3, [f"{tmp_path}/gone.jsonl"])


def test_a_half_downloaded_zip_is_refused(tmp_path, words_only):
    (tmp_path / "export.zip").write_bytes(b"PK\x03\x04half")
    with pytest.raises(InvalidInput, match="ZIP"):
        words_only.import_from("chatgpt", tmp_path / "export.zip")


@pytest.mark.parametrize(
    ("name", "path", "word"),
    [
        ("memo", ".", "mem0"),
        ("mem0", "missing.json", "no file"),
        ("mem0", "", "path"),
        ("codex", ".", "transcripts"),
        ("chatgpt", ".", "conversations"),
        ("chroma", ".", "chroma.sqlite3"),
        ("mcp-memory", ".", "memory.jsonl"),
        ("obsidian", "file.txt", "folder"),
    ],
)
def test_a_wrong_name_or_path_is_refused(name, path, word, tmp_path, words_only, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(InvalidInput, match=word):
        words_only.import_from(name, path)


def test_an_entry_without_text_or_id_is_named(tmp_path, words_only):
    value = {"results": [{"id": "1"}, {"memory": "no id"}, *MEM0["results"]]}
    path = as_json(tmp_path / "mem0.json", value)
    done = words_only.import_from("mem0", path)
    assert [where for where, _ in done.failed] == [f"{path}:3", f"{path}:6"]
    assert done.added == 2


def test_memory_does_not_grow_with_the_transcripts(tmp_path):
    """Tool output is most of a transcript; ten times as much of it takes as much memory to read."""
    from scrubjay.write.importers import claude_code

    def peak(count):
        path = tmp_path / f"{count}.jsonl"
        result = {**CLAUDE_CODE[3], "toolUseResult": "x" * 20_000}
        with open(path, "w") as file:
            for _ in range(count):
                file.write(json.dumps(result) + "\n")
        tracemalloc.start()
        assert sum(1 for _ in claude_code.FORMAT.read(str(path))) == count
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(500) < 1.5 * peak(50)


def test_a_run_keeps_ids_and_no_texts(tmp_path, words_only, monkeypatch):
    """A rehearsal of entries keeps each of them, which a gigabyte of messages must not."""
    made = []

    class Watched(run.FileImport):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            made.append(self)

    monkeypatch.setattr(run, "FileImport", Watched)
    path = lines(tmp_path / "session.jsonl", CLAUDE_CODE)
    words_only.import_from("claude-code", path, dry_run=True)
    assert (made[0]._rehearsed, made[0]._batch, made[0]._linked) == ({}, [], [])

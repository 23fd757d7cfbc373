"""Anthropic's memory tool on a store, beside the reference implementation of the SDK."""

from __future__ import annotations

import re
import sys
from importlib import import_module

import pytest

pytest.importorskip("anthropic", reason="the extra anthropic is not installed")

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from scrubjay.errors import MissingExtra
from scrubjay.integrations.anthropic import ScrubjayMemoryTool


def create(path, text):
    return {"command": "create", "path": path, "file_text": text}


def view(path, *lines):
    return {"command": "view", "path": path, **({"view_range": [*lines]} if lines else {})}


def replace(path, old, new):
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path, line, text):
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path):
    return {"command": "delete", "path": path}


def rename(old, new):
    return {"command": "rename", "old_path": old, "new_path": new}


COMMANDS = [
    view("/memories"),
    create("/memories/notes.md", "# Notes\n\nTea is green\nTea is hot\n"),
    create("/memories/notes.md", "again"),
    create("/memories/people/anna.txt", "Anna lives in Köln 🦜"),
    create("/memories/people/far/away/deep.txt", "deep"),
    create("/memories/empty.txt", ""),
    create("/memories/.hidden", "secret"),
    create("/memories/large.txt", "x" * 1536),
    create("/memories/people", "a folder is there"),
    view("/memories"),
    view("/memories/people"),
    view("/memories/people/"),
    view("/memories/notes.md"),
    view("/memories/notes.md", 2, 3),
    view("/memories/notes.md", 3, -1),
    view("/memories/notes.md", 0, 99),
    view("/memories/notes.md", 4, 2),
    view("/memories/notes.md", 3),
    view("/memories/empty.txt"),
    view("/memories/people/anna.txt"),
    view("/memories/missing.txt"),
    view("/memories/notes.md/below"),
    replace("/memories/notes.md", "Tea is green", "Tea is black"),
    replace("/memories/notes.md", "Tea is", "Coffee is"),
    replace("/memories/notes.md", "Milk", "Water"),
    replace("/memories/notes.md", "# Notes", "# Notes\n\nTwo lines\nmore"),
    replace("/memories/people", "a", "b"),
    replace("/memories/missing.txt", "a", "b"),
    view("/memories/notes.md"),
    insert("/memories/notes.md", 0, "first\n"),
    insert("/memories/notes.md", 3, "in between"),
    insert("/memories/notes.md", 9, "last\n\n"),
    insert("/memories/notes.md", 99, "beyond"),
    insert("/memories/notes.md", -1, "before"),
    insert("/memories/empty.txt", 0, "no longer empty"),
    insert("/memories/people", 0, "a"),
    insert("/memories/missing.txt", 0, "a"),
    view("/memories/notes.md"),
    view("/memories/empty.txt"),
    rename("/memories/notes.md", "/memories/empty.txt"),
    rename("/memories/notes.md", "/memories/archive/old notes.md"),
    rename("/memories/notes.md", "/memories/elsewhere.md"),
    rename("/memories/people", "/memories/archive/people"),
    rename("/memories", "/memories/self"),
    view("/memories/archive"),
    view("/memories/archive/people/anna.txt"),
    delete("/memories/missing.txt"),
    delete("/memories"),
    delete("/memories/archive/people"),
    delete("/memories/empty.txt"),
    view("/memories/empty.txt"),
    view("/memories"),
    view("/etc/passwd"),
    create("/memories/../outside.txt", "x"),
    view("/memories/../../etc/passwd"),
    delete("/memories/archive/../../.."),
    rename("/memories/large.txt", "/memories/../../stolen.txt"),
]


def answer(tool, command):
    """What the model is told; sizes of folders are those of the file system in the reference."""
    try:
        said = tool.call(command)
    except ToolError as error:
        said = f"error: {error}"
    lines = said.split("\n")
    if lines[0].startswith("Here're the files"):
        lines[1:] = [re.sub(r"^[\d.]+[BKMG]", "*", lines[1])] + [
            re.sub(r"^[\d.]+[BKMG]", "*", line) if line.endswith("/") else line
            for line in lines[2:]
        ]
    return "\n".join(lines)


def test_answers_are_those_of_the_reference_implementation(words_only, tmp_path):
    """Issue 27, item 3: the same commands, one after the other, on files and on a store."""
    reference = BetaLocalFilesystemMemoryTool(str(tmp_path / "reference"))
    ours = ScrubjayMemoryTool(words_only)

    for command in COMMANDS:
        assert answer(ours, command) == answer(reference, command), command


@pytest.mark.parametrize(
    "path",
    ["/memories/a/../b", "/memories/..\\..\\x", "/memoriesX", "memories/x", "", "/memories/a\nb"],
)
def test_no_path_leads_out_of_memories(words_only, path):
    """Issue 27, item 3: also where the reference reads a path in its own way."""
    with pytest.raises(ToolError, match=r"/memories|printable"):
        ScrubjayMemoryTool(words_only).call(create(path, "x"))

    assert words_only.ls() == []


def test_the_tool_is_sent_as_the_memory_tool_of_the_api(words_only):
    """Issue 27, item 3."""
    tool = ScrubjayMemoryTool(words_only, cache_control={"type": "ephemeral"})

    assert tool.to_dict() == {
        "type": "memory_20250818",
        "name": "memory",
        "cache_control": {"type": "ephemeral"},
    }


def test_what_an_agent_wrote_is_found_by_a_search_and_cleared_alone(words_only):
    """Issue 27, item 3: files are memories."""
    words_only.add("The kettle whistles")
    tool = ScrubjayMemoryTool(words_only)
    tool.call(create("/memories/kitchen.md", "The kettle leaks"))

    assert {hit.source for hit in words_only.search("kettle")} == {None, "/memories/kitchen.md"}
    assert tool.clear_all_memory() == "All memory cleared"
    assert [one.text for one in words_only.ls()] == ["The kettle whistles"]


def test_the_package_is_named_where_it_is_missing(monkeypatch):
    """Issue 27, item 3."""
    name = "scrubjay.integrations.anthropic"
    monkeypatch.setitem(sys.modules, "anthropic.lib.tools", None)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtra, match=r"scrubjay\[anthropic\]"):
        import_module(name)

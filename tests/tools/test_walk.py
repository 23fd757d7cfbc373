"""One search and one add pass through few files."""

from __future__ import annotations

import ast
import os

import pytest
from places import ROOT

from scrubjay.runtime.paths import cache_dir
from tools import house, walk

MODELS = cache_dir()


@pytest.mark.model
# Before static vectors and other languages it was 25 and 20: an add now embeds, too. A keyword index of
# our own added six, a cache of vectors and the model process one or two each.
@pytest.mark.parametrize(("verb", "most"), [("search", 42), ("add", 33)])
def test_one_call_passes_through_few_files(verb, most, monkeypatch):
    """A reader who follows one call opens no more files than this."""
    monkeypatch.setenv("SCRUBJAY_CACHE", os.fspath(MODELS))
    steps = walk.walk(verb)
    files = {file for file, _ in steps}

    assert "store/__init__.py" in files
    assert {"storage/sqlite/connection.py", "storage/sql/records.py"} <= files
    assert len(files) <= most, walk.report(steps)


def test_the_walk_sees_each_function_once_and_in_order():
    """Functions of other packages are not in it."""
    from scrubjay.text.validation import check_name

    steps = walk.entered(lambda: [check_name("type", " fact "), check_name("type", "fact")])

    assert [name for _, name in steps][:2] == ["check_name", "check_text"]
    assert len(steps) == len(set(steps))


def test_the_architecture_page_has_the_tree():
    """Each folder of the package is in the table that `tools.house` prints."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")

    for room in (*house.tree(), *house.scripts()):
        assert f"| `{room.name}` |" in page


def test_the_tree_lists_scripts_apart_from_python(capsys):
    """The web UI has a row for each view; its lines are not in the sum of Python."""
    house.main()
    *_, totals = capsys.readouterr().out.splitlines()

    assert {"surfaces/web/app/", "surfaces/web/map/"} <= {room.name for room in house.scripts()}
    python = sum(room.lines for room in house.tree())
    assert f"Python files with {python:,} lines; " in totals
    assert " scripts and styles with " in totals


def test_the_tree_leaves_out_imports_for_types():
    """As the five lines do."""
    tree = ast.parse("if TYPE_CHECKING:\n    from scrubjay import a\nfrom scrubjay import b\n")
    imports = [node for node in house._at_run_time(tree) if isinstance(node, ast.ImportFrom)]

    assert [names.name for node in imports for names in node.names] == ["b"]

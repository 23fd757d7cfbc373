"""Imports point one way, so that every room can be read without the ones above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import scrubjay

ROOT = Path(scrubjay.__file__).parent
# Lowest first. A module may import from its own floor and from those below.
FLOORS = (
    (
        "_version",
        "errors",
        "types",
        "reports",
        "progress",
        "chat_message",
        "threads",
        "findings",
        "days",
        "recalled",
        "lookalikes",
        "times",
        "pictures",
        "logins",
        "at_exit",
        "measures",
        "judged",
    ),
    ("language", "function_words"),
    ("text", "paths", "token_codes", "tfidf", "timewords"),
    ("asking", "passages", "naming", "scopes"),
    ("expansion", "extraction"),
    ("config", "commands"),
    ("stores", "models", "documents"),
    ("answers",),
    ("pipeline",),
    ("stages",),
    ("profiles", "write"),
    ("served",),
    (
        "embedding",
        "assistants",
        "status",
        "caller",
        "coverage",
        "landscape",
        "tables",
        "hit_counts",
        "map_layout",
        "mapping",
        "reindexing",
        "access",
    ),
    ("following", "tier_files"),
    ("store_parts",),
    ("tiered",),
    ("reading",),
    ("sharing",),
    ("learning",),
    ("moving", "promoting"),
    ("searching",),
    ("talking",),
    ("picturing",),
    ("serving",),
    ("service", "opening"),
    ("__init__",),
    ("evaluating",),
    ("doctor", "doctor_assistants", "doctor_open", "doctor_servers", "doctor_store"),
    ("surfaces",),
    ("__main__",),
)
FLOOR = {name: height for height, names in enumerate(FLOORS) for name in names}
FILES = sorted(ROOT.rglob("*.py"))


def room(module: str) -> str:
    """The part of the package a module belongs to: its first name below `scrubjay`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in FLOOR else "__init__"


def imports(file: Path) -> set[tuple[int, str]]:
    """Every module of ours that a file imports, early or late, but not for types alone."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found: set[tuple[int, str]] = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports relatively"
            if node.module == "scrubjay":
                found.update((node.lineno, f"scrubjay.{one.name}") for one in node.names)
            elif node.module and node.module.startswith("scrubjay."):
                found.add((node.lineno, node.module))
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names if one.name.split(".")[0] == "scrubjay"]
            found.update((node.lineno, name) for name in names)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_point_downwards(file):
    """types ← text, times ← stores, models ← pipeline ← stages ← profiles, write ← service ← surfaces."""
    here = file.relative_to(ROOT).with_suffix("").parts[0]

    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {module}, which stands above it"
        for line, module in sorted(imports(file))
        if FLOOR[room(module)] > FLOOR[here]
    ]

    assert wrong == []


def test_every_module_has_a_floor():
    """A new room is put into the list above on purpose."""
    rooms = {file.relative_to(ROOT).with_suffix("").parts[0] for file in FILES}

    assert rooms - FLOOR.keys() == set()


def test_stores_and_models_do_not_know_each_other():
    """Both stand on the same floor; neither needs the other."""
    for file in FILES:
        here = file.relative_to(ROOT).parts[0]
        for _, module in imports(file):
            assert (here, room(module)) not in {
                ("stores", "models", "documents"),
                ("models", "stores"),
            }


def test_the_check_would_see_a_broken_arrow(tmp_path):
    """A test that cannot fail proves nothing."""
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from scrubjay.service import Store\n")

    assert imports(file) == {(2, "scrubjay.service")}
    assert FLOOR[room("scrubjay.service")] > FLOOR["stores"]

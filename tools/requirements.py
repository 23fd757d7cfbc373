"""Requirements: what each id demands, in one sentence, and the tests that name it.

`docs/requirements.md` is printed from this table and from the docstrings of the tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
ID = re.compile(r"\b(?:R|GS|GN|SV|CG|NM)-\d+\b")
GROUPS = {
    "R": "All profiles",
    "GS": "gnosis",
    "GN": "gno",
    "SV": "vault",
    "CG": "cognis",
    "NM": "novamem",
}
NOT_OPEN = {"GS-17": "built in part: `open(key=…)` is refused, and tests open such a store"}


def _read() -> dict[str, str]:
    """Return the sentence of each requirement, by id, from the table beside this file."""
    table = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    return dict(line.split("\t", 1) for line in table.splitlines())


REQUIREMENTS = _read()


def tests_by_id() -> dict[str, list[str]]:
    """Return the tests whose docstring names an id, by id: `file::function`, in order."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        name = file.relative_to(TESTS.parent).as_posix()
        for test, docstring in _functions(ast.parse(file.read_text(encoding="utf-8"))):
            for id_ in dict.fromkeys(ID.findall(docstring)):
                found.setdefault(id_, []).append(f"{name}::{test}")
    return found


def _functions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each test with the docstrings of the function and of its class."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        about = ast.get_docstring(node) or "" if isinstance(node, ast.ClassDef) else ""
        for test in inner:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test"):
                yield test.name, f"{about} {ast.get_docstring(test) or ''}"


def print_table() -> None:
    """Print every requirement with its sentence, the number of tests and the first of them."""
    tests = tests_by_id()
    for group, title in GROUPS.items():
        print(
            f"\n## {title}\n\n| id | what it demands | tests | for instance |\n|---|---|---|---|"
        )
        for id_, sentence in REQUIREMENTS.items():
            if id_.partition("-")[0] == group:
                named = tests.get(id_, [])
                example = NOT_OPEN.get(id_) or f"`{_best(id_, named)}`"
                print(f"| {id_} | {sentence} | {len(named)} | {example} |")


def _best(id_: str, named: list[str]) -> str:
    """Return the test that is nearest to a profile's own tests."""
    folder = {"GS": "gnosis", "GN": "gno", "SV": "vault", "CG": "cognis", "NM": "novamem"}
    profile = folder.get(id_.partition("-")[0], "pipeline")
    return next((name for name in named if f"test_{profile}" in name), named[0])

"""The five lines of the tree: which folder may import which."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import scrubjay

PACKAGE = Path(scrubjay.__file__).parent

# 1. These import only each other.
BASICS = {"_version", "errors", "types", "times", "config", "text", "runtime"}
# 2. These import line 1, and never each other.
BACKENDS = {"storage", "models", "documents"}
# 3. These import lines 1 and 2, and never each other.
ENGINES = {"search", "write"}
# 4. These import lines 1 to 3, and never each other.
FEATURES = {"conversations", "sharing", "insight", "ops"}
# 5. `store` imports lines 1 to 4; surfaces and integrations import `store` and line 1 only.
SURFACES = {"surfaces", "integrations"}

ALLOWED: dict[str, set[str]] = {
    **dict.fromkeys(BASICS, BASICS),
    **dict.fromkeys(BACKENDS, BASICS),
    **dict.fromkeys(ENGINES, BASICS | BACKENDS),
    **dict.fromkeys(FEATURES, BASICS | BACKENDS | ENGINES),
    "store": BASICS | BACKENDS | ENGINES | FEATURES,
    "__init__": BASICS | {"store"},
    **{name: BASICS | {"store", "__init__"} for name in SURFACES},
    "__main__": SURFACES,
}

# Folders that are still too full.
CROWDED: set[str] = {"search/stages"}
# Imports that break a line, by file: each is to go, none is to come.
EXCEPTIONS: dict[str, set[str]] = {
    "surfaces/cli/evaluate.py": {"ops"},
    "surfaces/cli/operate.py": {"models", "ops", "search"},
    "surfaces/cli/search.py": {"insight", "search"},
    "surfaces/cli/common.py": {"search", "sharing", "storage"},
    "surfaces/cli/transfer.py": {"ops"},
    "surfaces/cli/vectors.py": {"models"},
    "surfaces/cli/write.py": {"conversations"},
    "surfaces/callers.py": {"models"},
    "surfaces/verbs/operate.py": {"ops", "search"},
}


def folder_of(module: str) -> str:
    """Return the name below `scrubjay` that a module belongs to."""
    return [*module.split("."), "__init__"][1]


def imports(source: str) -> set[str]:
    """Return each of our modules that a file imports at run time, early or late."""
    tree = ast.parse(source)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno} imports relatively"
            if node.module == "scrubjay":
                names = {one.name for one in node.names}
                found |= {f"scrubjay.{name}" if name in ALLOWED else "scrubjay" for name in names}
            elif (node.module or "").startswith("scrubjay."):
                found.add(str(node.module))
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names if one.name.split(".")[0] == "scrubjay"}
    return found


def broken(here: str, source: str) -> set[str]:
    """Return the folders that a file of the folder `here` imports and must not."""
    rooms = {folder_of(module) for module in imports(source)}
    return rooms - ALLOWED[here] - {here}


FILES = {str(file.relative_to(PACKAGE).as_posix()): file for file in PACKAGE.rglob("*.py")}


@pytest.mark.parametrize("name", sorted(FILES))
def test_imports_keep_the_five_lines(name):
    """A file imports only what its line allows; the exceptions are listed, and none is out of date."""
    here = name.split("/")[0].removesuffix(".py")

    assert broken(here, FILES[name].read_text("utf-8")) == EXCEPTIONS.get(name, set())


def test_every_exception_names_a_file():
    """An exception for a file that was moved or removed is removed as well."""
    assert EXCEPTIONS.keys() - FILES.keys() == set()


def test_the_tree_stays_readable():
    """At most 22 names in the root; no folder of Python files has more than about 20."""
    names = {name.split("/")[0] for name in FILES} | {"py.typed"}
    folders: dict[str, int] = {}
    for name in FILES:
        folder = name.rpartition("/")[0]
        folders[folder] = folders.get(folder, 0) + 1

    assert len(names) <= 22, sorted(names)
    assert {folder for folder, files in folders.items() if files > 21} == CROWDED


@pytest.mark.parametrize(
    ("here", "source", "wrong"),
    [
        ("text", "from scrubjay.storage.codec import Codec", "storage"),
        ("models", "def f():\n    from scrubjay.storage import schema", "storage"),
        ("storage", "import scrubjay.documents.read", "documents"),
        ("search", "from scrubjay.write.remember import draft", "write"),
        ("ops", "from scrubjay.insight.status import status", "insight"),
        ("surfaces", "from scrubjay.search import profiles", "search"),
        ("store", "from scrubjay.surfaces.cli import main", "surfaces"),
    ],
)
def test_the_check_sees_each_broken_line(here, source, wrong):
    """A test that cannot fail proves nothing."""
    assert broken(here, source) == {wrong}

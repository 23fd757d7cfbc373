"""Prints the tree of the package: files, lines and importers of each folder.

Imports for type checking alone are left out, as in tests/test_layers.py. Scripts and styles of the web UI
are listed by folder and counted apart from Python.

`python -m tools.house` prints it as a table. `docs/architecture.md` contains the table without the lines:
with them every edit of a file made the page out of date.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "scrubjay"
# The five lines of tests/test_layers.py, the lowest first.
LAYERS = (
    ("errors", "types", "times", "config", "text", "runtime"),
    ("storage", "models", "documents"),
    ("search", "write"),
    ("conversations", "sharing", "insight", "ops"),
    ("store",),
    ("surfaces", "integrations"),
)


SCRIPTS = (".js", ".css")


class Room(NamedTuple):
    """One module of the root or one folder, without the folders inside it."""

    name: str
    purpose: str
    files: int
    lines: int
    imported_by: tuple[str, ...]
    is_python: bool = True


def table() -> None:
    """Print what each folder is and which others import it."""
    print("| where | files | what it is | imported by |\n|---|--:|---|---|")
    for room in (*tree(), *scripts()):
        importers = ", ".join(room.imported_by) or "-"
        print(f"| `{room.name}` | {room.files} | {room.purpose} | {importers} |")


def main() -> None:
    """Print the folders with their lines, and the totals."""
    rooms = [*tree(), *scripts()]
    print("| where | files | lines | what it is |\n|---|--:|--:|---|")
    for room in rooms:
        print(f"| `{room.name}` | {room.files} | {room.lines:,} | {room.purpose} |")
    python = _counts("Python files", [room for room in rooms if room.is_python])
    web = _counts("scripts and styles", [room for room in rooms if not room.is_python])
    print(f"\n{python}; {web}; {len(list(root_names()))} names in the root.")


def _counts(kind: str, rooms: list[Room]) -> str:
    files, lines = sum(room.files for room in rooms), sum(room.lines for room in rooms)
    return f"{files} {kind} with {lines:,} lines"


def layers_diagram() -> None:
    """Print the layers as a Mermaid diagram: an arrow says that a layer imports the one below."""
    print("```mermaid\nflowchart TD")
    for number, names in reversed(list(enumerate(LAYERS, 1))):
        there = [name for name in names if (PACKAGE / name).is_dir() or _is_module(name)]
        print(f'  layer{number}["{" · ".join(there)}"]')
    for number in range(len(LAYERS), 1, -1):
        print(f"  layer{number} --> layer{number - 1}")
    print("```")


def search_diagram(profile: str = "default") -> None:
    """Print the stages of a profile as a Mermaid diagram, in the order in which they run."""
    from scrubjay.search import profiles

    stages = [part.name for part in profiles.get(profile).stages]
    print("```mermaid\nflowchart LR\n  query([query])")
    for number, name in enumerate(stages, 1):
        print(f"  stage{number}[{name}]")
    steps = ["query", *(f"stage{number}" for number in range(1, len(stages) + 1)), "results"]
    print("  results([results])")
    print(f"  {' --> '.join(steps)}\n```")


def _is_module(name: str) -> bool:
    return (PACKAGE / f"{name}.py").exists()


def tree() -> Iterator[Room]:
    """Yield the modules of the root, then every folder with Python files, in order."""
    importers = _importers()
    for file in sorted(PACKAGE.glob("*.py")):
        yield _room(file.stem, [file], file, importers)
    folders = sorted({file.parent for file in PACKAGE.rglob("*.py")} - {PACKAGE})
    for folder in folders:
        name = f"{folder.relative_to(PACKAGE).as_posix()}/"
        yield _room(name, sorted(folder.glob("*.py")), folder / "__init__.py", importers)


def scripts() -> Iterator[Room]:
    """Yield the folders with scripts and styles, in order; the main script says what each is."""
    found = {file.parent for kind in SCRIPTS for file in PACKAGE.rglob(f"*{kind}")}
    for folder in sorted(found):
        files = sorted(file for file in folder.iterdir() if file.suffix in SCRIPTS)
        (first,) = (file for file in files if file.name in ("main.js", f"{folder.name}.js"))
        purpose = first.read_text(encoding="utf-8").split("\n")[0].removeprefix("// ")
        name = f"{folder.relative_to(PACKAGE).as_posix()}/"
        yield Room(name, purpose, len(files), _lines(files), (), is_python=False)


def root_names() -> Iterator[str]:
    """Yield the names of the package root, as a reader of the tree sees them."""
    for path in sorted(PACKAGE.iterdir()):
        if path.name != "__pycache__":
            yield path.name


def _room(name: str, files: list[Path], about: Path, importers: dict[str, set[str]]) -> Room:
    source = about.read_text(encoding="utf-8") if about.exists() else ""
    docstring = ast.get_docstring(ast.parse(source)) or ""
    users = importers.get(name.rstrip("/"), set())
    return Room(name, docstring.split("\n")[0], len(files), _lines(files), tuple(sorted(users)))


def _lines(files: list[Path]) -> int:
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def _importers() -> dict[str, set[str]]:
    """Return, by module of the root or folder, the names of the root that import from it."""
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        here = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in _at_run_time(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scrubjay."):
                parts = str(node.module).split(".")[1:]
                folder = PACKAGE.joinpath(*parts)
                inside = parts if folder.is_dir() else parts[:-1] or parts
                for depth in range(1, len(inside) + 1):
                    if inside[0] != here:
                        found.setdefault("/".join(inside[:depth]), set()).add(here)
    return found


def _at_run_time(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a file that are not for type checking alone."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        todo += ast.iter_child_nodes(node)


if __name__ == "__main__":
    main()

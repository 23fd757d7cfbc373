"""Files and folders are created in one module, so that other users of the machine cannot read them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import scrubjay

PACKAGE = Path(scrubjay.__file__).parent
# Each creates a file or a folder whose mode follows the umask.
CREATING = {
    *("makedirs", "mkdir", "mkfifo", "mknod", "touch", "write_text", "write_bytes", "FileHandler"),
    *("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"),
}
# Where that is right, by file.
EXCEPTIONS = {
    "runtime/private_files.py": "creates them with a mode",
    "storage/sqlite/connection.py": "create_missing has created the file",
    "storage/sqlite/location.py": "open_private has created the file",
    "storage/sqlite/restore.py": "open_private has created the file, or it is the store",
    "storage/sqlite/backup.py": "open_private has created the file, or it is the store",
    "documents/reader_process.py": "writes to the standard output",
    "ops/repair/new_file.py": "the file exists; SqliteDatabase creates the new one",
    "storage/sqlite/rescue.py": "reads a file that exists",
    **dict.fromkeys(
        (f"models/download/{name}.py" for name in ("pull", "hub", "http_file", "wheel")),
        "models are public",
    ),
}
FILES = {file.relative_to(PACKAGE).as_posix(): file for file in PACKAGE.rglob("*.py")}


def creations(source: str) -> list[str]:
    """Return the calls that create a file or a folder by the umask."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [f"line {call.lineno}: {ast.unparse(call)}" for call in calls if _creates(call)]


def _creates(call: ast.Call) -> bool:
    path = ast.unparse(call.func)
    name = path.rpartition(".")[2]
    if path == "sqlite3.connect":  # with a URI, `mode` says whether it creates
        return "uri=True" not in ast.unparse(call) and ":memory:" not in ast.unparse(call)
    return bool(CREATING & {path, name}) or (name in ("open", "fdopen") and _writes(call))


def _writes(call: ast.Call) -> bool:
    """True for a mode that creates a file, or flags of `os.open` that do."""
    values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    modes = [
        part.value
        for value in values
        for part in ast.walk(value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return any(set(mode) <= set("rwxabt+") and set(mode) & set("wxa") for mode in modes) or any(
        "O_CREAT" in ast.unparse(value) for value in values
    )


@pytest.mark.parametrize("name", sorted(FILES.keys() - EXCEPTIONS.keys()))
def test_files_are_created_with_the_functions_for_private_files(name):
    """`open_private`, `replacing` and `make_private_folder` do it; see runtime/private_files.py."""
    assert creations(FILES[name].read_text("utf-8")) == []


def test_every_exception_is_needed():
    """One that is out of date would hide the next mistake."""
    for name in EXCEPTIONS:
        assert creations(FILES[name].read_text("utf-8")), name


@pytest.mark.parametrize(
    "source",
    [
        'open(path, "w")',
        'open(path, mode="ab")',
        'path.open("ab" if done else "wb")',
        "sqlite3.connect(path)",
        "os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)",
        "os.makedirs(folder)",
        "folder.mkdir(parents=True)",
        "Path(path).write_text(text)",
        "shutil.copyfile(one, other)",
    ],
)
def test_the_check_sees_a_creation(source):
    """A test that cannot fail proves nothing."""
    assert len(creations(source)) == 1


@pytest.mark.parametrize(
    "source", ['open(path, "rb")', "open(path)", "table.copy()", "open('w.db')"]
)
def test_reading_is_no_creation(source):
    """Neither is a path that has the letters of a mode."""
    assert creations(source) == []

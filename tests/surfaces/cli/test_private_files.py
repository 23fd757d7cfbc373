"""No command leaves a file or a folder that another user of the machine can read, whatever the umask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Windows has access lists instead of modes"
)

# One process runs them all: each start of Python would take longer than its command.
RUN = """
import json, sys
from scrubjay.surfaces.cli import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    if code: sys.exit(f"{words}: {code}")
"""
COMMANDS = (
    ("add", "The kettle whistles", "--no-embed"),
    ("ingest", "notes", "--no-embed"),
    ("export", "--md", "out/entries"),
    ("export", "--jsonl", "out.jsonl"),
    ("backup", "copy.db"),
    ("backup", "copy.db", "--force"),
    ("key", "create", "laptop"),
    ("import", "out.jsonl", "--db", "other.db", "--no-embed"),
    ("add", "A tenant's kettle", "--tenant", "acme", "--no-embed"),
    ("search", "kettle"),
    ("forget", "--yes", "note"),
    ("doctor",),
)


@pytest.fixture(params=[0, 0o022], ids=oct)
def umask(request) -> int:
    return request.param


@pytest.fixture
def environment(tmp_path, umask) -> dict[str, str]:
    """A home and a working folder as a user has them, readable by everyone."""
    for folder in ("home", "work", "work/notes"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder).chmod(0o755)
    (tmp_path / "work" / "notes" / "pump.md").write_text("# Pump\n\nIt restarts at night.\n")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SCRUBJAY_", "XDG_"))
    }
    return kept | {"HOME": str(tmp_path / "home"), "SCRUBJAY_OFFLINE": "1"}


def readable_by_others(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.lstat().st_mode & 0o077:
            yield f"{path.relative_to(folder)} {path.lstat().st_mode & 0o777:03o}"


def made(tmp_path: Path) -> set[str]:
    """Return what others can read, without what was there before."""
    found = {*readable_by_others(tmp_path / "home"), *readable_by_others(tmp_path / "work")}
    return {one for one in found if not one.startswith(("notes ", "notes/"))}


def run(
    commands: tuple[tuple[str, ...], ...], environment: dict[str, str], folder: Path, umask: int
):
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        env=environment,
        cwd=folder,
        umask=umask,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_every_command_leaves_private_files(tmp_path, environment, umask):
    """The store, logs, exports, backups and their folders; a file of the user stays as it is."""
    work = tmp_path / "work"
    first = ("add", "A note to forget", "--id", "note", "--no-embed")

    run((first, *COMMANDS), environment, work, umask)

    assert (tmp_path / "home" / ".local/share/scrubjay/memory.acme.db").is_file()
    assert {"out", "out.jsonl", "copy.db", "other.db"} <= {path.name for path in work.iterdir()}
    assert made(tmp_path) == set()


def test_a_server_leaves_private_files(tmp_path, environment, umask):
    """While it runs, with its log and everything else that it needs."""
    words = [sys.executable, "-m", "scrubjay", "serve", "--json", "--port", "0"]
    with subprocess.Popen(
        words,
        env=environment,
        cwd=tmp_path / "work",
        umask=umask,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            assert server.stdout is not None
            assert json.loads(server.stdout.readline())["pid"]
            files = {path.name for path in (tmp_path / "home").rglob("memory.db*")}
            while_running = made(tmp_path)
        finally:
            server.terminate()

    assert files == {"memory.db", "memory.db-wal", "memory.db-shm"}
    assert while_running == made(tmp_path) == set()


def test_doctor_repairs_what_an_earlier_version_left(tmp_path, environment, umask):
    """It names each file, and then restricts it."""
    run((("add", "The kettle whistles", "--no-embed"),), environment, tmp_path / "work", umask)
    data = tmp_path / "home" / ".local" / "share" / "scrubjay"
    data.chmod(0o755)
    (data / "memory.db").chmod(0o644)

    found = run((("doctor", "--json"),), environment, tmp_path / "work", umask).stdout
    done = run((("doctor", "--repair", "--json"),), environment, tmp_path / "work", umask).stdout

    wide = [
        one["detail"]
        for one in json.loads(found)["findings"]
        if one["component"] == "permissions" and one["state"] == "degraded"
    ]
    repairs = json.loads(done)["repairs"]
    for path, mode in ((data, 755), (data / "memory.db", 644)):
        assert any(f"{path} (mode {mode})" in detail for detail in wide)
        assert any(one["detail"].startswith(f"{path} has mode") for one in repairs)
    assert {one["state"] for one in repairs} == {"repaired"}
    assert json.loads(found).get("repairs") is None
    assert made(tmp_path) == set()

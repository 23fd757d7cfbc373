"""doctor sees a disk that is full, or will be: of the store, and of the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import scrubjay
from scrubjay.config import load
from scrubjay.ops.doctor import Finding
from scrubjay.ops.doctor import disk as checks
from scrubjay.ops.doctor.disk import check_disk


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as store:
        store.add("The kettle whistles")
    return str(path)


def examined(db: str) -> dict[str, Finding]:
    return {one.component: one for one in check_disk(load(db=db))}


def free(monkeypatch: pytest.MonkeyPatch, bytes_free: int) -> None:
    usage = SimpleNamespace(total=10**12, used=0, free=bytes_free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)


def test_a_disk_with_room_is_well(db: str, monkeypatch: pytest.MonkeyPatch):
    free(monkeypatch, 10**11)
    found = examined(db)["disk"]
    assert (found.state, "100.0 GB free" in found.detail) == ("ok", True)


@pytest.mark.parametrize("left", [0, 5_000_000])
def test_a_full_disk(db: str, left: int, monkeypatch: pytest.MonkeyPatch):
    free(monkeypatch, left)
    found = examined(db)["disk"]
    assert found.state == "failed"
    assert "is full" in found.detail
    assert str(Path(db).parent) in found.fix


def test_a_disk_on_which_a_backup_would_not_fit(db: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checks, "_size", lambda _: 3 * 10**9)
    free(monkeypatch, 2 * 10**9)
    found = examined(db)["disk"]
    assert found.state == "degraded"
    assert "backup" in found.detail
    assert "3.0 GB" in found.detail
    free(monkeypatch, 4 * 10**9)
    assert examined(db)["disk"].state == "ok"


def test_the_cache_on_a_disk_of_its_own(db: str, monkeypatch: pytest.MonkeyPatch):
    cache = checks._existing(Path(checks.cache_dir()))
    free(monkeypatch, 50_000_000)
    monkeypatch.setattr(checks, "_device", lambda folder: int(folder == cache))
    found = examined(db)
    assert {name: one.state for name, one in found.items() if "disk" in name} == {
        "disk": "degraded",
        "cache disk": "degraded",
    }
    assert "models" in found["cache disk"].detail


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="Windows does not count files")
def test_a_disk_without_room_for_another_file(db: str, monkeypatch: pytest.MonkeyPatch):
    free(monkeypatch, 10**11)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_files=1000, f_favail=0))
    found = examined(db)["disk"]
    assert (found.state, "another file" in found.detail) == ("failed", True)


def test_a_folder_that_is_not_there_yet(tmp_path: Path):
    assert str(tmp_path) in examined(str(tmp_path / "new" / "notes.db"))["disk"].detail


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on file sizes")
def test_a_limit_on_the_size_of_files(db: str):
    """As a quota would, it ends in an I/O error in the middle of a write."""
    limited = f"ulimit -f 200; {sys.executable} -m scrubjay --db {db} doctor"
    ended = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=False)
    (line,) = [line for line in ended.stdout.splitlines() if "file size" in line]
    assert "0.1 MB" in line
    assert "ulimit -f unlimited" in ended.stdout

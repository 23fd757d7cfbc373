"""Check that the disks of the store and of the cache have room, and that no limit is in the way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from scrubjay.config import Settings
from scrubjay.ops.doctor import Finding
from scrubjay.runtime.paths import cache_dir
from scrubjay.text.urls import is_server_url, tenant_file

_FULL_BYTES = 16_000_000  # with less, a single `add` of a large file may fail
_LITTLE_BYTES = 100_000_000  # with less, a log or a model may not fit


def check_disk(settings: Settings) -> Iterator[Finding]:
    """Check the disk of the store's file, which a migration or a backup needs a second time, and that
    of the cache, where it is another one. A store in Postgres is on the disk of its server."""
    cache = _existing(Path(cache_dir()))
    if settings.db == ":memory:" or is_server_url(settings.db):
        yield _room("disk", cache, 0, "models are downloaded there")
        return
    file = Path(tenant_file(settings.db, settings.tenant)).absolute()
    folder = _existing(file.parent)
    size = _size(file)
    limit = _file_limit()
    if limit is not None and limit < 2 * size + _FULL_BYTES:
        detail = f"this process may not write files of more than {_amount(limit)}; the store has"
        yield Finding("file size", "failed", f"{detail} {_amount(size)}", "ulimit -f unlimited")
    yield _room("disk", folder, size, "a migration or a backup needs as much as the store has")
    if _device(cache) != _device(folder):
        yield _room("cache disk", cache, 0, "models are downloaded there")


def _room(component: str, folder: Path, needed: int, why: str) -> Finding:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding(component, "degraded", f"{folder}: free space is unknown ({error})")
    files = _free_files(folder)
    if free < _FULL_BYTES:
        detail = f"{folder} is full ({_amount(free)} free): writing fails, reading goes on"
        return Finding(component, "failed", detail, f"free some space in {folder}")
    if files == 0:
        detail = f"{folder} has room, but its disk cannot hold another file (no inodes are free)"
        return Finding(component, "failed", detail, f"delete files on the disk of {folder}")
    if free < max(needed, _LITTLE_BYTES):
        detail = f"{folder} has {_amount(free)} free; {why}"
        if needed > free:
            detail += f" ({_amount(needed)})"
        return Finding(component, "degraded", detail, f"free some space in {folder}")
    return Finding(component, "ok", f"{folder} has {_amount(free)} free")


def _existing(path: Path) -> Path:
    """Return the nearest folder that exists: it is on the disk on which the others will be."""
    path = path.absolute()
    while not path.is_dir() and path != path.parent:
        path = path.parent
    return path


def _device(folder: Path) -> int:
    return os.stat(folder).st_dev


def _size(file: Path) -> int:
    parts = (file, Path(f"{file}-wal"))
    return sum(part.stat().st_size for part in parts if part.is_file())


def _free_files(folder: Path) -> int | None:
    """Return how many more files the disk can hold; None where that is not limited or not known."""
    if not hasattr(os, "statvfs"):  # Windows
        return None
    found = os.statvfs(folder)
    return found.f_favail if found.f_files else None


def _file_limit() -> int | None:
    """Return the size to which this process may write a file; None without a limit, or on Windows."""
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if soft == resource.RLIM_INFINITY else soft


def _amount(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.1f} MB"

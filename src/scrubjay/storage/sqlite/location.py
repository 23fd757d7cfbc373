"""Where a store's file may be, which file it is, and SQLite's errors in words a person can act on."""

from __future__ import annotations

import os
import sqlite3

from scrubjay.errors import StoreError

_SMALLEST_DATABASE_BYTES = 512
PROMOTED = ".promoted"  # the end of the name of a file whose memories are elsewhere now
_MOVED = "scrubjay: the memories of this file were moved to "


def check_place(path: str) -> None:
    """Say what is wrong with a path before SQLite says only that it cannot open it.

    The file itself is never opened here. To close a file gives up every POSIX lock that this process
    holds on it, SQLite's too: another process then took itself for the last one, deleted the log, and
    what was written afterwards was lost.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise StoreError(f"{path} is a folder; give the path of a file, such as {path}/memory.db")
    if not os.path.isdir(folder):
        raise StoreError(f"there is no folder {folder}; make it first, or give another path")
    if os.path.isfile(path) and 0 < os.path.getsize(path) < _SMALLEST_DATABASE_BYTES:
        # SQLite would take it for an empty one and write over it.
        if (place := moved_to(path)) is not None:
            raise StoreError(f"the memories of {path} were moved to {place}; open that")
        raise StoreError(f"{path} is not a scrubjay store: the file is not an SQLite database")


def moved_note(place: str) -> str:
    """Return what is left in the place of a file whose memories are elsewhere now."""
    note = f"{_MOVED}{place}".encode()[: _SMALLEST_DATABASE_BYTES - 2]
    return note.decode(errors="ignore") + "\n"


def moved_to(path: str) -> str | None:
    """Return where the memories of a file were moved, or None for any other file."""
    # So small a file is no database: nobody here has a lock on it that would be given up.
    if not os.path.isfile(path) or os.path.getsize(path) >= _SMALLEST_DATABASE_BYTES:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        said = file.read()
    return said.removeprefix(_MOVED).strip() if said.startswith(_MOVED) else None


def explain(path: str, error: sqlite3.Error, wait_s: float) -> str:
    """Turn SQLite's words into a sentence that says what to do."""
    said = str(error)
    if "not a database" in said or "file is encrypted" in said:
        return f"{path} is not a scrubjay store: the file is not an SQLite database"
    if is_busy(error):
        return f"{path}: another process has been writing for more than {wait_s:.0f} s; try again"
    if "full" in said:
        return f"{path}: the disk is full; nothing was written, free some space and try again"
    if "unable to open" in said:
        return f"{path} cannot be opened: check the permissions of the file and its folder"
    if "readonly" in said:
        return f"{path} cannot be written: check the permissions of the file and its folder"
    if "malformed" in said:
        return f"{path} is damaged ({said}); run `scrubjay doctor --db {path}`"
    return f"{path}: {said}"


def is_busy(error: sqlite3.Error) -> bool:
    """True when somebody else holds the file."""
    return "locked" in str(error) or "busy" in str(error)


def identity(path: str) -> tuple[int, int]:
    """Return what a file keeps when its contents change, and another file at the same path has not."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def same_file(one: str, other: str) -> bool:
    """True when two paths name the same file, whether or not it exists."""
    if ":memory:" in (one, other):
        return False
    try:
        return os.path.samefile(one, other)
    except OSError:
        first, second = (os.path.normcase(os.path.realpath(path)) for path in (one, other))
        return first == second

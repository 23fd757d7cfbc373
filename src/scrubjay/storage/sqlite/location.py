"""Paths of database files, and the note that replaces a file that was moved."""

from __future__ import annotations

import os

from scrubjay.errors import StoreError

_MIN_DATABASE_BYTES = 512
_MOVED = "scrubjay: the memories of this file were moved to "


def check_path(path: str) -> None:
    """Explain what is wrong with a path; SQLite would only report that it cannot open it.

    A database is never opened here. Closing a file releases every POSIX lock that this process holds
    on it, including SQLite's: another process then took itself for the last one, deleted the log, and
    what was written afterwards was lost.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise StoreError(f"{path} is a folder; give the path of a file, such as {path}/memory.db")
    if not os.path.isdir(folder):
        raise StoreError(f"there is no folder {folder}; create it, or give another path")
    if os.path.isfile(path) and 0 < os.path.getsize(path) < _MIN_DATABASE_BYTES:
        # SQLite would take it for an empty database and overwrite it.
        if (place := moved_to(path)) is not None:
            raise StoreError(f"the memories of {path} were moved to {place}; open that")
        raise StoreError(f"{path} is not a scrubjay store: the file is not an SQLite database")


def write_note(path: str, place: str) -> None:
    """Write the note that replaces a file whose memories were moved to a place."""
    note = f"{_MOVED}{place}".encode()[: _MIN_DATABASE_BYTES - 2]
    with open(path, "w", encoding="utf-8") as file:
        file.write(note.decode(errors="ignore") + "\n")
        file.flush()
        os.fsync(file.fileno())


def moved_to(path: str) -> str | None:
    """Return where the memories of a file were moved; None for any other file."""
    # So small a file is not a database: opening it releases no lock of ours.
    if not os.path.isfile(path) or os.path.getsize(path) >= _MIN_DATABASE_BYTES:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return text.removeprefix(_MOVED).strip() if text.startswith(_MOVED) else None


def same_file(one: str, other: str) -> bool:
    if ":memory:" in (one, other):
        return False
    try:
        return os.path.samefile(one, other)
    except OSError:
        first, second = (os.path.normcase(os.path.realpath(path)) for path in (one, other))
        return first == second

"""Paths of database files, and the note that replaces a file that was moved."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from typing import NamedTuple

from scrubjay.errors import StoreError
from scrubjay.runtime.private_files import copy_mode, open_private, replacing
from scrubjay.storage.database import FILLING
from scrubjay.storage.schema import APPLICATION_ID

MIN_DATABASE_BYTES = 512
_MOVED = "scrubjay: the memories of this file were moved to "
_NOTE = re.compile(rf"{_MOVED}(.*?)(?:\nmove (\d+))?\s*", re.DOTALL)
NEW_NOTE = ".moved"  # ends the name of a note that is not in its place yet
_RESTORING = "scrubjay: a backup is being put in place of this file; the earlier file is "
PAGE_BYTES = 8192  # two vectors of 1.5 KB fit a page of 4 KB, five one of 8 KB
# A file is empty, or a note of a restore, only for a moment, unless its process was killed.
_MOMENT_S = 0.5


def check_path(path: str) -> None:
    """Explain what is wrong with a path; SQLite would only report that it cannot open it.

    A database is never opened here. Closing a file releases every POSIX lock that this process holds
    on it, including SQLite's: another process then took itself for the last one, deleted the log, and
    what was written afterwards was lost.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if _is_unfinished(path):
        from scrubjay.storage.sqlite.unfinished_move import refuse_unfinished

        refuse_unfinished(path)
    if os.path.isdir(path):
        raise StoreError(f"{path} is a folder; give the path of a file, such as {path}/memory.db")
    if not os.path.isdir(folder):
        raise StoreError(f"there is no folder {folder}; create it, or give another path")
    deadline = time.monotonic() + _MOMENT_S
    while (problem := _why_no_database(path)) is not None:
        if problem.lasts or time.monotonic() > deadline:
            raise StoreError(problem.message)
        time.sleep(0.02)


class _Problem(NamedTuple):
    message: str
    lasts: bool


def _why_no_database(path: str) -> _Problem | None:
    """Return why a file is too small for a database; SQLite would take it for an empty one."""
    if not is_small(path):
        return None
    if is_empty(path):  # SQLite would also delete the log of the store that was there
        return _Problem(
            f"{path} is an empty file, not a scrubjay store; if it was one, put a backup in its place with:"
            f" scrubjay restore BACKUP --to {path}; if not, remove it",
            lasts=False,
        )
    text = _small_text(path)
    if found := _NOTE.fullmatch(text):
        return _Problem(moved_away(path, found[1]), lasts=True)
    if text.startswith(_RESTORING):
        return _Problem(
            f"a restore of {path} was interrupted; run it again: scrubjay restore BACKUP --to {path}"
            f" (the earlier file is {_named_in(text, path)})",
            lasts=False,
        )
    not_one = f"{path} is not a scrubjay store: the file is not an SQLite database"
    return _Problem(not_one, lasts=bool(text))


def is_empty(path: str) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) == 0


def is_small(path: str) -> bool:
    """True for a file that is too small for a database; opening it releases no lock of ours."""
    return os.path.isfile(path) and os.path.getsize(path) < MIN_DATABASE_BYTES


def is_read_only(path: str) -> bool:
    """True if this user cannot write to a file, or cannot create its log in the folder."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.isfile(path) and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK))


def create_missing(path: str) -> None:
    """Create a database without tables, for this user only; SQLite gives its log the same mode.

    It is created in one step, so that no one finds an empty file at its path: that is what is left of a
    store that was lost, and is never made a store again. A process that is faster wins, and its file is
    used.
    """
    if os.path.exists(path):
        return
    path = os.path.realpath(path)
    new = f"{path}.{os.urandom(4).hex()}.part"
    try:
        content = _without_tables(new)
        try:
            os.link(new, path)
        except FileExistsError:
            return
        except OSError:  # this file system has no links
            with suppress(FileExistsError):
                write_new(path, content)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{path} cannot be created ({error}): check the permissions of its folder, and the space on"
            " the disk"
        ) from error
    finally:
        with suppress(OSError):
            os.unlink(new)


def _without_tables(path: str) -> bytes:
    """Write a database without tables to a new file; return its content."""
    write_new(path, b"")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        db.execute("PRAGMA auto_vacuum = NONE")  # a page says what it is: see dead_space
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("PRAGMA journal_mode = WAL")
    with open_private(path, "rb+") as file:
        os.fsync(file.fileno())
        return file.read()


def write_new(path: str, content: bytes) -> None:
    """Write a private file that does not exist yet, and sync it to disk."""
    with open_private(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


class MoveNote(NamedTuple):
    """The note in place of a moved file: where its memories are, and the mark of the move.

    Notes of earlier versions have no mark.
    """

    place: str
    mark: int | None = None


def write_note(path: str, note: MoveNote) -> None:
    """Write the note that replaces a file whose memories were moved."""
    mark = "" if note.mark is None else f"\nmove {note.mark}"
    begin = f"{_MOVED}{note.place}".encode()[: MIN_DATABASE_BYTES - 2 - len(mark)]
    with replacing(path) as file:
        copy_mode(path.removesuffix(NEW_NOTE), file)  # users of a shared store can read it
        file.write(f"{begin.decode(errors='ignore')}{mark}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def read_note(path: str) -> MoveNote | None:
    """Read the note in place of a moved file; None for any other file."""
    found = _NOTE.fullmatch(_small_text(path))
    return found and MoveNote(found[1], None if found[2] is None else int(found[2]))


def write_restore_note(path: str, aside: str) -> None:
    """Write the note that replaces a file while a backup is put in its place."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # of a run that was killed
    # Without the folder, which both share: the note stays small, however long the path is.
    write_new(path, f"{_RESTORING}{os.path.basename(aside)}\n".encode())


def restored_from(path: str) -> str | None:
    """Return where a restore has put the earlier file; None for any file but its note."""
    text = _small_text(path)
    return _named_in(text, path) if text.startswith(_RESTORING) else None


def _named_in(restore_note: str, path: str) -> str:
    return os.path.join(os.path.dirname(path), restore_note.removeprefix(_RESTORING).strip())


def _small_text(path: str) -> str:
    """Return the text of a file that is too small for a database; "" for any other."""
    if not is_small(path):
        return ""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:  # replaced meanwhile
        return ""
    is_database = os.fstat(descriptor).st_size >= MIN_DATABASE_BYTES  # it was put there meanwhile
    if is_database and os.name == "posix":
        # Left open: closing it would release the locks that SQLite holds on it (see `check_path`).
        return ""
    try:
        text = b"" if is_database else os.read(descriptor, MIN_DATABASE_BYTES)
    finally:
        os.close(descriptor)
    return text.decode(errors="replace")


def moved_to(path: str) -> str | None:
    """Return where the memories of a file were moved; None for any other file."""
    note = read_note(path)
    return None if note is None else note.place


def moved_away(store: str, place: str) -> str:
    return f"the memories of {store} were moved to {place}; open that"


def put_aside(path: str, aside: str, note: MoveNote) -> None:
    """Rename a file, and put a note in its place."""
    new = f"{path}{NEW_NOTE}"
    try:
        write_note(new, note)
        if _linked(path, aside):
            # In one step: if the file were gone before the note is there, the next command would
            # create an empty store and write to it.
            os.replace(new, path)
        else:
            os.rename(path, aside)
            os.replace(new, path)  # or `finish_note` does it
    except OSError as error:
        if os.path.exists(path):
            for made in (new, aside):
                if made == new or same_file(path, made):
                    with suppress(OSError):
                        os.unlink(made)
        raise StoreError(
            f"{path} cannot be renamed ({error.strerror}), and nothing has changed; stop the programs"
            " that use it, and try again"
        ) from error
    sync_folder(path)


def _linked(path: str, name: str) -> bool:
    """Give a file a second name; False if the file system has no hard links."""
    if os.path.lexists(name):  # of a run that was killed
        return same_file(path, name)
    try:
        os.link(path, name)
    except OSError:
        return False
    return True


def finish_note(path: str) -> None:
    """Put a note in its place whose writer was killed after it renamed the file."""
    if not os.path.lexists(path) and read_note(f"{path}{NEW_NOTE}") is not None:
        os.replace(f"{path}{NEW_NOTE}", path)


def sync_folder(path: str) -> None:
    """Make the names of files beside a path survive a power cut, where a folder can be synced."""
    if os.name == "nt":
        return
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _is_unfinished(path: str) -> bool:
    """True if a file is missing or small, and a move to it or from it may be unfinished."""
    if os.path.isfile(path) and os.path.getsize(path) >= MIN_DATABASE_BYTES:
        return False
    return any(os.path.exists(f"{path}{suffix}") for suffix in (FILLING, NEW_NOTE))


def same_file(one: str, other: str) -> bool:
    if ":memory:" in (one, other):
        return False
    try:
        return os.path.samefile(one, other)
    except OSError:
        first, second = (os.path.normcase(os.path.realpath(path)) for path in (one, other))
        return first == second

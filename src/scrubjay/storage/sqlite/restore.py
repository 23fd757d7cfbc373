"""Put a backup in the place of a database file, while other processes may use that file.

The backup is copied and checked first. Then no one can write to the file until it is replaced: its log is
moved into it, it gets another name, and a note takes its place while the log is removed, so that no
process opens the new file with the log of the earlier one. A process that has the earlier file open finds
at its next write that it was replaced.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.runtime.progress import Progress
from scrubjay.storage.schema import APPLICATION_ID, SCHEMA_VERSION
from scrubjay.storage.sql.mirror import first_free
from scrubjay.storage.sqlite.backup import (
    check_copy,
    copy_pages,
    empty_log,
    open_files_stay,
    remove_logs,
    replacing,
)
from scrubjay.storage.sqlite.connection import WAIT_S
from scrubjay.storage.sqlite.errors import is_busy
from scrubjay.storage.sqlite.location import (
    is_small,
    moved_to,
    restored_from,
    same_file,
    write_new,
    write_restore_note,
)
from scrubjay.storage.sqlite.log_chain import LOG, check_log, is_foreign

BEFORE = ".before-restore"  # suffix of a file that was replaced by a backup


def restore_file(
    backup: str, path: str, *, progress: Progress | None = None, wait_s: float = WAIT_S
) -> tuple[int, int, str | None]:
    """Replace a file by a backup; return bytes, memories, and the name that the earlier file has now."""
    _check_places(backup, path)
    aside: str | None = None

    def put(copy: str, path: str) -> None:
        nonlocal aside
        with _guarded(copy):
            aside = _exchange(copy, path, wait_s)

    with replacing(path, wait_s, put) as copy:
        try:
            with _reading(backup) as source:
                _check_store(source, backup)
                copy_pages(source, copy, progress)
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{backup} cannot be restored: {error}; nothing was changed"
            ) from error
        memories = _check_restored(copy, backup)
    return os.path.getsize(path), memories, aside


def _check_places(backup: str, path: str) -> None:
    if os.path.isdir(backup):
        raise InvalidInput(f"{backup} is a folder; give the file that `scrubjay backup` wrote")
    if not os.path.exists(backup):
        raise NotFound(f"there is no file {backup}; give the file that `scrubjay backup` wrote")
    if same_file(backup, path):
        raise InvalidInput(
            f"{backup} is the store itself; give a backup, or another file with --to"
        )
    if is_small(backup):
        raise InvalidInput(f"{backup} is not a scrubjay store: it is too small for a database")
    if os.path.isdir(path):
        raise InvalidInput(f"{path} is a folder; give the path of a file with --to")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise InvalidInput(f"there is no folder {folder}; create it, or give another path")
    if (place := moved_to(path)) is not None:
        raise InvalidInput(
            f"the memories of {path} were moved to {place}, which is used in its place; restore the"
            " backup to another file with --to"
        )
    check_log(backup)


@contextmanager
def _reading(backup: str) -> Iterator[sqlite3.Connection]:
    """Open a backup without changing it, with its log if it has one."""
    # Beside a file in use there is a log. Without one SQLite would create it, and leave it there.
    mode = "mode=ro" if os.path.exists(f"{backup}{LOG}") else "mode=ro&immutable=1"
    uri = f"{Path(backup).as_uri()}?{mode}"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as source:
        source.execute("BEGIN")  # one state, whatever others write
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        yield source


def _check_store(source: sqlite3.Connection, backup: str) -> None:
    (program,) = source.execute("PRAGMA application_id").fetchone()
    (version,) = source.execute("PRAGMA user_version").fetchone()
    if program != APPLICATION_ID or not version:
        raise InvalidInput(f"{backup} is not a scrubjay store, but a database of another program")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{backup} was written by a newer scrubjay (schema {version}; this version supports"
            f" {SCHEMA_VERSION}); upgrade with: pip install --upgrade scrubjay"
        )


def _check_restored(copy: str, backup: str) -> int:
    try:
        memories = check_copy(copy)
    except (StoreError, sqlite3.DatabaseError) as error:
        raise StoreError(f"{backup} is damaged ({error}); nothing was changed") from error
    with closing(sqlite3.connect(copy)) as db, suppress(sqlite3.OperationalError), db:
        # Replicas have later changes, so they receive everything again. Older schemas have none.
        db.execute("DELETE FROM projections")
        db.execute("DELETE FROM outbox")
    return memories


@contextmanager
def _guarded(copy: str) -> Iterator[None]:
    """Lock a copy until it is in place: another restore would take it for the rest of a killed one."""
    if open_files_stay():
        yield
        return
    with closing(sqlite3.connect(copy, timeout=0, isolation_level=None)) as guard:
        guard.execute("BEGIN EXCLUSIVE")
        if not guard.execute("PRAGMA user_version").fetchone()[0]:
            raise StoreError(f"{copy} was replaced by another process; try again")
        yield


def _exchange(copy: str, path: str, wait_s: float) -> str | None:
    """Put a copy in the place of a file, and return the name that the file has now."""
    interrupted = restored_from(path)
    if interrupted is not None:
        remove_logs(path)  # of the file that the interrupted run has put aside
        os.replace(copy, path)
        return interrupted
    aside = first_free(f"{path}{BEFORE}", os.path.lexists)
    if not os.path.lexists(path):
        _move_log(path, aside)
        _put_where_none_is(copy, path)
        return None
    if open_files_stay():
        _exchange_closed(copy, path, aside, wait_s)
        return aside
    with _write_lock(path, wait_s) as is_store:
        note = f"{path}.restoring"
        write_restore_note(note, aside)
        try:
            _keep(path, aside, is_store)
            os.replace(note, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(note)
            if not os.path.lexists(path):
                os.rename(aside, path)
            elif os.path.lexists(aside):  # a second name or a copy of what is still in its place
                os.unlink(aside)
            raise
        if is_store:  # its log is in the file
            remove_logs(path)
        else:
            _move_log(path, aside)
        os.replace(copy, path)
    return aside


def _put_where_none_is(copy: str, path: str) -> None:
    try:
        os.link(copy, path)
    except FileExistsError:
        raise StoreError(f"{path} was created by another process meanwhile; try again") from None
    except OSError:  # this file system has no links
        os.replace(copy, path)


def _keep(path: str, aside: str, is_store: bool) -> None:
    """Give a file a second name; where there are no links, copy it."""
    try:
        os.link(path, aside)
    except OSError:
        if not is_store:
            os.rename(path, aside)
            return
        # Not by opening the file: closing it would release the lock that keeps writers out.
        write_new(aside, b"")
        with closing(sqlite3.connect(path)) as source:
            copy_pages(source, aside, None)


def _exchange_closed(copy: str, path: str, aside: str, wait_s: float) -> None:
    """Do it where a file can be renamed only while no one has it open, this process included."""
    with _write_lock(path, wait_s) as is_store:
        pass
    try:
        os.rename(path, aside)
    except OSError as error:
        raise StoreError(
            f"{path} is in use ({error.strerror}); close the programs that use it, and try again"
        ) from error
    if is_store:
        remove_logs(path)
    else:
        _move_log(path, aside)
    os.replace(copy, path)


@contextmanager
def _write_lock(path: str, wait_s: float) -> Iterator[bool]:
    """Keep every writer out of a file, and move its log into it.

    Gives False for a file whose log cannot be moved: it is damaged, empty, not a database, or has the log
    of another file beside it. No one can write to such a file.
    """
    db = None
    try:
        if not is_small(path) and not is_foreign(path):
            db = _lock(path, wait_s)
        yield db is not None
    finally:
        if db is not None:
            db.close()


def _lock(path: str, wait_s: float) -> sqlite3.Connection | None:
    db = sqlite3.connect(path, timeout=wait_s, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        empty_log(path)
    except sqlite3.OperationalError as error:
        db.close()
        if is_busy(error):
            raise StoreError(
                f"{path}: another process has been writing for more than {wait_s:.0f} s; try again"
            ) from error
        return None
    except sqlite3.DatabaseError:
        db.close()
        return None
    except BaseException:
        db.close()
        raise
    return db


def _move_log(path: str, aside: str) -> None:
    """Move the log of a file that cannot be read aside with it: it may be of use for a rescue."""
    if os.path.lexists(f"{path}{LOG}"):
        os.replace(f"{path}{LOG}", f"{aside}{LOG}")
    remove_logs(path)

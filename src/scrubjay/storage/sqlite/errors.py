"""SQLite's errors in sentences, and how a transaction is taken back whose flush failed.

When SQLite cannot flush the log, it takes the transaction back and reports an error. But the whole
transaction is in the log by then. After a power cut or a crash, the next process to open the file would
find it there and carry it out after all, though its writer was told that it failed. So a small
transaction is written over its beginning: then it is gone for good.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from scrubjay.runtime.command_hints import to_type


def explain(path: str, error: sqlite3.Error, wait_s: float) -> str:
    message = str(error)
    if "not a database" in message or "file is encrypted" in message:
        return f"{path} is not a scrubjay store: the file is not an SQLite database"
    if is_busy(error):
        return f"{path}: another process has been writing for more than {wait_s:.0f} s; try again"
    if "full" in message or has_no_room(error):
        return f"{path}: the disk is full; nothing was written, free some space and try again"
    if is_io_error(error):
        return explain_io_error(path, error)
    if "unable to open" in message:
        return f"{path} cannot be opened: check the permissions of the file and its folder"
    if "readonly" in message:
        return f"{path} cannot be written: check the permissions of the file and its folder"
    if is_damage(error):
        return f"{path} is damaged ({message}); run: {to_type('doctor --repair', path)}"
    return f"{path}: {message}"


def is_damage(error: sqlite3.Error) -> bool:
    """True for an error of a damaged file, or of a damaged keyword index in it."""
    return any(word in str(error) for word in ("malformed", "corrupt"))


def is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def has_no_room(error: BaseException | None) -> bool:
    """True where the index of the log finds no room: the disk is full, or a limit or quota is reached."""
    return getattr(error, "sqlite_errorname", None) == "SQLITE_IOERR_SHMSIZE"


def is_io_error(error: sqlite3.Error) -> bool:
    return "disk I/O error" in str(error)


def explain_io_error(path: str, error: sqlite3.Error, *, known: bool = True) -> str:
    """Say what happened and what to do; `known` when nothing was written."""
    name = getattr(error, "sqlite_errorname", None) or "SQLITE_IOERR"
    doctor = to_type("doctor", path)
    if known:
        return (
            f"{path}: the disk reported an error ({name}) and nothing was written; check it with:"
            f" {doctor}, and try again"
        )
    return (
        f"{path}: the disk reported an error ({name}) when the last step was taken, and it is not known"
        f" whether the data was written; check the disk with: {doctor}, then look whether the data is"
        " there before you try again"
    )


def take_back(db: sqlite3.Connection, change: Callable[[sqlite3.Connection], None]) -> bool:
    """After a failed COMMIT, prevent by a small change that it is carried out later; False if that
    failed, too."""
    try:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.execute("BEGIN IMMEDIATE")
        change(db)
        db.execute("COMMIT")
    except sqlite3.Error:
        return False
    return True

"""I/O errors inside SQLite: methods of an open file are replaced by ones that fail.

It reaches SQLite by ctypes, under Python's own connection. So the errors come from where a disk's come
from, and everything above is the real thing.
"""

from __future__ import annotations

import ctypes
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

IOERR_READ, IOERR_WRITE, IOERR_FSYNC, FULL = 266, 778, 1034, 13
_FILE, _LOG = 7, 28  # SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER
_METHODS = ("close", "read", "write", "truncate", "sync")
_MAX_METHODS = 18
_HEADER_BYTES = object.__basicsize__  # a connection begins with its pointer to SQLite's

_POINTER = ctypes.c_void_p
_SIGNATURES = {
    "read": (ctypes.c_int, _POINTER, _POINTER, ctypes.c_int, ctypes.c_int64),
    "write": (ctypes.c_int, _POINTER, _POINTER, ctypes.c_int, ctypes.c_int64),
    "sync": (ctypes.c_int, _POINTER, ctypes.c_int),
}


class _IoMethods(ctypes.Structure):
    _fields_ = (("version", ctypes.c_int), ("methods", _POINTER * _MAX_METHODS))


@contextmanager
def failing(
    connection: sqlite3.Connection,
    method: str,
    code: int,
    *,
    log: bool = True,
    after: int = 0,
    times: int | None = None,
) -> Iterator[list[int]]:
    """Let a method of the log, or of the file, fail with a code: after some calls that succeed, and
    this many times, or from then on.

    Yields a list with the number of each call that failed.
    """
    file = _file_of(connection, _LOG if log else _FILE)
    used = _POINTER.from_address(file)  # an open file begins with a pointer to its methods
    original = used.value
    assert original
    patched = _IoMethods()
    ctypes.memmove(ctypes.byref(patched), original, ctypes.sizeof(patched))
    place = _METHODS.index(method)
    kind = ctypes.CFUNCTYPE(*_SIGNATURES[method])
    real = kind(patched.methods[place])
    calls, failed = [0], []

    def call(*arguments: object) -> int:
        calls[0] += 1
        if calls[0] <= after or len(failed) == times:
            return int(real(*arguments))
        failed.append(calls[0])
        return code

    replacement = kind(call)
    patched.methods[place] = ctypes.cast(replacement, _POINTER).value
    used.value = ctypes.addressof(patched)
    try:
        yield failed
    finally:
        used.value = original


def _file_of(connection: sqlite3.Connection, which: int) -> int:
    import _sqlite3

    try:
        library = ctypes.CDLL(_sqlite3.__file__)
        control = library.sqlite3_file_control
    except (OSError, AttributeError) as error:
        pytest.skip(f"SQLite cannot be reached by ctypes: {error}")
    control.argtypes = (_POINTER, ctypes.c_char_p, ctypes.c_int, _POINTER)
    handle = _POINTER.from_address(id(connection) + _HEADER_BYTES)
    file = _POINTER()
    assert control(handle, b"main", which, ctypes.byref(file)) == 0
    assert file.value
    return file.value

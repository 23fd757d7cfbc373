"""Files and folders that only their owner can read, whatever the umask; no links are followed.

What scrubjay creates is private; what exists already keeps its mode, since its owner may have opened it to
others on purpose. `scrubjay doctor` reports such files.

Windows has no such modes. A file there gets the access list of its folder, and a folder that Python creates
with mode 0700 is accessible to its owner and to administrators only (from 3.11.10, 3.12.4 and 3.13 on).

Paths are plain strings here, as in `paths`: every command that opens a store imports this.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EINVAL, ELOOP
from typing import IO, Literal

FILE_MODE, FOLDER_MODE = 0o600, 0o700
GROUP, OTHERS = 0o070, 0o007
HAS_MODES = os.name != "nt"
# Not through a link that was created after the path was checked, and not into a child process. A pipe
# in the place of a file must not block the reader.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"))


def make_private_folder(path: str) -> None:
    """Create a folder and the missing ones above it; those that exist keep their modes."""
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return
    if not os.path.isdir(os.path.dirname(path)):
        make_private_folder(os.path.dirname(path))
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        if not os.path.isdir(path):  # else another process was faster
            raise
        return
    made = os.stat(path).st_mode
    if HAS_MODES and made & FOLDER_MODE != FOLDER_MODE:  # the umask removes bits of the owner, too
        os.chmod(path, stat.S_IMODE(made) | FOLDER_MODE)


def open_private(path: str, mode: Literal["xb", "rb", "rb+"]) -> IO[bytes]:
    """Create a private file ("xb": FileExistsError if anything has that name), or open one.

    A link in the place of the file is an OSError. Do not open a database with this while the process may
    use it: closing the file would release the locks of SQLite.
    """
    return open(path, mode, opener=_open)


def open_found(path: str, below: str) -> IO[bytes]:
    """Open a file for reading that was found below a folder, given without links; OSError if it is a link
    or a pipe by now, or a folder on the way to it has become a link.

    Reading through a link would disclose a file outside the folder, and reading a pipe would never end.
    """
    try:
        file = open_private(path, "rb")
    except OSError as error:
        if os.path.islink(path):
            raise OSError(ELOOP, "replaced by a link since it was found", path) from error
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(EINVAL, "not a regular file", path)
    if not _is_below(file, path, below):
        file.close()
        raise OSError(ELOOP, "replaced, or behind a link, since it was found", path)
    return file


def _is_below(file: IO[bytes], path: str, below: str) -> bool:
    """True if an open file is the one at its path, and that is in the folder. Windows has junctions,
    which a user may have put there on purpose."""
    if not HAS_MODES:
        return True
    real = os.path.realpath(path)
    try:
        found = os.lstat(real)
    except OSError:
        return False
    inside = real.startswith(os.path.join(below, ""))
    return inside and os.path.samestat(os.fstat(file.fileno()), found)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """Give a new private file that replaces a path on success, and is deleted otherwise.

    It gets the mode of a file of the same owner that it replaces. A link is replaced, and its target
    stays.
    """
    temporary = f"{path}.{os.urandom(4).hex()}.part"
    try:
        with open_private(temporary, "xb") as file:
            copy_mode(path, file)
            yield file
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def copy_mode(path: str, file: IO[bytes]) -> None:
    """Give a file the mode of the one at a path, if that is a file of the same owner.

    Its owner can write it in any case: a copy of a read-only file could not be filled.
    """
    try:
        found = os.lstat(path)
    except OSError:
        return
    if HAS_MODES and stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
        _set_mode(file.fileno(), found.st_mode & 0o777 | FILE_MODE)


def is_private(about: os.stat_result) -> bool:
    """True for a file of this user that no other user can read or change."""
    if not HAS_MODES:
        return True
    return about.st_uid == os.geteuid() and not about.st_mode & (GROUP | OTHERS)


def wider_than_private(path: str) -> int | None:
    """Return the mode of a file or folder that others can use; None if they cannot, or it is missing."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None
    return mode if HAS_MODES and mode & (GROUP | OTHERS) else None


def restrict(path: str, removed: int = GROUP | OTHERS) -> None:
    """Remove the permissions of group and others from a file or folder; OSError if it is a link."""
    if not HAS_MODES:
        return
    if not hasattr(os, "O_PATH"):
        mode = _mode_of(os.lstat(path), path)
        os.chmod(
            path, mode & ~removed, follow_symlinks=os.chmod not in os.supports_follow_symlinks
        )
        return
    # A descriptor that only names the file: closing it releases no lock, as closing any other would.
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        mode = _mode_of(os.fstat(descriptor), path)
        os.chmod(f"/proc/self/fd/{descriptor}", mode & ~removed)
    finally:
        os.close(descriptor)


def _mode_of(found: os.stat_result, path: str) -> int:
    if stat.S_ISLNK(found.st_mode):
        raise OSError(ELOOP, "is a link", path)
    return stat.S_IMODE(found.st_mode)


def _open(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _FLAGS, FILE_MODE)
    if HAS_MODES and flags & os.O_EXCL:
        _set_mode(descriptor, FILE_MODE)
    return descriptor


def _set_mode(descriptor: int, mode: int) -> None:
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
        with suppress(OSError):  # a file system without modes, such as FAT
            os.fchmod(descriptor, mode)

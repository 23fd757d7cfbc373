"""The file of a store, read and written beside SQLite.

Where locks belong to the process (POSIX), closing any descriptor of a file releases every lock that this
process has on it, also those of SQLite: another process may then write at the same time. A descriptor
that was opened here is therefore open until no connection of this process to the file is left.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from scrubjay.errors import StoreError

Identity = tuple[int, int]  # device and number of a file

_CLOSE_RELEASES_LOCKS = os.name == "posix"


class RawFile:
    """An open file. It is not closed when nothing refers to it any more."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))

    @property
    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    # A forked process shares the position of the file with its parent, so where there are forks, no
    # position is used: one of them would write where the other one reads.

    def read(self, at: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self.descriptor, size, at)
        os.lseek(self.descriptor, at, os.SEEK_SET)
        return os.read(self.descriptor, size)

    def write(self, at: int, data: bytes) -> None:
        while data:
            written = self._write(at, data)
            at, data = at + written, data[written:]

    def _write(self, at: int, data: bytes) -> int:
        if hasattr(os, "pwrite"):
            return os.pwrite(self.descriptor, data, at)
        os.lseek(self.descriptor, at, os.SEEK_SET)
        return os.write(self.descriptor, data)

    def sync(self) -> None:
        os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)


class _Held:
    """The users of a file in this process, and its descriptor once one was needed."""

    def __init__(self) -> None:
        self.users = 0
        self.file: RawFile | None = None
        self.lock = threading.Lock()


_held: dict[Identity, _Held] = {}
_strays: list[RawFile] = []  # other files found at a path; this process may have locks on them
_registry = threading.Lock()


def hold(identity: Identity) -> None:
    """Count a user of a file, before it opens the raw file for the first time."""
    with _registry:
        _held.setdefault(identity, _Held()).users += 1


def release(identity: Identity) -> None:
    """Count a user less, after all of its connections are closed; the last one closes the file."""
    with _registry:
        held = _held[identity]
        held.users -= 1
        if held.users:
            return
        if held.file is None:
            del _held[identity]
        elif not _is_open_elsewhere(identity, held.file.descriptor):
            del _held[identity]
            held.file.close()
        # Else it stays open: an application may have connections of its own to the file.


@contextmanager
def opened(path: str, identity: Identity) -> Iterator[RawFile]:
    """Give the raw file to one thread at a time; its user must hold it."""
    with _registry:
        held = _held[identity]
    with held.lock:
        file = held.file or RawFile(path)
        try:
            found = os.fstat(file.descriptor)
            if (found.st_dev, found.st_ino) != identity:
                _strays.append(file)
                raise StoreError(f"{path} was replaced while it was open; open it again")
            if _CLOSE_RELEASES_LOCKS:
                held.file = file
            yield file
        finally:
            if not _CLOSE_RELEASES_LOCKS:
                file.close()


def _forget_held() -> None:
    """Close what a forked process has from its parent; it has no locks that this would release."""
    global _registry
    _registry = threading.Lock()  # another thread of the parent may have held it
    for held in _held.values():
        if held.file is not None:
            held.file.close()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_held)


def _is_open_elsewhere(identity: Identity, own: int) -> bool:
    """True if another descriptor of this process refers to the file, or if that is not known."""
    try:
        descriptors = [int(name) for name in os.listdir("/dev/fd") if name.isdigit()]
    except OSError:
        return True
    for descriptor in descriptors:
        if descriptor == own:
            continue
        with suppress(OSError):  # that of the listing itself is closed by now
            found = os.fstat(descriptor)
            if (found.st_dev, found.st_ino) == identity:
                return True
    return False

"""Unix socket of `scrubjay serve --socket`: only the user who runs the server can connect."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from scrubjay.errors import InvalidInput, ScrubjayError, Unavailable
from scrubjay.runtime.private_files import make_private_folder
from scrubjay.surfaces.http.listen import BACKLOG

_PROBE_S = 2.0  # for a server that may listen on a socket
URL = "http://localhost"  # what clients of a Unix socket send as Host


@contextmanager
def bind_path(path: str) -> Iterator[socket.socket]:
    """Provide a Unix socket that only the user can connect to, and remove it at the end.
    One that a killed server left is replaced; Unavailable if a server listens on it."""
    if not hasattr(socket, "AF_UNIX") or os.name == "nt":
        raise InvalidInput("this system has no Unix sockets for Python; serve without --socket")
    folder = os.path.dirname(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        make_private_folder(folder)
        with _locked(folder):
            _remove_stale(path)
            others = os.umask(0o177)  # no moment in which others could connect
            try:
                listening.bind(path)
            finally:
                os.umask(others)
            listening.listen(BACKLOG)
            bound = os.lstat(path)
    except OSError as error:
        listening.close()
        why = error.strerror or error
        raise Unavailable(
            f"cannot listen on {path} ({why}); give a short path in a folder of your own"
        ) from None
    except ScrubjayError:
        listening.close()
        raise
    listening.setblocking(False)
    with listening:
        try:
            yield listening
        finally:
            if _is_same_file(path, bound):
                os.unlink(path)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Keep other servers from the sockets of a folder, in which only the user may write."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        if about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise InvalidInput(
                f"other users can write to {folder}, and put their own socket there; give a path in a"
                " folder that is yours alone (chmod 700)"
            )
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_stale(path: str) -> None:
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(about.st_mode):
        raise InvalidInput(f"{path} exists and is not a socket; give another path")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            os.unlink(path)
            return
        except TimeoutError:  # it is there, and busy
            pass
    raise Unavailable(f"a server listens on {path} already; stop it, or give another path")


def _is_same_file(path: str, bound: os.stat_result) -> bool:
    try:
        now = os.lstat(path)
    except OSError:
        return False
    return (now.st_dev, now.st_ino) == (bound.st_dev, bound.st_ino)

"""Place of the model process: a socket in a folder of its user, named by all that must be equal.

Two processes share models only if they have the same version of scrubjay and of onnxruntime, the same
device and the same cores. Any difference is another name, and so another model process.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import struct
import sys
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from typing import NamedTuple

from scrubjay._version import __version__
from scrubjay.config import device
from scrubjay.models.onnx_session import default_threads
from scrubjay.models.process.messages import PROTOCOL
from scrubjay.runtime.paths import cache_dir
from scrubjay.runtime.private_files import make_private_folder

VARIABLE = "SCRUBJAY_SHARED_MODELS"
# Of these, a process sees other devices than its neighbour.
_DEVICES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_CONNECT_S = 1.0
_MOST_PATH_BYTES = 100  # macOS takes 103


class Refused(Exception):
    """The socket, or its folder, is not of this user alone."""


class Place(NamedTuple):
    """The folder of the sockets of a user, and the name of one of them."""

    folder: str
    name: str

    @property
    def socket(self) -> str:
        return os.path.join(self.folder, f"{self.name}.sock")

    @property
    def lock(self) -> str:
        """The file that the model process keeps locked as long as it lives."""
        return os.path.join(self.folder, f"{self.name}.lock")


def can_share() -> bool:
    """True where models may be shared: on Unix, unless `SCRUBJAY_SHARED_MODELS=0` forbids it."""
    given = os.environ.get(VARIABLE, "").strip().lower()
    return given not in ("0", "false", "no") and hasattr(socket, "AF_UNIX") and os.name == "posix"


def place() -> Place:
    """Return where the model process of this user, version and device is, running or not."""
    engine = find_spec("onnxruntime")
    origin = "" if engine is None else engine.origin or ""
    same = [
        *(PROTOCOL, __version__, _PACKAGE, sys.executable, device(), default_threads()),
        *(os.uname().nodename, origin, _changed_ns(origin)),
        *(os.environ.get(name) for name in _DEVICES),
    ]
    digest = hashlib.sha256(json.dumps(same).encode("utf-8", "replace")).hexdigest()
    return Place(os.path.join(os.path.abspath(cache_dir()), f"run-{os.geteuid()}"), digest[:12])


def make_folder(at: Place) -> None:
    """Create the folder; Refused if it is not of this user alone, or its path is too long."""
    if len(os.fsencode(at.socket)) > _MOST_PATH_BYTES:
        raise Refused(f"the path {at.socket} is too long for a socket")
    try:
        make_private_folder(at.folder)
    except OSError as error:
        raise Refused(f"{at.folder} cannot be created: {error}") from error
    check_folder(at)


def check_folder(at: Place) -> None:
    """Raise Refused unless the folder is one of this user, and closed to all others."""
    try:
        found = os.lstat(at.folder)
    except OSError as error:
        raise Refused(f"{at.folder} cannot be used: {error}") from error
    if not stat.S_ISDIR(found.st_mode):
        raise Refused(f"{at.folder} is not a folder")
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Refused(f"{at.folder} is not private to this user")


def is_socket(at: Place) -> bool:
    """True for a socket of this user, False where there is nothing; Refused for anything else."""
    try:
        found = os.lstat(at.socket)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Refused(f"{at.socket} cannot be used: {error}") from error
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        raise Refused(f"{at.socket} is not a socket of this user")
    return True


def connect(at: Place) -> socket.socket | None:
    """Return a connection to the model process; None where none runs, Refused if it is of another user."""
    if not os.path.lexists(at.folder):
        return None
    check_folder(at)
    if not is_socket(at):
        return None
    with suppress(OSError), ExitStack() as stack:  # it has ended, or a sandbox forbids sockets
        sock = stack.enter_context(socket.socket(socket.AF_UNIX))
        sock.settimeout(_CONNECT_S)
        sock.connect(at.socket)
        check_peer(sock)
        stack.pop_all()
        return sock
    return None


def check_peer(sock: socket.socket) -> int:
    """Return the id of the process at the other end, 0 where the system does not say it.
    Refused if that process is of another user."""
    pid, uid = 0, os.geteuid()
    if hasattr(socket, "SO_PEERCRED"):
        form = struct.Struct("3i")
        given = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, form.size)
        pid, uid, _ = form.unpack(given)
    elif sys.platform == "darwin":
        form = struct.Struct("2I")  # LOCAL_PEERCRED: the version of the structure, and the user
        _, uid = form.unpack(sock.getsockopt(0, 1, 76)[: form.size])
    if uid != os.geteuid():
        raise Refused(f"the process at the other end is of the user {uid}")
    return pid


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0

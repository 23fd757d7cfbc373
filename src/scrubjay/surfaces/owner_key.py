"""The owner's key: a secret in a file that only the user who runs a server can read.

One key for all servers of a user, which stays the same when they are restarted, so that the settings of
agents keep working. Beside it is a file with the HTTP header: `curl -H @FILE` reads that, and no other user
sees the key in the list of processes, as they would with `curl -H "Authorization: Bearer …"`.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from scrubjay.errors import StoreError
from scrubjay.runtime.paths import data_dir
from scrubjay.runtime.private_files import (
    is_private,
    make_private_folder,
    open_private,
    replacing,
)
from scrubjay.text.api_key_format import is_whole, new_secret

KEY_FILE, HEADER_FILE = "serve.key", "serve.header"
_MAX_BYTES = 200


class OwnerKey(NamedTuple):
    """The secret, and the files with it and with the header."""

    secret: str
    path: str
    header_path: str

    def __repr__(self) -> str:
        return f"OwnerKey(path={self.path!r})"


def read_owner_key() -> OwnerKey | None:
    """Return the owner's key, None if there is none yet; StoreError if others may know it."""
    path = os.path.join(data_dir(), KEY_FILE)
    secret = _read(path)
    if secret is None:
        return None
    if not is_whole(secret):
        raise StoreError(f"{path} does not contain a key; {_remedy(path)}")
    return OwnerKey(secret, path, os.path.join(data_dir(), HEADER_FILE))


def ensure_owner_key() -> OwnerKey:
    """Return the owner's key; create it, and the file with the header, where they do not exist."""
    folder = data_dir()
    path, header_path = os.path.join(folder, KEY_FILE), os.path.join(folder, HEADER_FILE)
    try:
        make_private_folder(folder)
        key = read_owner_key()
        if key is None:
            _create(path, f"{new_secret()}\n".encode())
            key = read_owner_key()  # that of another server, if it was faster
        if key is None:
            raise StoreError(f"{path} was removed in this moment; start the server again")
        header = f"Authorization: Bearer {key.secret}"
        if _read(header_path) != header:
            with replacing(header_path) as file:
                file.write(f"{header}\n".encode())
    except OSError as error:
        raise StoreError(
            f"cannot write the owner's key to {folder} ({error.strerror}); set SCRUBJAY_HOME to another"
            " folder, or serve with --no-auth"
        ) from error
    return key


def _read(path: str) -> str | None:
    """Return the text of a private file, None without one; StoreError if others may know or change it."""
    try:
        file = open_private(path, "rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path} ({error.strerror}); {_remedy(path)}") from error
    with file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise StoreError(f"{path} is not a file; {_remedy(path)}")
        if not is_private(about):
            raise StoreError(
                f"other users of this machine can read or change {path}; {_remedy(path)}"
            )
        return file.read(_MAX_BYTES).decode("ascii", "replace").strip()


def _create(path: str, content: bytes) -> None:
    """Write a complete private file, unless another process has created one."""
    temporary = f"{path}.{os.urandom(8).hex()}"
    try:
        with open_private(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _publish(temporary, path)
    except FileExistsError:
        pass
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


def _publish(temporary: str, path: str) -> None:
    """Give a complete file its name; FileExistsError if another has it."""
    if os.name == "nt":
        os.rename(temporary, path)  # fails there if the other one exists
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.replace(temporary, path)


def _remedy(path: str) -> str:
    return (
        f"delete {path}, and the next `scrubjay serve` creates another; on a file system without"
        " permissions, set SCRUBJAY_HOME to another folder"
    )

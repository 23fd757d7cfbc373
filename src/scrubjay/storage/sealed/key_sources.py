"""Where the secret of a sealed store comes from: a passphrase, a key file, or bytes.

A passphrase has little entropy and passes Argon2id. A key is random, and passes HKDF only.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from scrubjay.errors import InvalidInput, Locked
from scrubjay.runtime.private_files import is_private, open_private
from scrubjay.storage.sealed.primitives import KEY_BYTES, wipe

PASSPHRASE, KEY = "passphrase", "key"
KEY_FILE_VARIABLE = "SCRUBJAY_KEY_FILE"
_PREFIX = "scrubjay-key-1"
_CHECK_DIGITS = 8
_MIN_KEY_BYTES = 16
_MAX_FILE_BYTES = 4096


class Secret(NamedTuple):
    """What opens a store: its kind, and bytes that are wiped after use."""

    kind: str
    value: bytearray

    def __repr__(self) -> str:
        return f"Secret({self.kind})"

    def wipe(self) -> None:
        wipe(self.value)


def secret_of(key: str | Path | bytes) -> Secret:
    """Return the secret that `open(key=…)` was given: a passphrase, a key file, or a key."""
    if isinstance(key, str):
        if not key:
            raise InvalidInput("the passphrase is empty; give one of several words")
        # The same passphrase is typed as other code points on other systems.
        return Secret(PASSPHRASE, bytearray(unicodedata.normalize("NFC", key).encode()))
    if isinstance(key, os.PathLike):
        return read_key_file(os.fspath(key))
    if not isinstance(key, bytes | bytearray):
        raise InvalidInput(
            "key is a passphrase (str), a key file (Path) or a key (bytes),"
            f" not {type(key).__name__}"
        )
    if len(key) < _MIN_KEY_BYTES:
        raise InvalidInput(
            f"a key of {len(key)} bytes is too short; give {KEY_BYTES} random bytes, or a passphrase as str"
        )
    return Secret(KEY, bytearray(key))


def from_environment() -> Secret | None:
    """Return the secret of the key file that SCRUBJAY_KEY_FILE names; None where it is not set."""
    path = os.environ.get(KEY_FILE_VARIABLE)
    return read_key_file(path) if path else None


def ask_passphrase(*, twice: bool) -> Secret:
    """Ask for a passphrase at the terminal, without echo; `twice` for a new one."""
    passphrase = _typed("Passphrase: ")
    if twice and _typed("Passphrase again: ") != passphrase:
        raise InvalidInput("the two passphrases differ; nothing was changed")
    return secret_of(passphrase)


def _typed(prompt: str) -> str:
    import getpass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)  # it would echo the passphrase
        try:
            return getpass.getpass(prompt)
        except (EOFError, OSError, getpass.GetPassWarning) as error:
            raise Locked(
                f"the store is sealed, and no terminal can ask for its passphrase; set {KEY_FILE_VARIABLE}"
                " to a key file"
            ) from error


def create_key_file(path: str) -> Secret:
    """Create a private file with a new random key, and return that; an existing file stays as it is."""
    key = bytearray(os.urandom(KEY_BYTES))
    try:
        with open_private(path, "xb") as file:
            file.write(f"{_line(key)}\n".encode())
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise InvalidInput(f"{path} exists already; give the path of a new file") from None
    except OSError as error:
        raise InvalidInput(f"cannot create the key file {path} ({error.strerror})") from error
    return Secret(KEY, key)


def read_key_file(path: str) -> Secret:
    """Return the key in a file. Locked where there is none, InvalidInput where it is no key file, or
    others can read it."""
    try:
        # A mounted secret may be a link; its path was given on purpose.
        file = open_private(os.path.realpath(path), "rb")
    except OSError as error:
        raise Locked(f"cannot read the key file {path} ({error.strerror})") from error
    with file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise InvalidInput(f"the key file {path} is not a file")
        if not is_private(about):
            raise InvalidInput(
                f"other users of this machine can read or change the key file {path}; run: chmod 600 {path}"
            )
        content = file.read(_MAX_FILE_BYTES)
    key = _key_in(content)
    if key is None:
        raise InvalidInput(
            f"{path} is not a key file, or a part of it is missing; a key file has one line that begins with"
            f" {_PREFIX}, or {KEY_BYTES} random bytes"
        )
    return Secret(KEY, key)


def _line(key: bytearray) -> str:
    return f"{_PREFIX} {b64encode(key).decode()} {_check_digits(key)}"


def _check_digits(key: bytearray) -> str:
    return sha256(b"scrubjay key file\0" + key).hexdigest()[:_CHECK_DIGITS]


def _key_in(content: bytes) -> bytearray | None:
    if len(content) == KEY_BYTES:
        return bytearray(content)
    prefix, *rest = content.decode("ascii", "replace").split() or [""]
    if prefix != _PREFIX or len(rest) != 2:
        return None
    try:
        key = bytearray(b64decode(rest[0], validate=True))
    except NotBase64:
        return None
    return key if len(key) == KEY_BYTES and _check_digits(key) == rest[1] else None

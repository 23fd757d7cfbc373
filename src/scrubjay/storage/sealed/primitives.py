"""AES-256-GCM, HKDF and Argon2id of the library `cryptography`, and the encoding of what they bind.

Nothing of cryptography is written here: this module only fixes which functions are used, with which sizes.
"""

from __future__ import annotations

import hmac
import os
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
SALT_BYTES = 16
CIPHER = "AES-256-GCM"

Bytes = bytes | bytearray

# A file names its own parameters. Above these, opening it would take all memory, or an hour.
_MAX_MEMORY_KIB = 4 * 1024 * 1024
_MAX_ITERATIONS = 1000
_MAX_LANES = 64


class Forged(Exception):
    """A ciphertext was changed, is in another place than it was made for, or has another key."""


class Argon2(NamedTuple):
    """Parameters of Argon2id, which a store keeps beside its salt."""

    memory_kib: int = 128 * 1024
    iterations: int = 4
    lanes: int = 4

    def check(self) -> None:
        """Refuse parameters that no store of ours has."""
        whole = all(type(number) is int and number > 0 for number in self)
        if not (
            whole
            and 8 * self.lanes <= self.memory_kib <= _MAX_MEMORY_KIB
            and self.iterations <= _MAX_ITERATIONS
            and self.lanes <= _MAX_LANES
        ):
            raise InvalidInput(f"the parameters of Argon2id are out of range: {tuple(self)}")


def require() -> None:
    """Raise MissingExtra without the library."""
    try:
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id  # noqa: F401
    except ImportError as error:
        raise MissingExtra("cryptography", 'pip install "scrubjay[sealed]"') from error


def bound(*parts: str | Bytes | int) -> bytes:
    """Encode what a ciphertext is bound to: each part after its length, so that no two lists are equal."""
    encoded = bytearray()
    for part in parts:
        if isinstance(part, int):
            part = str(part)
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        encoded += len(data).to_bytes(8, "big")
        encoded += data
    return bytes(encoded)


class Cipher:
    """AES-256-GCM under one key, with a random nonce for each value. Threads may share it."""

    def __init__(self, key: Bytes) -> None:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._aead: AESGCM = AESGCM(key)
        self._invalid = InvalidTag

    def seal(self, plain: Bytes, associated: bytes) -> bytes:
        """Return nonce, ciphertext and tag."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, plain, associated)

    def open(self, sealed: bytes, associated: bytes) -> bytes:
        """Return the plain bytes; Forged where key, place or any bit is another one."""
        if len(sealed) < NONCE_BYTES + TAG_BYTES:
            raise Forged
        try:
            return self._aead.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], associated)
        except self._invalid:
            raise Forged from None


def derive(key: Bytes, purpose: str, salt: bytes) -> bytearray:
    """Derive a key for one purpose from a key, by HKDF with SHA-256."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    kdf = HKDF(SHA256(), KEY_BYTES, salt, f"scrubjay {purpose}".encode())
    return bytearray(kdf.derive(key))


def derive_slowly(passphrase: Bytes, salt: bytes, parameters: Argon2) -> bytearray:
    """Derive a key from a passphrase, by Argon2id."""
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    parameters.check()
    kdf = Argon2id(
        salt=salt,
        length=KEY_BYTES,
        iterations=parameters.iterations,
        lanes=parameters.lanes,
        memory_cost=parameters.memory_kib,
    )
    return bytearray(kdf.derive(bytes(passphrase)))


def keyed_hash(key: Bytes, text: str | bytes, size: int) -> bytes:
    """Return the first bytes of HMAC-SHA256."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hmac.digest(key, data, "sha256")[:size]


def wipe(key: bytearray) -> None:
    """Overwrite a key. Copies that the interpreter or the library made are not reached."""
    key[:] = bytes(len(key))

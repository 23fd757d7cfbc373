"""The envelope of a sealed store: its master key, encrypted under what its owner has.

The master key encrypts the keys of the store and nothing else. So another passphrase needs one small row
to be written, and another master key one row for each key, whatever the size of the store.
"""

from __future__ import annotations

import hmac
import json
import os
from base64 import b64decode, b64encode
from typing import Any, NamedTuple

from scrubjay.errors import Locked, StoreError
from scrubjay.storage.codec import UNREADABLE
from scrubjay.storage.sealed.key_sources import PASSPHRASE, Secret
from scrubjay.storage.sealed.primitives import (
    CIPHER,
    KEY_BYTES,
    SALT_BYTES,
    Argon2,
    Bytes,
    Cipher,
    Forged,
    bound,
    derive,
    derive_slowly,
    keyed_hash,
    wipe,
)

FORMAT = 1
_STORE_BYTES = 16
_WRONG = (
    "the key does not open this store; give the passphrase or key file that it was sealed with"
)


class Envelope(NamedTuple):
    """What a store keeps in clear: how to derive a key from the secret, and the master key under it.

    `kdf` has no parameters of Argon2id where the secret is a key. `check` commits to the master key: a
    ciphertext of AES-GCM alone can be made to open under two keys. `generation` counts master keys.
    """

    store: bytes
    generation: int
    kind: str
    kdf: Argon2 | None
    salt: bytes
    wrapped: bytes
    check: bytes

    def unlock(self, secret: Secret) -> bytearray:
        """Return the master key; Locked for any other secret, without a hint what is wrong with it."""
        key = _key_of(secret, self.salt, self.kdf or Argon2())
        try:
            master = bytearray(Cipher(key).open(self.wrapped, _place(self)))
        except Forged:
            raise Locked(_WRONG) from None
        finally:
            wipe(key)
        if not hmac.compare_digest(_check_of(master, self.store, self.generation), self.check):
            wipe(master)
            raise Locked(_WRONG)
        return master

    def with_secret(self, master: Bytes, secret: Secret, argon2: Argon2 | None = None) -> Envelope:
        """Return the envelope of the same master key under another secret."""
        return _wrapped(self.store, self.generation, master, secret, argon2)

    def with_new_master(
        self, secret: Secret, argon2: Argon2 | None = None
    ) -> tuple[Envelope, bytearray]:
        """Return the envelope of a new master key, and that key."""
        master = bytearray(os.urandom(KEY_BYTES))
        return _wrapped(self.store, self.generation + 1, master, secret, argon2), master

    def encode(self) -> bytes:
        """Return the form in which it is stored."""
        fields = {
            "format": FORMAT,
            "cipher": CIPHER,
            "store": self.store.hex(),
            "generation": self.generation,
            "kind": self.kind,
            "argon2id": None if self.kdf is None else self.kdf._asdict(),
            **{name: b64encode(getattr(self, name)).decode() for name in _BYTES},
        }
        return json.dumps(fields).encode()


_BYTES = ("salt", "wrapped", "check")


def create(secret: Secret, argon2: Argon2 | None = None) -> tuple[Envelope, bytearray]:
    """Return the envelope of a new store, and its master key."""
    master = bytearray(os.urandom(KEY_BYTES))
    return _wrapped(os.urandom(_STORE_BYTES), 1, master, secret, argon2), master


def decode(stored: Bytes) -> Envelope:
    """Return a stored envelope; StoreError where it is damaged, or of a newer version."""
    try:
        fields = json.loads(bytes(stored))
        if fields["format"] != FORMAT or fields["cipher"] != CIPHER:
            raise StoreError(
                "the store was sealed by a newer scrubjay; upgrade with: pip install --upgrade scrubjay"
            )
        kdf = fields["argon2id"]
        return Envelope(
            store=bytes.fromhex(fields["store"]),
            generation=int(fields["generation"]),
            kind=str(fields["kind"]),
            kdf=None if kdf is None else Argon2(**kdf),
            **{name: b64decode(fields[name], validate=True) for name in _BYTES},
        )
    except (*UNREADABLE, KeyError) as error:
        raise StoreError(
            "the keys of this sealed store are damaged; restore a backup of the file"
        ) from error


def _wrapped(
    store: bytes, generation: int, master: Bytes, secret: Secret, argon2: Argon2 | None
) -> Envelope:
    kdf = (argon2 or Argon2()) if secret.kind == PASSPHRASE else None
    check = _check_of(master, store, generation)
    salt = os.urandom(SALT_BYTES)
    envelope = Envelope(store, generation, secret.kind, kdf, salt, b"", check)
    key = _key_of(secret, salt, kdf or Argon2())
    try:
        return envelope._replace(wrapped=Cipher(key).seal(master, _place(envelope)))
    finally:
        wipe(key)


def _key_of(secret: Secret, salt: bytes, kdf: Argon2) -> bytearray:
    if secret.kind == PASSPHRASE:
        return derive_slowly(secret.value, salt, kdf)
    return derive(secret.value, "key file", salt)


def _place(envelope: Envelope) -> bytes:
    """Bind the master key to everything beside it, so that no part can be changed on its own."""
    parameters: tuple[Any, ...] = envelope.kdf or ()
    about = ("master", FORMAT, CIPHER, envelope.generation, envelope.kind, *parameters)
    return bound(*about, envelope.store, envelope.salt, envelope.check)


def _check_of(master: Bytes, store: bytes, generation: int) -> bytes:
    key = derive(master, "check", store)
    try:
        return keyed_hash(key, f"generation {generation}", KEY_BYTES)
    finally:
        wipe(key)

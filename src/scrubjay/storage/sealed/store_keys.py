"""The keys of an unlocked store: one for the values of each namespace, and one for each kind of hash.

They are random, and in the table `keys` under the master key alone. Removing a row makes every value
under that key unreadable: for this process when it closes the store at the latest.
"""

from __future__ import annotations

import json
import os
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scrubjay.errors import Locked, StoreError
from scrubjay.storage.codec import UNREADABLE, DamagedValue
from scrubjay.storage.database import ENVELOPE, Connection, Database, Gathered
from scrubjay.storage.sealed.primitives import (
    KEY_BYTES,
    Bytes,
    Cipher,
    Forged,
    bound,
    derive,
    keyed_hash,
    wipe,
)

if TYPE_CHECKING:
    from scrubjay.storage.sealed.envelope import Envelope
    from scrubjay.storage.sealed.key_sources import Secret
    from scrubjay.storage.sealed.primitives import Argon2

ID_BYTES = 8
# Rows of `keys`: a key by its id, and the id of the key that a namespace writes with. An id is random:
# a number could be given twice, after the highest one was removed.
_KEY, _CURRENT = "sealed key ", "sealed current "
DATA, HASHES = "data", "hashes"
_PUT = (
    "INSERT INTO keys (name, key) VALUES (?, ?)"
    " ON CONFLICT (name) DO UPDATE SET key = excluded.key"
)
_DAMAGED = "the keys of this sealed store are damaged; restore a backup of the file"
_LOCKED = "the store is locked; open it again with its key"
_ROTATED = "the master key of this store was changed by another process; open the store again"


class StoreKeys:
    """The keys of one store, as long as it is unlocked. Threads may share it."""

    def __init__(self, db: Database, envelope: Envelope, master: bytearray) -> None:
        self._db = db
        self.envelope = envelope
        self._master = master
        self._wrapping = derive(master, "wrapping", envelope.store)
        self._ciphers: dict[bytes, Cipher] = {}
        self._hash_keys: dict[str, bytearray] = {}
        # Keys are wiped only while none is in use: a hash with a wiped key would be stored as if it
        # were right. Taken after the lock of a write or read, never before it.
        self._in_use = threading.RLock()
        self.is_locked = False

    @property
    def store(self) -> bytes:
        """The id of the store, to which every value is bound."""
        return self.envelope.store

    def make_hash_keys(self, kinds: Iterable[str]) -> None:
        """Make the keys of a new store."""
        with self._db.write() as db:
            for kind in kinds:
                self._make(db, HASHES, kind)

    def for_writing(self, namespace: str) -> tuple[bytes, Cipher]:
        """Return the key with which a namespace writes, made if there is none, and its id."""
        with self._db.write() as db:
            # Its id is read in each write: another process may have replaced or destroyed the key since.
            # And it is not kept for longer: the write may be rolled back, and a new key with it.
            chosen = self._db.gathering(_KeysOfWrite).by_namespace
            id_ = chosen.get(namespace)
            if id_ is None:
                id_ = self._current(db, DATA, namespace) or self._make(db, DATA, namespace)
                chosen[namespace] = id_
            return id_, self.for_reading(id_)

    def for_reading(self, id_: bytes) -> Cipher:
        """Return a key by its id; DamagedValue where it was destroyed."""
        cipher = self._ciphers.get(id_)
        if cipher is not None:
            return cipher
        with self._db.read() as db:
            key = self._unwrapped(db, id_)
        cipher = Cipher(key)
        wipe(key)
        with self._in_use:
            self._check_unlocked()
            self._ciphers[id_] = cipher
        return cipher

    def hash_of(self, kind: str, text: str | bytes, size: int) -> bytes:
        """Return a text as a hash of some kind, such as that of words."""
        key = self._hash_keys.get(kind)
        if key is None:
            with self._db.read() as db:
                id_ = self._current(db, HASHES, kind)
                if id_ is None:
                    raise StoreError(_DAMAGED)
                key = self._unwrapped(db, id_)
        with self._in_use:
            self._check_unlocked()
            return keyed_hash(self._hash_keys.setdefault(kind, key), text, size)

    def is_current(self, id_: bytes, namespace: str) -> bool:
        """False for the id of a key that a namespace does not write with any more."""
        with self._db.read() as db:
            return _read(db, _CURRENT + _name(DATA, namespace)) == id_

    def replace_data_key(self, namespace: str) -> None:
        """Let a namespace write with a new key. What is stored stays readable with the one before, and
        gets the new key when it is written again."""
        with self._db.write() as db:
            self._make(db, DATA, namespace)
            self._db.gathering(_KeysOfWrite).by_namespace.pop(namespace, None)

    def destroy(self, namespace: str) -> int:
        """Destroy every key of a namespace; return how many there were. Nothing that was written with
        them can be read again."""
        with self._db.write() as db:
            destroyed = [id_ for id_, kind, name in _rows(db) if (kind, name) == (DATA, namespace)]
            names = [_CURRENT + _name(DATA, namespace), *(_KEY + id_.hex() for id_ in destroyed)]
            db.executemany("DELETE FROM keys WHERE name = ?", [(name,) for name in names])
            self._db.gathering(_KeysOfWrite).by_namespace.pop(namespace, None)
            self._db.mark_deleted(words=False)
        for id_ in destroyed:
            self._ciphers.pop(id_, None)
        self._db.purge()
        return len(destroyed)

    def put_envelope(self, secret: Secret, argon2: Argon2 | None = None) -> None:
        """Put the master key under another secret. The one before does not open the store any more, but
        it still opens older copies of the file."""
        with self._db.write() as db, self._in_use:
            self._check_unlocked()
            self._check_generation(db)
            envelope = self.envelope.with_secret(self._master, secret, argon2)
            _put(db, ENVELOPE, envelope.encode())
            self._db.mark_deleted(words=False)
        self._db.purge()
        self.envelope = envelope

    def replace_master(self, secret: Secret, argon2: Argon2 | None = None) -> None:
        """Make a new master key, and put every key of the store under it; all of them or none."""
        with self._db.write() as db, self._in_use:
            self._check_unlocked()
            self._check_generation(db)
            envelope, master = self.envelope.with_new_master(secret, argon2)
            wrapping = derive(master, "wrapping", envelope.store)
            for id_, kind, name in _rows(db):
                key = self._unwrapped(db, id_)
                _put(db, _KEY + id_.hex(), _wrapped(wrapping, envelope, id_, kind, name, key))
                wipe(key)
            _put(db, ENVELOPE, envelope.encode())
            self._db.mark_deleted(words=False)
        self._db.purge()
        for old in (self._master, self._wrapping):
            wipe(old)
        self.envelope, self._master, self._wrapping = envelope, master, wrapping

    def lock(self) -> None:
        """Wipe every key; what needs one raises Locked from now on."""
        with self._in_use:
            self.is_locked = True
            for key in (self._master, self._wrapping, *self._hash_keys.values()):
                wipe(key)
            self._hash_keys.clear()
            self._ciphers.clear()

    def _check_unlocked(self) -> None:
        if self.is_locked:
            raise Locked(_LOCKED)

    def _check_generation(self, db: Connection) -> None:
        from scrubjay.storage.sealed.envelope import decode

        stored = _read(db, ENVELOPE)
        if stored is None or decode(stored).generation != self.envelope.generation:
            raise Locked(_ROTATED)

    def _current(self, db: Connection, kind: str, name: str) -> bytes | None:
        """Return the id of the key that is in use for something; None if there is none yet."""
        id_ = _read(db, _CURRENT + _name(kind, name))
        if id_ is None:
            return None
        stored = _read(db, _KEY + id_.hex())
        if stored is None or _about(stored)[:2] != (kind, name):
            raise StoreError(_DAMAGED)
        return id_

    def _make(self, db: Connection, kind: str, name: str) -> bytes:
        with self._in_use:
            self._check_unlocked()
            self._check_generation(db)
            id_, key = os.urandom(ID_BYTES), bytearray(os.urandom(KEY_BYTES))
            _put(
                db, _KEY + id_.hex(), _wrapped(self._wrapping, self.envelope, id_, kind, name, key)
            )
            _put(db, _CURRENT + _name(kind, name), id_)
            wipe(key)
            return id_

    def _unwrapped(self, db: Connection, id_: bytes) -> bytearray:
        stored = _read(db, _KEY + id_.hex())
        if stored is None:
            raise DamagedValue("its key was destroyed")
        kind, name, wrapped = _about(stored)
        with self._in_use:
            self._check_unlocked()
            try:
                place = _place(self.envelope, id_, kind, name)
                return bytearray(Cipher(self._wrapping).open(wrapped, place))
            except Forged:
                self._check_generation(db)
                raise DamagedValue("its key is damaged") from None


class _KeysOfWrite(Gathered):
    """The ids of the keys that namespaces write with in one write."""

    def __init__(self) -> None:
        self.by_namespace: dict[str, bytes] = {}

    def write(self, db: Connection) -> None:
        """Do nothing: a key is written when it is made."""


def _put(db: Connection, name: str, stored: bytes) -> None:
    db.execute(_PUT, (name, stored))


def _name(kind: str, name: str) -> str:
    return f"{kind} {name}"


def _read(db: Connection, name: str) -> bytes | None:
    row = db.execute("SELECT key FROM keys WHERE name = ?", (name,)).fetchone()
    return None if row is None else bytes(row[0])


def _rows(db: Connection) -> Iterator[tuple[bytes, str, str]]:
    """Yield id, kind and name of every key."""
    rows = db.execute(
        "SELECT name, key FROM keys WHERE name >= ? AND name < ?", (_KEY, _KEY[:-1] + "!")
    ).fetchall()
    for row, stored in rows:
        kind, name, _ = _about(bytes(stored))
        yield bytes.fromhex(row.removeprefix(_KEY)), kind, name


def _wrapped(
    wrapping: Bytes, envelope: Envelope, id_: bytes, kind: str, name: str, key: Bytes
) -> bytes:
    sealed = Cipher(wrapping).seal(key, _place(envelope, id_, kind, name))
    return json.dumps([kind, name, b64encode(sealed).decode()]).encode()


def _about(stored: bytes) -> tuple[str, str, bytes]:
    try:
        kind, name, wrapped = json.loads(stored)
        return str(kind), str(name), b64decode(wrapped, validate=True)
    except UNREADABLE as error:
        raise DamagedValue("its key is damaged") from error


def _place(envelope: Envelope, id_: bytes, kind: str, name: str) -> bytes:
    return bound("key", envelope.store, envelope.generation, id_, kind, name)

"""Codec of a sealed store: values become ciphertext that opens in its own place only, tokens become hashes.

A value is a byte with the format, the id of its key, a nonce, the ciphertext and a tag. It is bound to the
store, to its column and to the row that owns it: moved elsewhere, it does not open.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, Locked
from scrubjay.storage.codec import Codec, DamagedValue
from scrubjay.storage.sealed.ledger import Ledger
from scrubjay.storage.sealed.primitives import Forged, bound
from scrubjay.storage.sealed.store_keys import ID_BYTES

if TYPE_CHECKING:
    from scrubjay.storage.database import Connection, Database
    from scrubjay.storage.sealed.store_keys import StoreKeys

FORMAT = b"\x01"
_VECTOR = "vector"  # not bound to its passage yet: decision 047
_HEAD_BYTES = len(FORMAT) + ID_BYTES
# Kinds of hashes, each under a key of its own.
WORDS, TOPICS, EXACT, ROWS = HASH_KINDS = "words", "topics", "exact", "rows"
# Lower case, because FTS5 folds letters. Of 80 bits, two of ten million words are equal with a chance of
# 4 in 100 billion, and then their memories are found by both.
_TOKEN_BYTES, _EXACT_BYTES, _TAG_BYTES = 10, 20, 12
EXACT_LETTERS = _EXACT_BYTES * 8 // 5


class SealedCodec(Codec):
    """Seals with the keys of a store; raises Locked until it has them."""

    name = "sealed"
    is_sealed = True

    def __init__(self) -> None:
        self._keys: StoreKeys | None = None
        self._ledger: Ledger | None = None

    @property
    def keys(self) -> StoreKeys:
        """The keys of the unlocked store."""
        if self._keys is None:
            raise Locked("the store is sealed; open it with its key")
        return self._keys

    def unlock(self, keys: StoreKeys, db: Database) -> None:
        """Use the keys of a database from now on."""
        self._keys = keys
        self._ledger = Ledger(db, self._sealed, self._opened, self._tag)

    def seal(self, text: str, column: str, owner: str, namespace: str = "") -> bytes:
        return self._sealed(text.encode(), column, owner, namespace)

    def unseal(self, stored: str | bytes, column: str, owner: str) -> str:
        return self._opened(stored, column, owner).decode()

    def seal_vector(self, vector: bytes) -> bytes:
        return self._sealed(vector, _VECTOR, "")

    def unseal_vector(self, stored: bytes) -> bytes:
        return self._opened(stored, _VECTOR, "")

    def token(self, token: str) -> str:
        return _letters(self.keys.hash_of(WORDS, token, _TOKEN_BYTES))

    def prefix(self, token: str) -> str:
        raise InvalidInput(
            f"a sealed store finds whole words only, because it has them as hashes: write a word instead of"
            f" {token}*"
        )

    def exact(self, value: str, column: str) -> str:
        return _letters(self.keys.hash_of(EXACT, f"{column}\0{value}", _EXACT_BYTES))

    def topic_hash(self, form: str, size: int) -> bytes:
        return self.keys.hash_of(TOPICS, form, size)

    def destroy(self, namespace: str) -> None:
        self.keys.destroy(namespace)

    def write_begins(self, db: Connection) -> None:
        if self._ledger is not None:
            self._ledger.write_begins(db)

    def write_ends(self, db: Connection) -> None:
        if self._ledger is not None:
            try:
                self._ledger.write_ends(db)
            except DamagedValue as error:
                raise self._ledger.damaged(error) from error

    def not_as_written(self, ids: Collection[str]) -> set[str]:
        return set() if self._ledger is None else self._ledger.not_as_written(ids)

    def differences(self) -> Iterator[str]:
        """Yield each difference between the memories and what was written, in words."""
        if self._ledger is not None:
            yield from self._ledger.differences()

    def _tag(self, row: bytes) -> bytes:
        return self.keys.hash_of(ROWS, row, _TAG_BYTES)

    def lock(self) -> None:
        if self._keys is not None:
            self._keys.lock()

    def is_outdated(self, stored: bytes, namespace: str) -> bool:
        """True for a value under a key that its namespace does not write with any more."""
        return not self.keys.is_current(stored[len(FORMAT) : _HEAD_BYTES], namespace)

    def _sealed(self, plain: bytes, column: str, owner: str, namespace: str = "") -> bytes:
        keys = self.keys
        id_, cipher = keys.for_writing(namespace)
        return FORMAT + id_ + cipher.seal(plain, bound(FORMAT, id_, keys.store, column, owner))

    def _opened(self, stored: object, column: str, owner: str) -> bytes:
        if not isinstance(stored, bytes) or stored[: len(FORMAT)] != FORMAT:
            raise DamagedValue("a value is not sealed")
        id_, keys = stored[len(FORMAT) : _HEAD_BYTES], self.keys
        cipher = keys.for_reading(id_)
        try:
            place = bound(FORMAT, id_, keys.store, column, owner)
            return cipher.open(stored[_HEAD_BYTES:], place)
        except Forged:
            raise DamagedValue("a sealed value was changed, or belongs to another row") from None


def _letters(hashed: bytes) -> str:
    return b32encode(hashed).decode().lower()

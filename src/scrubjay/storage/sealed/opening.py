"""Seal a new database, and unlock a sealed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.storage.database import ENVELOPE
from scrubjay.storage.sealed import envelope as envelopes
from scrubjay.storage.sealed.codec import HASH_KINDS, SealedCodec
from scrubjay.storage.sealed.ledger import create_table
from scrubjay.storage.sealed.primitives import Argon2, require
from scrubjay.storage.sealed.refusals import refuse_clear_values
from scrubjay.storage.sealed.store_keys import StoreKeys
from scrubjay.storage.sql.mirror import holds_memories

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.storage.sealed.key_sources import Secret


def is_sealed(db: Database) -> bool:
    """True for a store that has an envelope."""
    return _stored_envelope(db) is not None


def seal_new(
    db: Database, codec: SealedCodec, secret: Secret, argon2: Argon2 | None = None
) -> None:
    """Make a database without memories a sealed one, and unlock it; the secret is wiped."""
    require()
    with db.write() as connection:
        if is_sealed(db):  # another process was faster
            raise InvalidInput(f"{db.path} is sealed already; open it with its key")
        if holds_memories(connection):
            raise InvalidInput(f"{db.path} is a store that is not sealed; open it without a key")
        envelope, master = envelopes.create(secret, argon2)
        secret.wipe()
        connection.execute(
            "INSERT INTO keys (name, key) VALUES (?, ?)", (ENVELOPE, envelope.encode())
        )
        keys = StoreKeys(db, envelope, master)
        keys.make_hash_keys(HASH_KINDS)
        create_table(connection)
        refuse_clear_values(connection)
    codec.unlock(keys, db)


def unlock(db: Database, codec: SealedCodec, secret: Secret) -> None:
    """Unlock a sealed database; Locked with any other secret. The secret is wiped."""
    require()
    stored = _stored_envelope(db)
    if stored is None:
        raise InvalidInput(f"{db.path} is not sealed; open it without a key")
    envelope = envelopes.decode(stored)
    try:
        master = envelope.unlock(secret)
    finally:
        secret.wipe()
    codec.unlock(StoreKeys(db, envelope, master), db)


def _stored_envelope(db: Database) -> bytes | None:
    with db.read() as connection:
        row = connection.execute("SELECT key FROM keys WHERE name = ?", (ENVELOPE,)).fetchone()
    return None if row is None else bytes(row[0])
